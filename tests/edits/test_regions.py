from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

from urewrite.edits.grid import EditType
from urewrite.edits.regions import Cells, Rectangle, find_rectangles, label_regions

grids = hnp.arrays(
    np.int8,
    st.tuples(st.integers(0, 12), st.integers(1, 12)),
    elements=st.sampled_from([0, 0, 0, 1, 2]),
)
dense_grids = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 12), st.integers(1, 12)), elements=st.sampled_from([0, 1, 1])
)


def grid_of(*rows: str):
    return np.array([[int(cell) for cell in row] for row in rows], dtype=np.int8)


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        (grid_of("000", "000"), []),
        (grid_of("100", "000"), [Rectangle(EditType.SUBSTITUTE, 0, 1, 0, 1)]),
        # neither diagonal joins
        (
            grid_of("10", "01"),
            [Rectangle(EditType.SUBSTITUTE, 0, 1, 0, 1), Rectangle(EditType.SUBSTITUTE, 1, 2, 1, 2)],
        ),
        (
            grid_of("01", "10"),
            [Rectangle(EditType.SUBSTITUTE, 0, 1, 1, 2), Rectangle(EditType.SUBSTITUTE, 1, 2, 0, 1)],
        ),
        # other types do not join
        (grid_of("12"), [Rectangle(EditType.SUBSTITUTE, 0, 1, 0, 1), Rectangle(EditType.INSERT, 0, 1, 1, 2)]),
        # a U: two temporary labels that the last row shows to be one region
        (grid_of("101", "101", "111"), [Rectangle(EditType.SUBSTITUTE, 0, 3, 0, 3)]),
        # equivalences that must be closed over several steps
        (grid_of("10101", "11111"), [Rectangle(EditType.SUBSTITUTE, 0, 2, 0, 5)]),
        (grid_of("0001", "0101", "0111", "1101"), [Rectangle(EditType.SUBSTITUTE, 0, 4, 0, 4)]),
        # an L becomes its covering rectangle
        (grid_of("200", "200", "222"), [Rectangle(EditType.INSERT, 0, 3, 0, 3)]),
        # the end of one row does not touch the start of the next
        (
            grid_of("001", "100"),
            [Rectangle(EditType.SUBSTITUTE, 0, 1, 2, 3), Rectangle(EditType.SUBSTITUTE, 1, 2, 0, 1)],
        ),
    ],
)
def test_examples(grid, expected):
    assert find_rectangles(grid) == expected


def labels_by_scipy(grid):
    """Regions as sets of cells, from an independent implementation."""
    regions = set()
    for edit_type in (1, 2):
        labelled, amount = ndimage.label(grid == edit_type)
        for number in range(1, amount + 1):
            regions.add((edit_type, frozenset(zip(*map(tuple, np.nonzero(labelled == number)), strict=True))))
    return regions


@given(st.one_of(grids, dense_grids))
def test_labelling_equals_an_independent_implementation(grid):
    rows, columns = np.nonzero(grid)
    amount = len(rows)
    labels = label_regions(Cells(rows.tolist(), columns.tolist(), grid[rows, columns].tolist(), [1.0] * amount))
    found: dict[int, set[tuple[int, int]]] = {}
    for row, column, label in zip(rows.tolist(), columns.tolist(), labels, strict=True):
        found.setdefault(label, set()).add((row, column))
    ours = {(int(grid[next(iter(cells))]), frozenset(cells)) for cells in found.values()}
    assert ours == labels_by_scipy(grid)
    assert list(found) == list(range(len(found))), "numbered from 0 in reading order"


@given(st.one_of(grids, dense_grids))
def test_rectangles_are_minimal(grid):
    boxes = sorted((box.edit_type, box.top, box.bottom, box.left, box.right) for box in find_rectangles(grid))
    expected = []
    for edit_type, cells in labels_by_scipy(grid):
        rows, columns = zip(*cells, strict=True)
        expected.append((edit_type, min(rows), max(rows) + 1, min(columns), max(columns) + 1))
    assert boxes == sorted(expected)


def test_score_is_the_mean_over_the_region_itself():
    grid = grid_of("10", "11")
    probabilities = np.zeros((3, 2, 2))
    probabilities[1] = [[0.9, 0.1], [0.6, 0.6]]
    (box,) = find_rectangles(grid, probabilities)
    assert box.score == pytest.approx(0.7)
