"""Every place of the context that a copied span could have come from.

Distant supervision marks the last rows that spell a span. What a dialogue is about is said many times over, and a
network that is told to choose one of the times, for no reason it could see, hesitates between all of them. Marking each
of them asks nothing of it but which words are copied; decoding copies them once (`repeats.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.grid import SEPARATOR, Axes, Grid
from urewrite.edits.regions import Rectangle, find_rectangles
from urewrite.edits.repeats import without_repeats
from urewrite.tokens import tokenize


def decode_once(axes: Axes, grid: Grid) -> str:
    """The text that a grid stands for if what it copies to one place from several turns is said once."""
    found = without_repeats(axes, find_rectangles(grid))
    return apply_edits(axes.dialogue, edits_of(axes, found)).text


def mark_every_occurrence(axes: Axes, grid: Grid) -> Grid:
    """The grid with all rows marked that spell what is copied, or the grid itself if that would say something else.

    Only where one span of the history goes to a place: the order of several would depend on which are taken.
    """
    marked = grid.copy()
    for span in _only_spans(axes, find_rectangles(grid)):
        columns = slice(span.left, span.right)
        around = slice(max(span.left - 1, 0), span.right + 1)
        for top, bottom in _occurrences(axes, span):
            if not marked[max(top - 1, 0) : bottom + 1, around].any():  # or it would be one region with another
                marked[top:bottom, columns] = span.edit_type
    same = tokenize(decode_once(axes, marked)).keys == tokenize(decode_once(axes, grid)).keys
    return marked if same else grid


def _only_spans(axes: Axes, found: list[Rectangle]) -> Iterator[Rectangle]:
    """The span of each place that gets a single one; connection words do not count."""

    def place(one: Rectangle) -> tuple[int, int, int]:
        return one.edit_type, one.left, one.right

    spans = sorted((one for one in found if not axes.is_listed(one.top)), key=place)
    for _, group in groupby(spans, key=place):
        first, *others = group
        if not others and SEPARATOR not in axes.row_keys[first.top : first.bottom]:
            yield first


def _occurrences(axes: Axes, span: Rectangle) -> Iterator[tuple[int, int]]:
    """Other rows of the history that spell the same words."""
    words, size = axes.row_keys[span.top : span.bottom], span.bottom - span.top
    for source in axes.sources:
        if source.turn is not None:
            for top in range(source.first_row, source.first_row + len(source.tokens) - size + 1):
                if top != span.top and axes.row_keys[top : top + size] == words:
                    yield top, top + size
