"""From a grid to rectangles (section 4.2): two-pass labelling of regions, then minimal covering rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urewrite.edits.grid import EditType, Grid

_EDIT_TYPES = tuple(EditType)  # by their numbers


class Rectangle(NamedTuple):
    """Rows [top, bottom) and columns [left, right) that one region covers; `score` is the mean of its cells."""

    edit_type: EditType
    top: int
    bottom: int
    left: int
    right: int
    score: float = 1.0

    @property
    def place(self) -> tuple[EditType, int]:
        """Where in the utterance it edits, and how: regions of one place come out together."""
        return self.edit_type, self.left


class Cells(NamedTuple):
    """The edited cells of a grid in reading order, one list for each thing known of them."""

    rows: list[int]
    columns: list[int]
    types: Sequence[int]
    scores: list[float]


def label_regions(cells: Cells) -> list[int]:
    """For each cell the number of its region (from 0).

    Cells belong together when they share a side and an edit type. First pass: a cell takes the smaller label of its
    left and top neighbours, and the two are noted as equivalent. Second pass: equivalent labels become one.
    """
    width = max(cells.columns, default=0) + 2  # so that no cell stands before the first of a row
    flat = [row * width + column for row, column in zip(cells.rows, cells.columns, strict=True)]
    label_at: dict[int, int] = {}
    type_at: dict[int, int] = dict(zip(flat, cells.types, strict=True))
    parent: list[int] = []
    labels: list[int] = []
    for cell, edit_type in type_at.items():
        left = label_at[cell - 1] if type_at.get(cell - 1) == edit_type else -1
        top = label_at[cell - width] if type_at.get(cell - width) == edit_type else -1
        if left < 0 and top < 0:
            label = len(parent)
            parent.append(label)
        elif left < 0 or top < 0:
            label = max(left, top)
        else:
            left, top = _root(parent, left), _root(parent, top)
            label = min(left, top)
            parent[max(left, top)] = label
        label_at[cell] = label
        labels.append(label)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(_root(parent, label), len(numbers)) for label in labels]


def find_rectangles(grid: Grid, probabilities: NDArray[np.floating] | None = None) -> list[Rectangle]:
    """The rectangles of a grid.

    `probabilities`, shape (edit types, rows, columns), gives each region the mean probability of its own cells as its
    score; without it every score is 1.
    """
    rows, columns = np.nonzero(grid)
    types = grid[rows, columns]
    likely = [1.0] * len(rows) if probabilities is None else probabilities[types, rows, columns].tolist()
    return cover_regions(Cells(rows.tolist(), columns.tolist(), types.tolist(), likely))


def cover_regions(cells: Cells) -> list[Rectangle]:
    """The minimal covering rectangle of every region, ordered by the region's first cell in reading order."""
    if not cells.rows:
        return []
    top, bottom = cells.rows[0], cells.rows[-1] + 1  # reading order: rows only grow
    left, right = min(cells.columns), max(cells.columns) + 1
    if len(cells.rows) == (bottom - top) * (right - left) and len(set(cells.types)) == 1:  # one full one: the commonest
        return [Rectangle(_EDIT_TYPES[cells.types[0]], top, bottom, left, right, sum(cells.scores) / len(cells.scores))]
    boxes: list[list[int]] = []
    scores: list[list[float]] = []
    for row, column, edit_type, score, label in zip(*cells, label_regions(cells), strict=True):
        if label == len(boxes):
            boxes.append([edit_type, row, row + 1, column, column + 1])
            scores.append([])
        else:
            box = boxes[label]
            box[2] = row + 1
            box[3] = min(box[3], column)
            box[4] = max(box[4], column + 1)
        scores[label].append(score)
    return [
        Rectangle(_EDIT_TYPES[box[0]], box[1], box[2], box[3], box[4], sum(likely) / len(likely))
        for box, likely in zip(boxes, scores, strict=True)
    ]


def _root(parent: list[int], label: int) -> int:
    while parent[label] != label:
        parent[label] = parent[parent[label]]
        label = parent[label]
    return label
