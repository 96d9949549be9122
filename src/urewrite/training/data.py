"""What a run learns from and is chosen by: sources and gold grids, with no test dialogue among them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from urewrite.corpora import load_corpus, load_training, read_jsonl, split_by_dialogue, without_overlap
from urewrite.corpora.catalogue import PARTS, example_file
from urewrite.corpora.overlap import without_same_dialogues
from urewrite.corpora.sources import CORPORA, source_of
from urewrite.corpora.training import BUILT_ON_QUAC, refuse_overlap
from urewrite.dialogue import Example
from urewrite.edits.choose import Probabilities
from urewrite.edits.grid import Axes, ConnectionWords, EditType, Grid
from urewrite.edits.occurrences import mark_every_occurrence
from urewrite.edits.supervise import supervise
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.prepare import Preparer
from urewrite.training.batches import Labelled
from urewrite.training.exchanged import exchanged_names
from urewrite.training.settings import DataSettings
from urewrite.training.unchanged import already_rewritten, pleasantries, topic_changes

_MIXED_UP = {"rewrite": ("rewrite", "multi"), "multi": ("multi", "rewrite"), "canard": ("qrecc",)}
"""Corpora whose test parts must not share a dialogue with a training part: its own, and those like it.

That of CANARD is not among them: `load_training` has taken out what it shares.
"""

_NOT_BUILT_ON_QUAC = ("rewrite", "multi", "task")


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples to learn from and to choose by, and what they are."""

    train: list[Example]
    validation: list[Example]
    sources: tuple[tuple[str, int], ...]
    """Where the examples to learn from come from, and how many of each, in their order."""
    left_alone: list[Example]
    """Made from the validation part as they are from what is learned from: utterances to be left as they are."""

    def described(self, learned_from: Sequence[Example]) -> tuple[str, ...]:
        """Every source with how many of its examples are among those really learned from, and of how many."""
        taken = set(map(id, learned_from))
        lines: list[str] = []
        start = 0
        for name, amount in self.sources:
            used = sum(id(example) in taken for example in self.train[start : start + amount])
            start += amount
            lines.append(f"{name}: {used:,} {'' if used == amount else f'of {amount:,} '}examples")
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class Gold:
    """Examples laid out, with their gold grids."""

    examples: list[Example]
    axes: list[Axes]
    grids: list[Grid]
    exact: list[bool]
    """Of each: its grid decodes to the rewrite."""

    def to_learn_from(self, *, only_exact: bool) -> Gold:
        """Without dialogues that have no row, which teach nothing, and on request without inexact ones."""
        kept = [
            number
            for number, (axes, exact) in enumerate(zip(self.axes, self.exact, strict=True))
            if axes.shape[0] and (exact or not only_exact)
        ]
        return Gold(
            [self.examples[number] for number in kept],
            [self.axes[number] for number in kept],
            [self.grids[number] for number in kept],
            [self.exact[number] for number in kept],
        )

    def labelled(self, preparer: Preparer, taught: Sequence[Probabilities] | None = None) -> list[Labelled]:
        """In the form the network takes."""
        return [
            Labelled(preparer.prepare(axes), grid, None if taught is None else taught[number])
            for number, (axes, grid) in enumerate(zip(self.axes, self.grids, strict=True))
        ]


def load_examples(
    settings: DataSettings,
    *,
    seed: int,
    mirror: Path | None,
    notify: Callable[[str], None],
    keep_apart: bool = True,
) -> Examples:
    """Load all sources, keep the validation apart, and take out what test parts share.

    If nothing is to be kept apart, the validation is learned from too.
    """
    chosen_by = validation_sources(settings)
    if not keep_apart:
        every = tuple(dict.fromkeys((*settings.corpus, *chosen_by)))
        settings, chosen_by = settings.model_copy(update={"corpus": every}), ()
    sources: list[tuple[str, list[Example]]] = []
    validation: list[Example] = []
    for name in settings.corpus:
        examples = _load(name, mirror, notify, every_version=settings.every_version)
        if name in chosen_by:
            examples, kept_back = split_by_dialogue(examples, settings.held_out)
            if not examples or not kept_back:
                raise BadInputError(f"{name} holds too few dialogues to keep some back for validation")
            validation += kept_back
        sources.append((name, examples))
    for name in chosen_by:
        if name not in settings.corpus:
            validation += _load(name, mirror, notify)
    kept: list[Example] = []
    kept_of: dict[str, list[Example]] = {}
    counted: list[tuple[str, int]] = []
    for name, examples in sources:
        apart = _apart(name, examples, validation)
        if len(apart) < len(examples):
            notify(f"left out {len(examples) - len(apart)} examples of {name} that the validation part holds too")
        apart = apart[: None if settings.examples is None else max(settings.examples - len(kept), 0)]
        kept.extend(apart)
        kept_of[name] = apart
        counted.append((shown_source(name), len(apart)))
    if not kept:
        raise BadInputError(f"no examples to learn from are left of {', '.join(settings.corpus)}")
    chance = random.Random(seed)
    added = {
        "examples with names exchanged": _exchanged(
            kept_of, settings.exchanged_names, chance, validation, mirror, notify
        ),
        **_left_alone(kept, settings, chance),
    }
    for what, made in added.items():
        if made:
            kept.extend(made)
            counted.append((what, len(made)))
    to_leave = _left_alone(validation, settings, random.Random(f"{seed}/validation"))
    return Examples(kept, validation, tuple(counted), [example for made in to_leave.values() for example in made])


def _left_alone(examples: list[Example], settings: DataSettings, chance: random.Random) -> dict[str, list[Example]]:
    """Examples whose utterance stays as it is, as many of each kind as is asked for."""
    return {
        "rewrites taken as utterances": already_rewritten(examples, settings.unchanged, chance),
        "rewrites of other dialogues taken as utterances": topic_changes(examples, settings.topic_changes, chance),
        "greetings, thanks and the like": pleasantries(examples, settings.pleasantries, chance),
    }


def _exchanged(
    sources: Mapping[str, list[Example]],
    share: float,
    chance: random.Random,
    validation: list[Example],
    mirror: Path | None,
    notify: Callable[[str], None],
) -> list[Example]:
    """Examples with names exchanged; one that became a dialogue of a validation or test part is left out."""
    if not share:
        return []
    notify(f"exchanging names of {', '.join(map(shown_source, sources))}")
    return [
        example
        for name, examples in sources.items()
        for example in _without_tests(
            name,
            _apart(name, exchanged_names(examples, share, chance), validation),
            _compared_with(name),
            mirror,
            lambda _: None,
            needed=False,
        )
    ]


def derive_gold(
    examples: Sequence[Example],
    words: ConnectionWords,
    settings: DataSettings,
    follow: Callable[[Sequence[Example]], Iterable[Example]],
) -> Gold:
    """The gold grid of every example; `follow` shows how far it is."""
    search = settings.labels != "aligned"
    found = [supervise(example, words, search=search, most_rows=settings.most_rows) for example in follow(examples)]
    grids = [item.grid for item in found]
    if settings.labels == "insertions":
        grids = [insertions(grid) for grid in grids]
    elif settings.labels == "everywhere":
        grids = [mark_every_occurrence(item.axes, item.grid) for item in found]
    return Gold(list(examples), [item.axes for item in found], grids, [item.exact for item in found])


def insertions(grid: Grid) -> Grid:
    """The grid that puts what is copied before the words it would replace, which stay."""
    replaced = grid == EditType.SUBSTITUTE
    first = replaced.copy()
    first[:, 1:] &= ~replaced[:, :-1]
    inserted = np.where(replaced, np.int8(EditType.NONE), grid)
    inserted[first] = EditType.INSERT
    return inserted


def validation_sources(settings: DataSettings) -> tuple[str, ...]:
    """What is chosen by."""
    first = settings.corpus[0]
    alone = ":" in first or example_file(first) is not None
    return settings.validation or (first if alone else f"{first}:validation",)


def shown_source(source: str) -> str:
    """A source as others may read it: a file without the folders it lies in."""
    try:
        file = example_file(source)
    except BadInputError:  # a part of a corpus, or a source only described
        return source
    return source if file is None else file.name


def _load(
    name: str, mirror: Path | None, notify: Callable[[str], None], *, every_version: bool = False
) -> list[Example]:
    """The examples of a source that no test part shares."""
    corpus, colon, part = name.partition(":")
    if part == "test":
        raise BadInputError(f"{name} is what results are reported on: nothing is learned from it or chosen by it")
    if not colon or part not in PARTS:
        file = example_file(name)
        if file is not None:
            examples = read_jsonl(file)
            refuse_overlap(examples, mirror=mirror, notify=notify)
            return _without_tests(shown_source(name), examples, _compared_with(name), mirror, notify, needed=False)
        corpus, part = name, "train"
    source_of(corpus)
    training = load_training(corpus, part, mirror=mirror, every_version=every_version)
    if training.removed:
        notify(f"left out {len(training.removed)} examples of {name} that CANARD test shares")
    return _without_tests(name, training.examples, _compared_with(name), mirror, notify, needed=True)


def _compared_with(name: str) -> tuple[str, ...]:
    """The corpora whose test parts a source is compared with dialogue by dialogue."""
    corpus = name.partition(":")[0]
    return _MIXED_UP.get(corpus, (corpus,)) if corpus in CORPORA else _NOT_BUILT_ON_QUAC


def _without_tests(
    name: str,
    examples: list[Example],
    others: Iterable[str],
    mirror: Path | None,
    notify: Callable[[str], None],
    *,
    needed: bool,
) -> list[Example]:
    """The examples of a source without what the test parts of other corpora hold, as far as these are at hand."""
    for other in others:
        try:
            test = load_corpus(other, "test", mirror=mirror)
        except DataUnavailableError:
            if needed:
                notify(f"the test part of {other} is not on this machine, so {name} was not compared with it")
            continue
        kept = _apart(name, examples, test)
        if len(kept) < len(examples):
            notify(f"left out {len(examples) - len(kept)} examples of {name} that the test part of {other} holds too")
        examples = kept
    return examples


def _apart(name: str, examples: list[Example], held_out: list[Example]) -> list[Example]:
    """The examples of a source without those held out; CANARD and QReCC have the same dialogues with other answers."""
    if name.partition(":")[0] in BUILT_ON_QUAC:
        return without_overlap(examples, held_out)[0]
    return without_same_dialogues(examples, held_out)
