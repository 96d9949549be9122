"""How far editing can go: what the gold grids of a corpus decode to, scored like any prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from urewrite.dialogue import Example
from urewrite.edits.apply import decode
from urewrite.edits.grid import ConnectionWords
from urewrite.edits.supervise import Supervision, supervise
from urewrite.scoring.scores import Scores, score
from urewrite.tokens import tokenize

PAPER_EXACT = {"rewrite": 91.0, "multi": 95.3, "task": 87.6, "canard": 42.5}
"""The share of examples that the paper finds within reach, in percent."""

PAPER_BLEU = {"canard": 72.5}
"""The BLEU of that ceiling, where the paper gives it."""

Obstacle = Literal["missing word", "order"]
"""Why a rewrite is out of reach: it holds a word found nowhere, or its words cannot be copied in its order."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The scores of the gold grids, and for every example why its rewrite is out of reach (None: it is not)."""

    scores: Scores
    obstacles: tuple[Obstacle | None, ...]


def measure_ceiling(
    examples: Sequence[Example],
    connection_words: ConnectionWords,
    advance: Callable[[int], None] | None = None,
) -> Ceiling:
    """Derive, decode and score the gold grid of every example; `advance` is told of each one done."""
    predictions: list[str] = []
    obstacles: list[Obstacle | None] = []
    for example in examples:
        supervision = supervise(example, connection_words)
        predictions.append(decode(supervision.axes, supervision.grid).text)
        obstacles.append(None if supervision.exact else _obstacle(supervision, example.rewrite))
        if advance is not None:
            advance(1)
    return Ceiling(score(examples, predictions), tuple(obstacles))


def _obstacle(supervision: Supervision, rewrite: str) -> Obstacle:
    at_hand = {*supervision.axes.row_keys, *supervision.axes.column_keys}
    return "order" if at_hand.issuperset(tokenize(rewrite).keys) else "missing word"
