"""The training file: one YAML, every key checked, every mistake named."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from urewrite.corpora.catalogue import PARTS, example_file
from urewrite.corpora.sources import source_of
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.network.settings import ABOVE_CONTEXT, NetworkSettings
from urewrite.training.criterion import Monitor
from urewrite.training.retired import RETIRED, without_retired

ClassWeight = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _ConflictError(ValueError):
    """A value that does not go with others: pydantic knows no key of a whole model, so it is told here."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(reason)
        self.key = key


class DataSettings(BaseModel):
    """What is learned from, and what is chosen by.

    A source is `NAME` or `NAME:PART` of a corpus, or a .jsonl file; there may be several. `validation` is by default
    the validation part of the first corpus, or the first file itself; of what is also trained on, `held_out` of the
    dialogues are kept back.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    corpus: tuple[str, ...] = Field(min_length=1)
    validation: tuple[str, ...] = ()
    held_out: float = Field(0.1, gt=0, lt=1)
    connection_words: int = Field(5, ge=0, le=20)
    labels: Literal["exact", "aligned", "everywhere", "insertions"] = "exact"
    """exact: searched where the alignment does not decode to the rewrite; aligned: never; everywhere: as exact, and a
    span that stands in several turns is marked in each of them; insertions: as exact, but what would replace words is
    put before them, the ablation of the edit types."""
    most_rows: int = Field(300, ge=8)
    only_exact: bool = False
    """Learn only from grids that decode to the rewrite. Where a history lacks words of the rewrite, as where CANARD's
    train part is reduced to its questions, the others teach to leave alone what needs rewriting."""
    least_count: int = Field(1, ge=1)
    examples: int | None = Field(None, gt=0)
    every_version: bool = False
    """Learn from both incomplete versions of a turn where a corpus has two (TASK); validation has the paper's one."""
    unchanged: float = Field(0.0, ge=0, le=1)
    """Add this share of examples whose utterance is already the rewrite, so that leaving alone is learned too."""
    topic_changes: float = Field(0.0, ge=0, le=1)
    """Add this share of examples whose utterance is the rewrite of another dialogue, to be left alone."""
    pleasantries: float = Field(0.0, ge=0, le=1)
    """Add this share of examples whose utterance is a greeting, thanks or the like, to be left alone."""
    exchanged_names: float = Field(0.0, ge=0, le=10)
    """Add so many examples for each one, with its names exchanged for others like them."""

    @field_validator("corpus", "validation", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        if value is None:
            return ()
        return (value,) if isinstance(value, str) else value


class StartSettings(BaseModel):
    """Where the weights start."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    vectors: str | None = None
    """Word vectors: a folder with words.txt and vectors.npy, or a text file in the form of GloVe."""
    model: str | None = None
    """The folder of a trained model to go on from; its network, words, lexicon and connection words are taken over."""
    averaged_with: tuple[str, ...] = ()
    """Folders of models that went on from the same one: the start is the mean of their weights and those of `model`."""
    own_connection_words: bool = True
    """Keep its connection words; if not, `data.connection_words` of them are derived from what is learned from."""
    hidden: int | None = Field(None, gt=0)
    """Keep only so many units per direction of its BiLSTM, those that matter most: smaller and faster."""
    lexicon: int | None = Field(None, gt=0)
    """Keep only so many terms of its lexicon, the most frequent: smaller."""
    layers: int | None = Field(None, gt=0)
    """Keep only so many layers of its encoder, the first ones, and train them all: smaller and faster."""
    only_context: bool = False
    """Go on from its context layer alone; what is above it is as `network` says, and new."""

    @field_validator("averaged_with", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class TeacherSettings(BaseModel):
    """Trained models to learn from beside the labels; connection words are theirs, also those of start.model."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model: tuple[str, ...] = Field(min_length=1)
    """The folder of the teacher; of several, the mean of what they say is learned from."""
    weight: float = Field(0.5, gt=0, le=1)
    """How much of the loss comes from the teacher; the rest comes from the labels."""

    @field_validator("model", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class OptimiserSettings(BaseModel):
    """How it is learned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    batch_size: int = Field(32, gt=0)
    learning_rate: float = Field(2e-3, gt=0)
    encoder_learning_rate: float = Field(1e-4, gt=0)
    encoder_precision: Literal["float32", "bfloat16"] = "float32"
    """bfloat16: products within an encoder have 16 bits while it learns, or teaches; all else keeps its 32."""
    weight_decay: float = Field(0.0, ge=0)
    schedule: Literal["plateau", "cosine", "none"] = "plateau"
    class_weights: tuple[ClassWeight, ClassWeight, ClassWeight] = (0.25, 0.40, 0.35)
    averaging: float = Field(0.0, ge=0, lt=1)
    """Judge and keep a running average of the weights, of which each step leaves this share; 0: the weights of a step.
    """
    clip: float = Field(5.0, gt=0)
    epochs: int = Field(60, gt=0)
    patience: int = Field(10, gt=0)
    monitor: Monitor = "em"
    """The validation metric that weights are chosen by; em_and_bleu4: the sum of both, as for thresholds."""


class TrainingSettings(BaseModel):
    """A whole training."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$")
    seed: int = Field(1, ge=0, lt=2**32)
    checkpoint_minutes: float = Field(3, gt=0)
    data: DataSettings
    start: StartSettings = StartSettings()
    teacher: TeacherSettings | None = None
    network: NetworkSettings = NetworkSettings()
    """Beside start.model its own, as far as that is gone on from; what is given here must agree with it."""
    optimiser: OptimiserSettings = OptimiserSettings()
    refit: str | None = None
    """The folder of a finished run that was made with all the other settings. This one learns from the validation part
    too, for as many epochs as were best there; thresholds and confidence are that run's."""

    @model_validator(mode="after")
    def _nothing_to_choose(self) -> TrainingSettings:
        if self.refit is not None and self.optimiser.schedule == "plateau":
            raise _ConflictError("refit", "refit has no validation part for optimiser.schedule: plateau to look at")
        if self.refit is not None and self.data.examples is not None:
            raise _ConflictError("refit", "refit is to learn from everything, data.examples from less")
        return self

    @model_validator(mode="after")
    def _one_start(self) -> TrainingSettings:
        for beside, given in (("network.encoder", self.network.encoder), ("start.model", self.start.model)):
            if self.start.vectors is not None and given is not None:
                raise _ConflictError("start.vectors", f"start.vectors has no use beside {beside}")
        lexicon = self.network.lexicon is not None
        if lexicon and self.network.encoder is not None:
            raise _ConflictError("network.lexicon", "network.lexicon has no use beside network.encoder")
        if lexicon and self.start.vectors is None and self.start.model is None:
            raise _ConflictError("network.lexicon", "network.lexicon needs start.vectors, where terms come from")
        for name in ("hidden", "lexicon", "layers", "only_context", "averaged_with"):
            if getattr(self.start, name) and self.start.model is None:
                raise _ConflictError(f"start.{name}", f"start.{name} needs start.model")
        return self

    @model_validator(mode="after")
    def _known_sources(self) -> TrainingSettings:
        for key, sources in (("data.corpus", self.data.corpus), ("data.validation", self.data.validation)):
            for source in sources:
                corpus, _, part = source.partition(":")
                try:
                    if part in PARTS:
                        source_of(corpus)
                    else:
                        example_file(source)
                except BadInputError as error:
                    raise _ConflictError(key, error.reason) from error
        return self


def load_settings(path: Path, changes: Sequence[str] = ()) -> TrainingSettings:
    """Read a training file, make changes of the form `key.of.it=value`; a mistake is an error that names the key."""
    document = _read(path)
    for change in changes:
        _make(change, document)
    document, retired = without_retired(document)
    if retired:
        key = next(iter(retired))
        raise BadInputError(f"is gone, since it did not pay; what is left is {RETIRED[key]}", file=path, field=key)
    return check_settings(document, path)


def past_settings(path: Path) -> dict[str, Any]:
    """The settings of a run that was made at any time, nested, those included that are gone since."""
    document, retired = without_retired(_read(path))
    settings = check_settings(document, path).model_dump(mode="json")
    for key, value in retired.items():
        group, _, name = key.partition(".")
        settings[group][name] = value
    return settings


def _read(path: Path) -> object:
    try:
        document: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"cannot be read: {error.strerror}", file=path) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInputError(f"is not YAML: {' '.join(str(error).split())}", file=path) from error
    return document


def _make(change: str, document: object) -> None:
    key, equals, value = change.partition("=")
    *outer, last = key.split(".")
    if not equals or not last:
        raise BadInputError(f"expected KEY=VALUE, such as optimiser.epochs=10, found {change!r}")
    for part in outer:
        if isinstance(document, dict):
            document = document.setdefault(part, {})
    if not isinstance(document, dict):
        raise BadInputError(f"cannot be set: {'.'.join(outer)} is no group of settings", field=key)
    try:
        document[last] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise BadInputError(f"is not YAML: {value}", field=key) from error


def flat_settings(settings: Mapping[str, Any], outer: str = "") -> dict[str, Any]:
    """Nested settings, each under its dotted key."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= flat_settings(value, f"{outer}{name}.") if isinstance(value, dict) else {outer + name: value}
    return found


def first_difference(
    before: TrainingSettings, now: TrainingSettings, *, leaving_out: Container[str]
) -> tuple[str, Any, Any] | None:
    """The first key under which two trainings differ, and both values."""
    one, other = (flat_settings(settings.model_dump(mode="json")) for settings in (before, now))
    for key in sorted({*one, *other}):
        group, _, name = key.partition(".")
        own = now.start.only_context and name in ABOVE_CONTEXT
        if group == "network" and now.start.model is not None and not own:
            continue  # it is that of start.model; runs once told of defaults here
        if key not in leaving_out and one.get(key) != other.get(key):
            return key, one.get(key), other.get(key)
    return None


def check_settings(document: object, path: Path | None = None) -> TrainingSettings:
    """Check settings that were read from `path`, or put together by a command."""
    try:
        return TrainingSettings.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        conflict = first.get("ctx", {}).get("error")
        if isinstance(conflict, _ConflictError):
            raise BadInputError(str(conflict), file=path, field=conflict.key) from error
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BadInputError(first["msg"], file=path, field=key) from error


@contextmanager
def asked_for_by(key: str) -> Iterator[None]:
    """Name the key whose value is not to be had, once a training comes to need it."""
    try:
        yield
    except DataUnavailableError as error:
        raise DataUnavailableError(f"field {key!r}: {error}") from error
