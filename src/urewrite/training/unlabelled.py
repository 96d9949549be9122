"""Dialogues without a rewrite, for a teacher to label: every turn as an utterance after the turns before it.

What a small network lacks is dialogues, not labels: a teacher gives those to any dialogue of the kind it knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.edits.grid import Axes, Grid
from urewrite.training.batches import OUTSIDE

MARK = " (turns, labelled by the teacher alone)"
"""Said of a source that is learned from in this way."""


def turns_as_utterances(examples: Sequence[Example], history: int) -> list[Example]:
    """Every turn with just so many turns before it, each such dialogue once; nobody knows their rewrites.

    The rewrite of such an example is its utterance, to compare it with what is held out; it is not learned from.
    """
    found = dict.fromkeys(window for example in examples for window in _windows(example.dialogue, history))
    return [
        Example(Dialogue(tuple(map(Turn, before)), utterance), utterance)
        for *before, utterance in found
        if utterance.strip()
    ]


def no_labels(axes: Axes) -> Grid:
    """The gold grid of a dialogue whose rewrite nobody knows: no cell has a label."""
    return np.full(axes.shape, OUTSIDE, dtype=np.int8)


def _windows(dialogue: Dialogue, history: int) -> Iterator[tuple[str, ...]]:
    said = (*(turn.text for turn in dialogue.history), dialogue.utterance)
    for end in range(history + 1, len(said) + 1):
        yield said[end - history - 1 : end]
