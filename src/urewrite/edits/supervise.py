"""Distant supervision (section 4.3): from a dialogue and its rewrite to the gold grid.

First the paper's way: the longest common subsequence of utterance and rewrite, ADD and DEL spans, an ADD span with a
DEL counterpart is Substitute, another is Insert, each copied from the last rows that spell it. If the grid so found
does not decode to the rewrite although every word of it is at hand, a search over all ways to cut the rewrite into
kept, inserted and substituted words (`derivation.py`) looks for one that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from urewrite.dialogue import Example
from urewrite.edits.alignment import differing_spans
from urewrite.edits.apply import decode
from urewrite.edits.cover import Run, cover
from urewrite.edits.derivation import derived_grids
from urewrite.edits.grid import Axes, ConnectionWords, EditType, Grid, lay_out
from urewrite.tokens import tokenize


@dataclass(frozen=True, slots=True)
class Supervision:
    """A gold grid; `exact`: it decodes to the rewrite. If not, it holds as much of the rewrite as could be found."""

    axes: Axes
    grid: Grid
    exact: bool


def supervise(
    example: Example,
    connection_words: ConnectionWords | None = None,
    *,
    search: bool = True,
    most_rows: int | None = None,
) -> Supervision:
    """The gold grid of an example; without `search` that of the paper's procedure alone."""
    axes = lay_out(example.dialogue, connection_words, most_rows=most_rows)
    rewrite_keys = tokenize(example.rewrite).keys
    aligned = aligned_grid(axes, rewrite_keys)
    for grid in chain([aligned], derived_grids(axes, rewrite_keys) if search else ()):
        if tokenize(decode(axes, grid).text).keys == rewrite_keys:
            return Supervision(axes, grid, True)
    return Supervision(axes, aligned, False)


def aligned_grid(
    axes: Axes,
    rewrite_keys: tuple[str, ...],
    find: Callable[[Sequence[str], Sequence[str]], list[Run]] = cover,
) -> Grid:
    """The paper's procedure. DEL spans without an ADD counterpart, and ADD words the context lacks, leave no trace.

    `find` chooses the rows for the words of an ADD span.
    """
    grid = axes.empty_grid()
    for gap in differing_spans(axes.column_keys[:-1], rewrite_keys):
        runs = find(rewrite_keys[gap.new_start : gap.new_end], axes.row_keys)
        for run in runs:
            if gap.old_start < gap.old_end:
                grid[run.start : run.end, gap.old_start : gap.old_end] = EditType.SUBSTITUTE
            else:
                grid[run.start : run.end, gap.old_start] = EditType.INSERT
    return grid
