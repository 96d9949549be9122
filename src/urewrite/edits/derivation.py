"""The cheapest way to make a rewrite out of kept, inserted and substituted words, if the grid can express any.

A search over (utterance column, rewrite position), cheapest first, for the examples that the alignment alone gets
wrong: repeated words, spans that stand in another order in the context, words deleted without a counterpart (a
neighbour found in the context is then substituted together with them).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from urewrite.edits.cover import Run
from urewrite.edits.grid import Axes, EditType, Grid
from urewrite.edits.places import SENTENCE_END

# Kept words first (the longest common subsequence again), then few runs, then recent turns.
_WORD_COST = 100
_RUN_COST = 30
_PLACE_COST = 20
_AGE_COST = 1

# Bounds that keep a search short; what they cut off is dear and rarely a sensible label.
_MOST_RUNS = 3  # per place
_MOST_EQUAL = 3  # runs, and covers, that spell the same words
_MOST_DIVERSE = 12  # runs that spell the same words, in the search over many choices
_MOST_MOVES = 100_000


class _Cover(NamedTuple):
    """A way to spell rewrite words from some position up to `end` with rows in ascending order."""

    cost: int
    end: int
    rows: int  # bit set
    runs: tuple[Run, ...]


class _Node(NamedTuple):
    """All left of `column` and `position` is decided.

    The bit sets are rows that must not be used again at once: the grid cannot hold apart edits of one type that share a
    row in neighbouring columns, nor an insertion and a substitution that share a cell. They stay 0 in a search that
    does not mind.
    """

    column: int
    position: int
    insertion_decided: bool
    inserted_rows: int  # by the insertion at the column before (at this one, once decided)
    substituted_rows: int  # by a substitution that ends just before this column


class _Step(NamedTuple):
    edit_type: EditType
    left: int
    right: int
    runs: tuple[Run, ...]


def derived_grids(axes: Axes, rewrite_keys: tuple[str, ...]) -> Iterator[Grid]:
    """Grids that may spell the rewrite, at most three; the caller decodes them to see.

    The first comes from a quick search that takes no care to keep edits apart, which seldom matters; where that finds
    no way, none is looked for any more. The next come from searches that do take care, over few choices and over many.
    """
    at_hand = {*axes.row_keys, *axes.column_keys}
    if not at_hand.issuperset(rewrite_keys):
        return
    search = _Search(axes, rewrite_keys)
    for keep_apart, diverse in ((False, False), (True, False), (True, True)):
        steps = search.run(keep_apart, diverse)
        if steps is None:
            if keep_apart:
                continue
            return
        grid = axes.empty_grid()
        for step in steps:
            for run in step.runs:
                grid[run.start : run.end, step.left : max(step.right, step.left + 1)] = step.edit_type
        yield grid


class _Search:
    """Best-first search; nodes are reached at their least cost first."""

    def __init__(self, axes: Axes, rewrite: tuple[str, ...]) -> None:
        self.utterance = axes.column_keys[:-1]
        self.rewrite = rewrite
        self.row_keys = axes.row_keys
        self.rows_of: dict[str, list[int]] = defaultdict(list)
        self.age: list[int] = [0] * len(axes.row_keys)
        self.connection_rows: set[int] = set()
        for order, source in enumerate(reversed(axes.sources)):
            for row in range(source.first_row, source.first_row + len(source.tokens)):
                self.rows_of[axes.row_keys[row]].append(row)  # most recent turn first
                self.age[row] = order * _AGE_COST
                if source.turn is None:
                    self.connection_rows.add(row)
        self.covers: dict[tuple[int, bool], list[_Cover]] = {}
        self.runs: dict[tuple[int, bool], list[_Cover]] = {}
        self.ahead = _words_to_change(self.utterance, rewrite)

    def run(self, keep_apart: bool, diverse: bool) -> list[_Step] | None:
        """The steps of the cheapest derivation, in no order; None if there is none within the bounds."""
        goal = (len(self.utterance), len(self.rewrite))
        start = _Node(0, 0, False, 0, 0)
        came_from: dict[_Node, tuple[_Node, _Step | None] | None] = {}
        least: dict[_Node, int] = {start: 0}
        queue: list[tuple[int, int, int, _Node, tuple[_Node, _Step | None] | None]] = [(0, 0, 0, start, None)]
        moves = 0
        while queue and moves <= _MOST_MOVES:
            _, _, cost, node, origin = heapq.heappop(queue)
            if node in came_from:
                continue
            came_from[node] = origin
            if (node.column, node.position) == goal:
                return _steps(came_from, node)
            for step_cost, step, reached in self._moves(node, keep_apart, diverse):
                moves += 1
                total = cost + step_cost
                if total < least.get(reached, total + 1):
                    least[reached] = total
                    ahead = self.ahead[reached.column][reached.position] * _WORD_COST
                    heapq.heappush(queue, (total + ahead, moves, total, reached, (node, step)))
        return None

    def _moves(self, node: _Node, keep_apart: bool, diverse: bool) -> Iterator[tuple[int, _Step | None, _Node]]:
        column, position, decided, inserted_rows, substituted_rows = node
        apart = -1 if keep_apart else 0
        covers = self._covers(position, diverse)
        if not decided:
            yield 0, None, _Node(column, position, True, 0, substituted_rows)
            for cover in covers:
                if not cover.rows & inserted_rows and self._ends_well(cover, column):
                    step = _Step(EditType.INSERT, column, column, cover.runs)
                    reached = _Node(column, cover.end, True, cover.rows & apart, substituted_rows)
                    yield cover.cost + _PLACE_COST, step, reached
            return
        if column == len(self.utterance):
            return
        if position < len(self.rewrite) and self.utterance[column] == self.rewrite[position]:
            yield 0, None, _Node(column + 1, position + 1, False, inserted_rows, 0)
        taken = inserted_rows | substituted_rows
        for cover in covers:
            if cover.rows & taken:
                continue
            for right in range(column + 1, len(self.utterance) + 1):
                if self._ends_well(cover, right):
                    step = _Step(EditType.SUBSTITUTE, column, right, cover.runs)
                    cost = cover.cost + _PLACE_COST + (right - column) * _WORD_COST
                    still_inserted = inserted_rows if right == column + 1 else 0
                    yield cost, step, _Node(right, cover.end, False, still_inserted, cover.rows & apart)

    def _ends_well(self, cover: _Cover, column: int) -> bool:
        """Whether decoding keeps the last word: sentence-final punctuation is copied to the end of the output only."""
        ends_output = cover.end == len(self.rewrite) and column == len(self.utterance)
        return ends_output or self._may_go_on(cover)

    def _covers(self, position: int, diverse: bool) -> list[_Cover]:
        """Ways to spell words from `position` on, the few cheapest for every end.

        If `diverse`, the few cheapest for every end, first row and last row.
        """
        if (position, diverse) not in self.covers:
            found = grown = self._runs(position, diverse)
            for _ in range(_MOST_RUNS - 1):
                grown = [
                    _Cover(head.cost + tail.cost, tail.end, head.rows | tail.rows, head.runs + tail.runs)
                    for head in grown
                    if self._may_go_on(head)
                    for tail in self._runs(head.end, diverse)
                    if tail.runs[0].start > head.runs[-1].end
                ]
                grown = _few_cheapest(grown, diverse)
                found = _few_cheapest(found + grown, diverse)
            self.covers[position, diverse] = found
        return self.covers[position, diverse]

    def _may_go_on(self, cover: _Cover) -> bool:
        """Whether its last word survives decoding with more to follow."""
        last_row = cover.runs[-1].end - 1
        return self.row_keys[last_row] not in SENTENCE_END or last_row in self.connection_rows

    def _runs(self, position: int, diverse: bool) -> list[_Cover]:
        """Single runs that spell words from `position` on: all if `diverse`, else a few recent ones and the first."""
        if (position, diverse) not in self.runs:
            by_end: dict[int, list[_Cover]] = defaultdict(list)
            rows = self.rows_of.get(self.rewrite[position], ()) if position < len(self.rewrite) else ()
            for row in rows:
                bits, end, cursor = 0, position, row
                while (
                    end < len(self.rewrite)
                    and cursor < len(self.row_keys)
                    and self.row_keys[cursor] == self.rewrite[end]
                ):
                    bits |= 1 << cursor
                    end, cursor = end + 1, cursor + 1
                    cost = (end - position) * _WORD_COST + _RUN_COST + self.age[row]
                    by_end[end].append(_Cover(cost, end, bits, (Run(row, cursor),)))
            most = _MOST_DIVERSE if diverse else _MOST_EQUAL
            self.runs[position, diverse] = [
                run
                for same_end in by_end.values()
                for run in (same_end if len(same_end) <= most else [*same_end[: most - 1], same_end[-1]])
            ]
        return self.runs[position, diverse]


def _few_cheapest(covers: list[_Cover], diverse: bool) -> list[_Cover]:
    counts: dict[tuple[int, ...], int] = defaultdict(int)
    kept: list[_Cover] = []
    for cover in sorted(covers, key=lambda cover: cover.cost):
        kind = (cover.end, cover.runs[0].start, cover.runs[-1].end) if diverse else (cover.end,)
        counts[kind] += 1
        if counts[kind] <= _MOST_EQUAL:
            kept.append(cover)
    return kept


def _words_to_change(old: tuple[str, ...], new: tuple[str, ...]) -> list[list[int]]:
    """[i][j]: how many words of old[i:] and new[j:] a longest common subsequence of the two leaves out."""
    below = list(range(len(new), -1, -1))
    table = [below]
    for i in range(len(old) - 1, -1, -1):
        row = [0] * len(new) + [len(old) - i]
        for j in range(len(new) - 1, -1, -1):
            row[j] = below[j + 1] if old[i] == new[j] else 1 + min(below[j], row[j + 1])
        table.append(row)
        below = row
    return table[::-1]


def _steps(came_from: dict[_Node, tuple[_Node, _Step | None] | None], node: _Node) -> list[_Step]:
    steps: list[_Step] = []
    origin = came_from[node]
    while origin is not None:
        previous, step = origin
        if step is not None:
            steps.append(step)
        origin = came_from[previous]
    return steps
