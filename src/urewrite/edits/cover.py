"""Finding added words in the context: which rows, read downwards, spell a span of the rewrite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_RUN = 1
_MISSED = 1 << 20  # outweighs any number of runs
_NEVER = 1 << 60


class Run(NamedTuple):
    """Rows [start, end), copied as one span."""

    start: int
    end: int


def cover(words: Sequence[str], row_keys: Sequence[str]) -> list[Run]:
    """Rows that spell the words as far as the context can, in ascending order.

    As many words as possible, then in as few runs as possible, then the last such rows: what is repeated was most often
    said in the most recent turn. Words that the context lacks, or holds only in another order, are left out.
    """
    if not words:
        return []
    run = _last_occurrence(words, row_keys)
    if run is not None:
        return [run]
    height = len(row_keys)
    # free[p][r]: least cost of words[p:] with rows from r on; running[p][r]: the same when words[p] is copied from row
    # r as part of a run that is already paid for.
    free = [[0] * (height + 1)]
    running = [[_NEVER] * (height + 1)]
    for word in reversed(words):
        below_free, below_running = free[-1], running[-1]
        row_free, row_running = [0] * (height + 1), [_NEVER] * (height + 1)
        best = row_free[height] = below_free[height] + _MISSED
        for row in range(height - 1, -1, -1):
            missed = below_free[row] + _MISSED
            if missed < best:
                best = missed
            if row_keys[row] == word:
                cost = min(below_free[row + 1], below_running[row + 1])
                row_running[row] = cost
                if cost + _RUN < best:
                    best = cost + _RUN
            row_free[row] = best
        free.append(row_free)
        running.append(row_running)
    free.reverse()
    running.reverse()
    return _trace(len(words), height, free, running)


def _last_occurrence(words: Sequence[str], row_keys: Sequence[str]) -> Run | None:
    """The last rows that spell all the words without a break."""
    wanted, length = tuple(words), len(words)
    for start in range(len(row_keys) - length, -1, -1):
        if row_keys[start] == wanted[0] and tuple(row_keys[start : start + length]) == wanted:
            return Run(start, start + length)
    return None


def _trace(length: int, height: int, free: list[list[int]], running: list[list[int]]) -> list[Run]:
    runs: list[Run] = []
    position = row = 0
    while position < length and row < height:
        if free[position][row] == free[position][row + 1]:
            row += 1
        elif free[position][row] == running[position][row] + _RUN:
            start = row
            while True:
                goes_on = position + 1 < length and running[position][row] == running[position + 1][row + 1]
                position, row = position + 1, row + 1
                if not goes_on:
                    break
            runs.append(Run(start, row))
        else:
            position += 1
    return runs
