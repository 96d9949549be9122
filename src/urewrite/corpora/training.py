"""Training examples that are safe to train on: nothing of CANARD test is among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from urewrite.corpora.catalogue import load_corpus
from urewrite.corpora.lines import Rejects
from urewrite.corpora.overlap import assert_no_overlap, without_overlap
from urewrite.corpora.sources import source_of
from urewrite.dialogue import Example
from urewrite.errors import DataUnavailableError

BUILT_ON_QUAC = frozenset({"canard", "qrecc"})


@dataclass(frozen=True, slots=True)
class TrainingPart:
    """Examples to train on, and those taken out because their dialogue is one of CANARD test.

    `checked` is false where no check was made: for Chinese, and for TASK when CANARD test is not on this machine.
    """

    examples: list[Example]
    removed: list[Example]
    checked: bool


def load_training(
    corpus: str,
    part: str = "train",
    *,
    mirror: Path | None = None,
    rejects: Rejects | None = None,
    every_version: bool = False,
) -> TrainingPart:
    """Load a part of a corpus for training, without the dialogues it shares with CANARD test.

    CANARD and QReCC are built on the same dialogues, so for them CANARD test must be at hand. With `rejects` bad lines
    of both are collected there and left out.
    """
    examples = load_corpus(corpus, part, mirror=mirror, rejects=rejects, every_version=every_version)
    return take_out_overlap(corpus, examples, mirror=mirror, rejects=rejects)


def take_out_overlap(
    corpus: str, examples: list[Example], *, mirror: Path | None = None, rejects: Rejects | None = None
) -> TrainingPart:
    """Part examples of a corpus (with their whole history) into what one may train on and what is in CANARD test."""
    if source_of(corpus).language != "en":
        return TrainingPart(examples, [], checked=False)
    try:
        test = load_corpus("canard", "test", mirror=mirror, rejects=rejects)
    except DataUnavailableError:
        if corpus in BUILT_ON_QUAC:
            raise
        return TrainingPart(examples, [], checked=False)
    kept, removed = without_overlap(examples, test)
    assert_no_overlap(kept, test)
    return TrainingPart(kept, removed, checked=True)


def refuse_overlap(examples: list[Example], *, mirror: Path | None = None, notify: Callable[[str], None]) -> None:
    """Refuse a user's own training examples that share dialogues with CANARD test; `notify` if it is not at hand."""
    try:
        test = load_corpus("canard", "test", mirror=mirror)
    except DataUnavailableError:
        notify("CANARD test is not on this machine, so the training file was not compared with it")
        return
    assert_no_overlap(examples, test)
