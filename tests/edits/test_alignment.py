from __future__ import annotations

import itertools
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urewrite.edits.alignment import Gap, differing_spans

few_words = st.lists(st.sampled_from("abc"), max_size=8)


@pytest.mark.parametrize(
    ("old", "new", "gaps"),
    [
        ("", "", []),
        ("abc", "abc", []),
        ("", "ab", [Gap(0, 0, 0, 2)]),
        ("ab", "", [Gap(0, 2, 0, 0)]),
        ("abc", "xabc", [Gap(0, 0, 0, 1)]),
        ("abc", "abcx", [Gap(3, 3, 3, 4)]),
        ("abc", "axc", [Gap(1, 2, 1, 2)]),
        # the paper's example: 北京 is added in front, 这样 gives way to 阴天
        ("为什么总是这样", "北京为什么总是阴天", [Gap(0, 0, 0, 2), Gap(5, 7, 7, 9)]),
        # of equally long alignments one with a single gap
        ("ac", "abac", [Gap(0, 0, 0, 2)]),
        ("ab", "acadb", [Gap(1, 1, 1, 4)]),
        ("ab", "abab", [Gap(0, 0, 0, 2)]),
    ],
)
def test_examples(old, new, gaps):
    assert differing_spans(old, new) == gaps


def kept_words(old, new, gaps):
    """The words between the gaps, checked to be the same on both sides."""
    kept = []
    i = j = 0
    for gap in [*gaps, Gap(len(old), len(old), len(new), len(new))]:
        assert old[i : gap.old_start] == new[j : gap.new_start]
        kept += old[i : gap.old_start]
        i, j = gap.old_end, gap.new_end
    return kept


def best_by_brute_force(old, new):
    """(length of the longest common subsequence, fewest gaps it can leave)."""

    @cache
    def best(i, j, in_gap):
        if i == len(old) and j == len(new):
            return (0, 0)
        options = []
        if i < len(old):
            options.append((best(i + 1, j, True), 0))
        if j < len(new):
            options.append((best(i, j + 1, True), 0))
        results = [(length, gaps - (not in_gap)) for (length, gaps), _ in options]
        if i < len(old) and j < len(new) and old[i] == new[j]:
            length, gaps = best(i + 1, j + 1, False)
            results.append((length + 1, gaps))
        return max(results)

    length, gaps = best(0, 0, False)
    return length, -gaps


@settings(max_examples=500)
@given(few_words, few_words)
def test_the_gaps_leave_a_longest_common_subsequence_and_are_fewest(old, new):
    gaps = differing_spans(old, new)
    assert (len(kept_words(old, new, gaps)), len(gaps)) == best_by_brute_force(tuple(old), tuple(new))


@given(few_words, few_words)
def test_gaps_are_apart_and_not_empty(old, new):
    gaps = differing_spans(old, new)
    for gap in gaps:
        assert gap.old_end > gap.old_start or gap.new_end > gap.new_start
    for left, right in itertools.pairwise(gaps):
        assert left.old_end < right.old_start
        assert left.new_end < right.new_start
