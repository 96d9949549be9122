"""Dialogues as arrays of a batch: ids of the joint sequence, sizes, and which words are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from urewrite.edits.grid import Axes

PADDING = 0
"""The id of positions that are not there."""

NOWHERE = -2
"""The owner of such positions; -1 is that of pieces that are there but part of no word."""

MULTIPLE = 4
"""Rows and columns of a batch are padded to multiples of this: the U-shape halves them twice."""


_MOST_PADDED = 1.15
"""Cells that are computed for each that is there, beyond which another batch is begun."""


class Prepared(NamedTuple):
    """One dialogue as numbers.

    `ids` is the joint sequence of context and utterance: a word each, or word pieces whose words are in `owners`
    (-1 for pieces that belong to none). `matches` lists the cells whose two words are the same. With a lexicon, `terms`
    has of each word the number of its term and its place there.
    """

    ids: NDArray[np.int32]
    owners: NDArray[np.int32] | None
    shape: tuple[int, int]
    matches: tuple[NDArray[np.int32], NDArray[np.int32]]
    terms: NDArray[np.int32] | None = None


class GridArrays(NamedTuple):
    """A batch: ids and owners (batch, length), heights and widths (batch), match (batch, rows, columns).

    Terms are (batch, length, 2): number and place.
    """

    ids: NDArray[np.int64]
    owners: NDArray[np.int64] | None
    heights: NDArray[np.int64]
    widths: NDArray[np.int64]
    match: NDArray[np.float32]
    terms: NDArray[np.int64] | None = None


class Preparer(Protocol):
    """What turns axes into ids: a vocabulary of words, or word pieces of a pretrained encoder."""

    def prepare(self, axes: Axes) -> Prepared:
        """One dialogue as numbers."""
        ...


def matching_cells(axes: Axes) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows and columns of the cells in which a word meets itself."""
    columns: dict[str, list[int]] = {}
    for column, key in enumerate(axes.column_keys):
        columns.setdefault(key, []).append(column)
    rows: list[int] = []
    there: list[int] = []
    for row, key in enumerate(axes.row_keys):
        if key in columns:
            same = columns[key]
            rows += [row] * len(same)
            there += same
    return np.array(rows, dtype=np.int32), np.array(there, dtype=np.int32)


def padded(size: int) -> int:
    """The least multiple that holds so many."""
    return max(MULTIPLE, -(-size // MULTIPLE) * MULTIPLE)


def by_size(shapes: Sequence[tuple[int, int]], blur: Callable[[int], float] = float) -> list[int]:
    """In which order to batch grids, so that little is padded: those of one padded width together, by height within it.

    `blur` changes heights a little, for those who want other neighbours each time.
    """
    sizes = [(padded(columns), blur(rows)) for rows, columns in shapes]
    return sorted(range(len(sizes)), key=sizes.__getitem__)


def in_batches(shapes: Sequence[tuple[int, int]], most: int) -> list[list[int]]:
    """Which grids to compute together: of like size, and fewer than `most` where more would only add padding.

    Heights go up within one padded width and down within the next, so that a batch across two widths is of one height.
    """
    sizes = [(padded(rows), padded(columns)) for rows, columns in shapes]
    falls = {width: bool(number % 2) for number, width in enumerate(sorted({columns for _, columns in sizes}))}
    order = sorted(range(len(sizes)), key=lambda one: (sizes[one][1], sizes[one][0] * (-1) ** falls[sizes[one][1]]))
    batches: list[list[int]] = []
    cells = tallest = widest = 0
    for position in order:
        rows, columns = sizes[position]
        cells, tallest, widest = cells + rows * columns, max(tallest, rows), max(widest, columns)
        full = not batches or len(batches[-1]) >= most
        if full or (len(batches[-1]) + 1) * tallest * widest > _MOST_PADDED * cells:
            batches.append([])
            cells, tallest, widest = rows * columns, rows, columns
        batches[-1].append(position)
    return batches


def collate(items: Sequence[Prepared]) -> GridArrays:
    """Pad to the longest of the batch, and the grid from there to what can be halved twice."""
    length = max(len(item.ids) for item in items)
    rows = padded(max(item.shape[0] for item in items))
    columns = padded(max(item.shape[1] for item in items))
    ids = np.full((len(items), length), PADDING, dtype=np.int64)
    owners = None if items[0].owners is None else np.full((len(items), length), NOWHERE, dtype=np.int64)
    terms = None if items[0].terms is None else np.zeros((len(items), length, 2), dtype=np.int64)
    match = np.zeros((len(items), rows, columns), dtype=np.float32)
    for index, item in enumerate(items):
        ids[index, : len(item.ids)] = item.ids
        if owners is not None and item.owners is not None:
            owners[index, : len(item.owners)] = item.owners
        if terms is not None and item.terms is not None:
            terms[index, : len(item.terms)] = item.terms
        match[(index, *item.matches)] = 1
    shapes = np.array([item.shape for item in items], dtype=np.int64)
    return GridArrays(ids, owners, shapes[:, 0], shapes[:, 1], match, terms)
