"""The longest common subsequence of utterance and rewrite, as the list of what differs (section 4.3, first step)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Gap(NamedTuple):
    """Where utterance and rewrite differ: DEL words `old[old_start:old_end]`, ADD words `new[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def differing_spans(old: Sequence[str], new: Sequence[str]) -> list[Gap]:
    """The maximal gaps between the words that a longest common subsequence keeps, from left to right.

    Of all longest subsequences one with the fewest gaps is taken, so that what belongs together stays together; of
    these the one that keeps the latest words, so that what repeats is taken to have been added in front.
    """
    gap = _enclosing_gap(old, new)
    if gap.old_start == gap.old_end and gap.new_start == gap.new_end:
        return []
    # Beyond the common ends nothing is shared: one gap, and no alignment can do with less. So it is nearly always.
    if set(old[gap.old_start : gap.old_end]).isdisjoint(new[gap.new_start : gap.new_end]):
        return [gap]
    gaps: list[Gap] = []
    i = j = 0
    for kept_i, kept_j in _kept_pairs(old, new):
        if kept_i > i or kept_j > j:
            gaps.append(Gap(i, kept_i, j, kept_j))
        i, j = kept_i + 1, kept_j + 1
    if i < len(old) or j < len(new):
        gaps.append(Gap(i, len(old), j, len(new)))
    return gaps


def _enclosing_gap(old: Sequence[str], new: Sequence[str]) -> Gap:
    """What is left between the longest common end and the longest common beginning before it."""
    shorter = min(len(old), len(new))
    end = 0
    while end < shorter and old[-1 - end] == new[-1 - end]:
        end += 1
    start = 0
    while start < shorter - end and old[start] == new[start]:
        start += 1
    return Gap(start, len(old) - end, start, len(new) - end)


def _kept_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of the words kept, ascending."""
    # One number orders alignments: a kept word outweighs any number of gaps.
    height, width = len(old), len(new)
    keep = min(height, width) + 2
    best = [[0] * (width + 1)]  # best[i][j]: of old[:i] against new[:j], a gap after the last kept pair not yet counted
    ending = [[-1] * (width + 1)]  # the same, with old[i-1] = new[j-1] kept as the last pair; -1: not equal
    for i, word in enumerate(old):
        above, above_ending = best[-1], ending[-1]
        row, row_ending = [0], [-1]
        for j in range(width):
            score = max(above[j + 1], row[j])
            kept = -1
            if word == new[j]:
                kept = above[j] + keep - (1 if i or j else 0)
                if above_ending[j] >= 0:
                    kept = max(kept, above_ending[j] + keep)
                score = max(score, kept)
            row.append(score)
            row_ending.append(kept)
        best.append(row)
        ending.append(row_ending)
    if ending[height][width] < best[height][width] - 1:
        ending[height][width] = -1  # ends in a gap all the same, and gains nothing by keeping the last pair
    return _trace(best, ending, keep)


def _trace(best: list[list[int]], ending: list[list[int]], keep: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    i, j = len(best) - 1, len(best[0]) - 1
    within_block = ending[i][j] >= 0  # no gap at the end is worth one gap elsewhere
    while i > 0 and j > 0:
        if within_block or ending[i][j] == best[i][j]:
            pairs.append((i - 1, j - 1))
            within_block = ending[i - 1][j - 1] >= 0 and ending[i][j] == ending[i - 1][j - 1] + keep
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            j -= 1
    pairs.reverse()
    return pairs
