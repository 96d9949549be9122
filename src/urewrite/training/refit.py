"""Learning from everything, once a run that kept a validation part apart has shown how long and under which thresholds.

The usual last step of choosing by a validation part: where examples are few, a tenth of them matters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

from urewrite.bundle import ModelConfig, read_config
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.training.report import METRICS_FILE, is_finished
from urewrite.training.settings import TrainingSettings, first_difference, load_settings

_OWN = {"name", "seed", "refit", "checkpoint_minutes", "start.model", "start.averaged_with", "teacher.model"}
"""Settings that may be others than those of the run before; models it has from others may have learned from all too."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a run chose by its validation part."""

    config: ModelConfig
    epochs: int

    def taken_over(self, config: ModelConfig) -> ModelConfig:
        """The configuration of another model with these thresholds, and as sure as this one may be."""
        return replace(config, thresholds=self.config.thresholds, calibration=self.config.calibration)


def choices_of(folder: Path, settings: TrainingSettings) -> Choices:
    """What a finished run chose that was made with these settings."""
    if not is_finished(folder):
        raise DataUnavailableError(f"field 'refit': {folder} holds no finished run")
    run = load_settings(folder / "settings.yaml")
    if run.refit is not None:
        raise BadInputError(f"{folder} has learned from its validation part itself, so it chose nothing", field="refit")
    found = first_difference(run, settings, leaving_out=_OWN)
    if found is not None:
        key, before, now = found
        raise BadInputError(f"{folder} was made with {before!r}, not {now!r}", field=key)
    metrics = json.loads((folder / METRICS_FILE).read_text(encoding="utf-8"))
    return Choices(read_config(folder), int(metrics["best"]["epoch"]))
