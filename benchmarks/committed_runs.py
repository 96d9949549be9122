"""Committed runs with the examples they were chosen by: what `retune.py`, `recount.py` and `decoding.py` share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from urewrite.bundle import CARD, GRAPH, WEIGHTS, ModelConfig, read_preparer, write_checksums, write_model
from urewrite.files import atomic_writer
from urewrite.pipeline import Pipeline
from urewrite.rewriter import load_pipeline
from urewrite.training.data import Examples, load_examples
from urewrite.training.predict import pipeline_of
from urewrite.training.report import card_to_hand_on, report_tuned
from urewrite.training.settings import TrainingSettings, load_settings
from urewrite.training.weights import load_model

ROOT = Path(__file__).resolve().parents[1]
RUNS, MODELS = ROOT / "runs", ROOT / "src" / "urewrite" / "models"


def with_weights() -> list[str]:
    """The names of runs whose weights are there, bundled or with the run, and that kept validation apart."""
    return sorted(
        run.name
        for run in RUNS.iterdir()
        if ((run / WEIGHTS).is_file() or (MODELS / run.name / GRAPH).is_file()) and settings_of(run.name).refit is None
    )


def settings_of(name: str) -> TrainingSettings:
    return load_settings(RUNS / name / "settings.yaml")


def examples_of(settings: TrainingSettings) -> Examples:
    """The examples a run learned from, and those it was chosen by."""
    return load_examples(settings.data, seed=settings.seed, mirror=None, notify=lambda _: None)


def pipeline_of_run(name: str) -> Pipeline:
    """A run whose model is bundled is judged by the bundled graph, which is what people use."""
    bundled = MODELS / name
    return load_pipeline(bundled) if bundled.is_dir() else pipeline_of(load_model(RUNS / name))


def write_again(name: str, config: ModelConfig, metrics: Mapping[str, float]) -> None:
    """Configuration, metrics and card of a run, and of the bundled model it became; the weights stay as they are."""
    run, bundled = RUNS / name, MODELS / name
    preparer = read_preparer(run, config)
    write_model(run, config, preparer)
    report_tuned(run, settings_of(name), config, metrics)
    if bundled.is_dir():
        write_model(bundled, config, preparer)
        with atomic_writer(bundled / CARD) as stream:
            stream.write(card_to_hand_on((run / CARD).read_text(encoding="utf-8")))
        write_checksums(bundled)
