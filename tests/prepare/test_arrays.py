from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edits.dialogues import awkward_dialogues
from urewrite.dialogue import Dialogue
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.prepare import MULTIPLE, Prepared, Vocabulary, collate, in_batches
from urewrite.prepare.arrays import NOWHERE, PADDING, matching_cells, padded

WORDS = ConnectionWords(("of", "北"), ("'s",))

few_words = st.lists(st.sampled_from(["a", "b", "B", "c", "'s", "北"]), min_size=1, max_size=6).map(" ".join)
dialogues = awkward_dialogues() | st.builds(Dialogue.of, st.lists(few_words, max_size=3), few_words)
batches = st.lists(dialogues.map(lambda dialogue: lay_out(dialogue, WORDS)), min_size=1, max_size=4)


@given(dialogues, st.sampled_from([None, WORDS]))
def test_the_matching_cells_are_those_whose_words_are_the_same(dialogue, words):
    axes = lay_out(dialogue, words)
    rows, columns = matching_cells(axes)
    expected = [
        (row, column)
        for row, context in enumerate(axes.row_keys)
        for column, word in enumerate(axes.column_keys)
        if context == word
    ]
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == expected


def check_sizes(arrays, prepared):
    """Multiples of four, none of which could be smaller."""
    tallest, widest = (max(item.shape[axis] for item in prepared) for axis in (0, 1))
    for size, needed in zip(arrays.match.shape[1:], (tallest, widest), strict=True):
        assert size % MULTIPLE == 0
        assert needed <= size
        assert size == MULTIPLE or size < needed + MULTIPLE
    assert arrays.ids.shape == (len(prepared), max(len(item.ids) for item in prepared))
    assert list(zip(arrays.heights.tolist(), arrays.widths.tolist(), strict=True)) == [item.shape for item in prepared]


@given(batches)
def test_a_batch_holds_its_dialogues_and_nothing_else(axes):
    vocabulary = Vocabulary.of(axes)
    prepared = [vocabulary.prepare(one) for one in axes]
    arrays = collate(prepared)
    check_sizes(arrays, prepared)
    assert arrays.owners is None
    for index, (one, item) in enumerate(zip(axes, prepared, strict=True)):
        assert arrays.ids[index, : len(item.ids)].tolist() == item.ids.tolist()
        assert (arrays.ids[index, len(item.ids) :] == PADDING).all()
        same = np.zeros(arrays.match.shape[1:])
        same[: one.shape[0], : one.shape[1]] = np.equal.outer(
            np.array(one.row_keys, dtype=object), np.array(one.column_keys, dtype=object)
        )
        assert np.array_equal(arrays.match[index], same)


@given(st.lists(st.lists(st.integers(-1, 8), min_size=1, max_size=12), min_size=1, max_size=4))
def test_owners_keep_their_place_and_padding_has_none(lists):
    nothing = np.zeros(0, dtype=np.int32)
    prepared = [
        Prepared(np.arange(1, len(owners) + 1), np.array(owners), (5, 4), (nothing, nothing)) for owners in lists
    ]
    arrays = collate(prepared)
    check_sizes(arrays, prepared)
    assert arrays.ids.shape == arrays.owners.shape
    for ids, owners, given_owners in zip(arrays.ids, arrays.owners, lists, strict=True):
        assert owners.tolist() == given_owners + [NOWHERE] * (len(owners) - len(given_owners))
        assert np.array_equal(ids == PADDING, owners == NOWHERE)


@given(shapes=st.lists(st.tuples(st.integers(0, 120), st.integers(1, 40)), max_size=60), most=st.integers(1, 16))
def test_grids_are_batched_once_each_with_little_padding(shapes, most):
    batches = in_batches(shapes, most)
    assert sorted(position for batch in batches for position in batch) == list(range(len(shapes)))
    assert all(len(batch) <= most for batch in batches)
    for batch in batches:
        sizes = [(padded(shapes[position][0]), padded(shapes[position][1])) for position in batch]
        computed = len(batch) * max(rows for rows, _ in sizes) * max(columns for _, columns in sizes)
        assert computed <= 1.15 * sum(rows * columns for rows, columns in sizes)


def test_grids_of_one_size_fill_their_batches():
    assert [len(batch) for batch in in_batches([(20, 8)] * 150, 64)] == [64, 64, 22]
