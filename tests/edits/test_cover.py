from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite.edits.cover import Run, cover


@pytest.mark.parametrize(
    ("words", "rows", "runs"),
    [
        ("", "abc", []),
        ("ab", "", []),
        ("ab", "xabxab", [Run(4, 6)]),  # the last occurrence
        ("abcd", "abxcd", [Run(0, 2), Run(3, 5)]),  # two runs, in order
        ("abc", "cab", [Run(1, 3)]),  # c stands before: left out
        ("azb", "ab", [Run(0, 1), Run(1, 2)]),  # z is nowhere
        ("abc", "abSabc", [Run(3, 6)]),  # one run rather than two
        ("abc", "abScSab", [Run(0, 2), Run(3, 4)]),
    ],
)
def test_examples(words, rows, runs):
    assert cover(words, rows) == runs


def spelled(rows, runs):
    return [rows[row] for run in runs for row in range(run.start, run.end)]


def most_words(words, rows):
    """Longest subsequence of the words that is a subsequence of the rows, by trying all."""
    for size in range(len(words), 0, -1):
        for kept in combinations(words, size):
            remaining = iter(rows)
            if all(word in remaining for word in kept):
                return size
    return 0


@given(st.lists(st.sampled_from("abc"), max_size=6), st.lists(st.sampled_from("abcS"), max_size=9))
def test_as_many_words_as_possible_in_order(words, rows):
    runs = cover(words, rows)
    assert all(left.end <= right.start for left, right in pairwise(runs))
    found = spelled(rows, runs)
    remaining = iter(words)
    assert all(word in remaining for word in found), "spells something that is not among the words in this order"
    assert len(found) == most_words(words, rows)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12), st.data())
def test_a_contiguous_span_is_taken_whole(rows, data):
    start = data.draw(st.integers(0, len(rows) - 1))
    end = data.draw(st.integers(start + 1, len(rows)))
    runs = cover(rows[start:end], rows)
    assert len(runs) == 1
    assert spelled(rows, runs) == rows[start:end]
    assert runs[0].start >= start
