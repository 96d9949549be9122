"""A model folder: what a network is, how dialogues become its input, and what it may insert. Nothing is pickled.

config.json          this module's document, with a format version
vocabulary.json      the words of a network without encoder,
lexicon.txt          and the terms it is told of besides, or
tokenizer.json       the word pieces of its encoder
model.onnx           the network as a graph that needs no torch
model.safetensors    float weights, to go on training from
SHA256SUMS           checksums of all these, where the folder is to be handed on
README.md            the model card
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from urewrite.edits.choose import Thresholds
from urewrite.edits.grid import ConnectionWords
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.files import atomic_writer
from urewrite.prepare import Lexicon, Preparer, Vocabulary, WordPieces

FORMAT = 1
CONFIG = "config.json"
VOCABULARY = "vocabulary.json"
LEXICON = "lexicon.txt"
TOKENIZER = "tokenizer.json"
GRAPH = "model.onnx"
WEIGHTS = "model.safetensors"
CARD = "README.md"
CHECKSUMS = "SHA256SUMS"
FILES = (CONFIG, VOCABULARY, LEXICON, TOKENIZER, GRAPH, WEIGHTS, CARD, CHECKSUMS)
_KINDS: dict[str, type] = {"name": str, "most_rows": int, "network": Mapping}
_KIND_NAMES = {str: "text", int: "a whole number", Mapping: "an object"}


@dataclass(frozen=True, slots=True)
class PieceInput:
    """Where a sequence of word pieces starts, what separates its parts, and how long it may be."""

    start: int
    separator: int
    longest: int


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Everything but the weights."""

    name: str
    connection_words: ConnectionWords
    most_rows: int
    network: Mapping[str, Any]
    pieces: PieceInput | None = None
    encoder: Mapping[str, Any] | None = None
    trained_on: tuple[str, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)
    calibration: tuple[tuple[float, float], ...] = ()
    """How sure a model is of a whole grid, as a logarithm, and how often it is then right; see `urewrite.decide`."""
    languages: tuple[str, ...] = ()
    """What it was trained for, as in `en` and `zh`."""


def write_model(folder: Path, config: ModelConfig, preparer: Preparer) -> None:
    """Everything but the weights, into a folder."""
    document = {"format": FORMAT, **asdict(config)}
    with atomic_writer(folder / CONFIG) as stream:
        json.dump(document, stream, ensure_ascii=False, indent=2)
        stream.write("\n")
    if isinstance(preparer, Vocabulary):
        preparer.save(folder / VOCABULARY)
        if preparer.lexicon is not None:
            preparer.lexicon.save(folder / LEXICON)
    elif isinstance(preparer, WordPieces):
        with atomic_writer(folder / TOKENIZER) as stream:
            stream.write(preparer.tokenizer.to_str())


def read_config(folder: Path) -> ModelConfig:
    """What a model folder says of itself; a folder that is none is an error that says why."""
    path = folder / CONFIG
    if not path.is_file():
        raise DataUnavailableError(f"{folder} is no model folder: it holds no {CONFIG}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadInputError(f"is not JSON: {error}", file=path) from error
    version = document.pop("format", None) if isinstance(document, dict) else None
    if version != FORMAT:
        raise BadInputError(f"expected {FORMAT}, found {version!r}", file=path, field="format")
    try:
        words = document.pop("connection_words")
        pieces = document.pop("pieces")
        config = ModelConfig(
            connection_words=ConnectionWords(tuple(words["leading"]), tuple(words["trailing"])),
            pieces=None if pieces is None else PieceInput(**pieces),
            trained_on=tuple(document.pop("trained_on")),
            thresholds=Thresholds(**document.pop("thresholds", {})),
            calibration=tuple((float(sure), float(right)) for sure, right in document.pop("calibration", ())),
            languages=tuple(document.pop("languages", ())),
            **document,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadInputError(f"is not the configuration of a model: {error}", file=path) from error
    if (config.pieces is None) != (config.encoder is None):
        raise BadInputError("expected both or none of pieces and encoder", file=path, field="pieces")
    for key, kind in _KINDS.items():
        found = getattr(config, key)
        if not isinstance(found, kind) or isinstance(found, bool):
            raise BadInputError(f"expected {_KIND_NAMES[kind]}, found {found!r:.40}", file=path, field=key)
    for key, value in asdict(config.thresholds).items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadInputError(f"expected a number, found {value!r:.40}", file=path, field=f"thresholds.{key}")
    return config


def read_preparer(folder: Path, config: ModelConfig) -> Preparer:
    """What turns dialogues into the input of the model."""
    if config.pieces is not None:
        return WordPieces.load(_there(folder, TOKENIZER), **asdict(config.pieces))
    terms = config.network.get("lexicon")
    lexicon = None if terms is None else Lexicon.load(_there(folder, LEXICON))
    if lexicon is not None and len(lexicon) != terms:
        raise BadInputError(f"holds {len(lexicon)} terms, {CONFIG} says {terms}", file=folder / LEXICON)
    return Vocabulary.load(_there(folder, VOCABULARY), lexicon)


def _there(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise DataUnavailableError(f"{folder} is no model folder: it holds no {name}")
    return folder / name


def write_checksums(folder: Path) -> None:
    """For a folder that is to be handed on; in the form `sha256sum --check` reads."""
    lines = [f"{_checksum(folder / name)}  {name}\n" for name in FILES[:-1] if (folder / name).is_file()]
    with atomic_writer(folder / CHECKSUMS) as stream:
        stream.writelines(lines)


def verify_checksums(folder: Path) -> None:
    """Compare all that a model is made of with the checksums of its folder, if it has any."""
    path = folder / CHECKSUMS
    if not path.is_file():
        return
    listed: set[str] = set()
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        expected, _, name = line.partition("  ")
        listed.add(name)
        if name not in FILES:  # so that no line leads out of the folder
            raise BadInputError(
                f"expected a checksum and the name of a model file, found {line!r:.60}", file=path, line=number
            )
        if name == CARD or (name == WEIGHTS and not (folder / name).is_file()):  # not needed to run it
            continue
        if not (folder / name).is_file():
            raise DataUnavailableError(f"{folder} is no whole model folder: it holds no {name}")
        if _checksum(folder / name) != expected:
            raise DataUnavailableError(f"{folder / name} is damaged: its checksum is not that of {CHECKSUMS}")
    for name in FILES[:-1]:
        if name not in listed and name != CARD and (folder / name).is_file():
            raise DataUnavailableError(f"{path} is not complete: it has no checksum of {name}")


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
