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

    Of all longest subsequences one with the fewest gaps is taken, so that the words kept together stay together; of
    these the one that keeps the latest words, so that what repeats is taken to have been added in front.
    """
    gaps: list[Gap] = []
    i = j = 0
    for kept_i, kept_j in _kept_pairs(old, new):
        if kept_i > i or kept_j > j:
            gaps.append(Gap(i, kept_i, j, kept_j))
        i, j = kept_i + 1, kept_j + 1
    if i < len(old) or j < len(new):
        gaps.append(Gap(i, len(old), j, len(new)))
    return gaps


def _kept_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of the words kept, ascending."""
    # One number orders alignments: a kept word outweighs any number of block starts.
    width = len(new)
    keep = min(len(old), width) + 1
    best = [[0] * (width + 1)]  # best[i][j]: of old[:i] against new[:j]
    ending = [[-1] * (width + 1)]  # the same, with old[i-1] = new[j-1] kept as the last pair; -1: not equal
    for word in old:
        above, above_ending = best[-1], ending[-1]
        row, row_ending = [0], [-1]
        left = diagonal = 0
        for j in range(width):
            score = above[j + 1]
            if left > score:
                score = left
            kept = -1
            if word == new[j]:
                kept = above_ending[j] + keep if above_ending[j] >= diagonal else diagonal + keep - 1
                if kept > score:
                    score = kept
            diagonal = above[j + 1]
            row.append(score)
            row_ending.append(kept)
            left = score
        best.append(row)
        ending.append(row_ending)
    return _trace(best, ending, keep)


def _trace(best: list[list[int]], ending: list[list[int]], keep: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    i, j = len(best) - 1, len(best[0]) - 1
    within_block = False
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
