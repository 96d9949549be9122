"""The training file: one YAML, every key checked, every mistake named."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from urewrite.errors import BadInputError
from urewrite.network.settings import NetworkSettings


class DataSettings(BaseModel):
    """What is learned from, and what is chosen by.

    `corpus` is a name or a .jsonl file; `validation` a .jsonl file, by default the validation part of a named corpus or
    a tenth of the dialogues of a file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    corpus: str
    validation: str | None = None
    connection_words: int = Field(5, ge=0, le=20)
    labels: Literal["exact", "aligned"] = "exact"
    least_count: int = Field(1, ge=1)
    examples: int | None = Field(None, gt=0)


class OptimiserSettings(BaseModel):
    """How it is learned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    batch_size: int = Field(32, gt=0)
    learning_rate: float = Field(2e-3, gt=0)
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["plateau", "cosine", "none"] = "plateau"
    class_weights: tuple[float, float, float] = (0.25, 0.40, 0.35)
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    clip: float = Field(5.0, gt=0)
    epochs: int = Field(60, gt=0)
    patience: int = Field(10, gt=0)
    monitor: Literal["em", "bleu4", "f1", "f3"] = "em"


class TrainingSettings(BaseModel):
    """A whole training."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    seed: int = Field(1, ge=0)
    checkpoint_minutes: float = Field(3, gt=0)
    data: DataSettings
    network: NetworkSettings = NetworkSettings()
    optimiser: OptimiserSettings = OptimiserSettings()


def load_settings(path: Path) -> TrainingSettings:
    """Read a training file; a mistake is an error that names the key."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"cannot be read: {error.strerror}", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInputError(f"is not YAML: {' '.join(str(error).split())}", file=path) from error
    try:
        return TrainingSettings.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BadInputError(first["msg"], file=path, field=key) from error
