"""What a run learns from and is chosen by: sources and gold grids, with no test dialogue among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from urewrite.corpora import load_corpus, load_training, read_jsonl, split_by_dialogue
from urewrite.corpora.catalogue import PARTS, example_file
from urewrite.corpora.overlap import without_same_dialogues
from urewrite.corpora.sources import source_of
from urewrite.corpora.training import refuse_overlap
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.grid import Axes, ConnectionWords, Grid
from urewrite.edits.supervise import supervise
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.prepare import Preparer
from urewrite.training.batches import Labelled
from urewrite.training.settings import DataSettings

_MIXED_UP = {"rewrite": ("rewrite", "multi"), "multi": ("multi", "rewrite")}
"""Corpora whose test parts must not share a dialogue with a training part: besides its own, those like it."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples to learn from and to choose by, and in words what they are."""

    train: list[Example]
    validation: list[Example]
    described: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gold:
    """Examples laid out, with their gold grids."""

    examples: list[Example]
    axes: list[Axes]
    grids: list[Grid]
    exact: float

    def with_rows(self) -> Gold:
        """Without dialogues that have no row, from which nothing can be learned."""
        kept = [number for number, axes in enumerate(self.axes) if axes.shape[0]]
        return Gold(
            [self.examples[number] for number in kept],
            [self.axes[number] for number in kept],
            [self.grids[number] for number in kept],
            self.exact,
        )

    def labelled(self, preparer: Preparer) -> list[Labelled]:
        """In the form the network takes."""
        return [Labelled(preparer.prepare(axes), grid) for axes, grid in zip(self.axes, self.grids, strict=True)]


def load_examples(settings: DataSettings, *, seed: int, mirror: Path | None, notify: Callable[[str], None]) -> Examples:
    """Load all sources, keep the validation apart, and take out what test parts share."""
    validation_name = validation_source(settings)
    sources: list[tuple[str, list[Example]]] = []
    validation: list[Example] | None = None
    for name in settings.corpus:
        examples = _load(name, mirror, notify)
        if name == validation_name:
            examples, validation = split_by_dialogue(examples, settings.held_out)
            if not examples or not validation:
                raise BadInputError(f"{name} holds too few dialogues to keep some back for validation")
        sources.append((name, examples))
    if validation is None:
        validation = _load(validation_name, mirror, notify)
    kept: list[Example] = []
    described: list[str] = []
    for name, examples in sources:
        apart = without_same_dialogues(examples, validation)
        if len(apart) < len(examples):
            notify(f"left out {len(examples) - len(apart)} examples of {name} that the validation part holds too")
        apart = apart[: None if settings.examples is None else max(settings.examples - len(kept), 0)]
        kept.extend(apart)
        described.append(f"{shown_source(name)}: {len(apart):,} examples")
    if not kept:
        raise BadInputError(f"no examples to learn from are left of {', '.join(settings.corpus)}")
    if settings.unchanged:
        chance = random.Random(seed)
        chosen = [example for example in kept if chance.random() < settings.unchanged]
        kept += [Example(Dialogue(e.dialogue.history, e.rewrite), e.rewrite, e.dialogue_id) for e in chosen]
        described.append(f"rewrites taken as utterances: {len(chosen):,} examples")
    return Examples(kept, validation, tuple(described))


def derive_gold(
    examples: Sequence[Example],
    words: ConnectionWords,
    settings: DataSettings,
    follow: Callable[[Sequence[Example]], Iterable[Example]],
) -> Gold:
    """The gold grid of every example; `follow` shows how far it is."""
    search = settings.labels == "exact"
    found = [supervise(example, words, search=search, most_rows=settings.most_rows) for example in follow(examples)]
    exact = sum(item.exact for item in found) / max(len(found), 1)
    return Gold(list(examples), [item.axes for item in found], [item.grid for item in found], exact)


def validation_source(settings: DataSettings) -> str:
    """The source that is chosen by."""
    first = settings.corpus[0]
    alone = ":" in first or example_file(first) is not None
    return settings.validation or (first if alone else f"{first}:validation")


def shown_source(source: str) -> str:
    """A source as others may read it: a file without the folders it lies in."""
    part = source.partition(":")[2]
    file = None if part in PARTS else example_file(source)
    return source if file is None else file.name


def _load(name: str, mirror: Path | None, notify: Callable[[str], None]) -> list[Example]:
    """The examples of a source that no test part shares."""
    corpus, colon, part = name.partition(":")
    if not colon or part not in PARTS:
        file = example_file(name)
        if file is not None:
            examples = read_jsonl(file)
            refuse_overlap(examples, mirror=mirror, notify=notify)
            return examples
        corpus, part = name, "train"
    source_of(corpus)
    training = load_training(corpus, part, mirror=mirror)
    if training.removed:
        notify(f"left out {len(training.removed)} examples of {name} that CANARD test shares")
    examples = training.examples
    for other in _MIXED_UP.get(corpus, (corpus,)):
        if other == "canard" or (other, part) == (corpus, "test"):
            continue
        try:
            test = load_corpus(other, "test", mirror=mirror)
        except DataUnavailableError:
            notify(f"the test part of {other} is not on this machine, so {name} was not compared with it")
            continue
        kept = without_same_dialogues(examples, test)
        if len(kept) < len(examples):
            notify(f"left out {len(examples) - len(kept)} examples of {name} that the test part of {other} holds too")
        examples = kept
    return examples
