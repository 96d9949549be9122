"""Committed runs with the examples they were chosen by: what `retune.py` and `decoding.py` share."""

from __future__ import annotations

from pathlib import Path

from urewrite.bundle import GRAPH, WEIGHTS
from urewrite.dialogue import Example
from urewrite.pipeline import Pipeline
from urewrite.rewriter import load_pipeline
from urewrite.training.data import load_examples
from urewrite.training.predict import pipeline_of
from urewrite.training.settings import TrainingSettings, load_settings
from urewrite.training.weights import load_model

ROOT = Path(__file__).resolve().parents[1]
RUNS, MODELS = ROOT / "runs", ROOT / "src" / "urewrite" / "models"


def with_weights() -> list[str]:
    """The names of runs whose weights are there, as a bundled model or with the run."""
    return sorted(
        run.name for run in RUNS.iterdir() if (run / WEIGHTS).is_file() or (MODELS / run.name / GRAPH).is_file()
    )


def settings_of(name: str) -> TrainingSettings:
    return load_settings(RUNS / name / "settings.yaml")


def chosen_by(settings: TrainingSettings) -> list[Example]:
    """The examples a run was chosen by, none of which it learned from."""
    return load_examples(settings.data, seed=settings.seed, mirror=None, notify=lambda _: None).validation


def pipeline_of_run(name: str) -> Pipeline:
    """A run whose model is bundled is judged by the bundled graph, which is what people use."""
    bundled = MODELS / name
    return load_pipeline(bundled) if bundled.is_dir() else pipeline_of(load_model(RUNS / name))
