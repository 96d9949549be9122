"""A toy model as a user would train it, for tests of what comes after training."""

from __future__ import annotations

from pathlib import Path

from training.running import here, written
from training.toy import toy_settings


def predict(model, dialogues, **options):
    """What users of a trained model get."""
    from urewrite import Rewriter
    from urewrite.training.predict import pipeline_of

    return Rewriter.of(pipeline_of(model)).rewrite_batch(dialogues, **options)


def train_toy(folder: Path, *, epochs: int = 8) -> Path:
    """The run folder; its examples are in train.jsonl and validation.jsonl beside it."""
    here("train", written(folder, toy_settings(folder, epochs=epochs)), "--folder", folder / "run")
    return folder / "run"
