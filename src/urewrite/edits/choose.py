"""From probabilities to regions: which cells are edited, and which regions are sure enough to become edits.

The most likely type of each cell by itself breaks spans where the network hesitates: between two columns for one
insertion, or at the edge of a span. So cells are taken more freely than by majority, and regions are judged as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from urewrite.edits.grid import Axes, EditType
from urewrite.edits.joining import with_joining_words
from urewrite.edits.regions import Cells, Rectangle, cover_regions
from urewrite.edits.repeats import without_repeats
from urewrite.edits.rivals import without_rivals
from urewrite.edits.signs import without_signs_alone

_NONE, _SUBSTITUTE, _INSERT = EditType

Probabilities = NDArray[np.floating]
"""Of the edit types of every cell: (edit types, rows, columns)."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What it takes to edit; chosen on validation data.

    A cell is edited if its probability to be is at least `cell`. A region becomes an edit if its score, the mean
    probability of its cells, is at least `region`; if none is, the best one does if its score is at least `lone`.
    Where several spans go to one place, all but the weightiest need a score of at least `further`; where any does, a
    connection word joins it if its probability is at least `joining`.
    """

    cell: float = 0.5
    region: float = 0.0
    lone: float = 0.0
    further: float = 0.0
    joining: float = 1.0


def candidates(probabilities: Probabilities, cell: float) -> list[Rectangle]:
    """The regions of all cells that are edited with at least this probability, each cell by its likelier type."""
    rows, columns = (probabilities[_NONE] <= 1 - cell).nonzero()
    if not len(rows):
        return []
    substitute, insert = probabilities[_SUBSTITUTE:, rows, columns].tolist()
    types = [_SUBSTITUTE if one >= other else _INSERT for one, other in zip(substitute, insert, strict=True)]
    return cover_regions(Cells(rows.tolist(), columns.tolist(), types, list(map(max, substitute, insert))))


def settle(axes: Axes, probabilities: Probabilities, found: list[Rectangle], thresholds: Thresholds) -> list[Rectangle]:
    """The regions that become edits."""
    return without_signs_alone(axes, put_together(axes, probabilities, found, thresholds))


def put_together(
    axes: Axes, probabilities: Probabilities, found: list[Rectangle], thresholds: Thresholds
) -> list[Rectangle]:
    """The regions that are sure enough, joined, without what would be said twice."""
    chosen = choose(found, thresholds)
    if thresholds.further > 0:
        chosen = without_rivals(axes, chosen, thresholds.further)
    if thresholds.joining < 1:
        chosen = with_joining_words(axes, probabilities, chosen, thresholds.joining)
    return without_repeats(axes, chosen)


def choose(found: list[Rectangle], thresholds: Thresholds) -> list[Rectangle]:
    """Those that are sure enough, in the given order."""
    sure = [rectangle for rectangle in found if rectangle.score >= thresholds.region]
    if sure or not found:
        return sure
    best = max(found, key=lambda rectangle: rectangle.score)
    return [best] if best.score >= thresholds.lone else []
