from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edits.dialogues import awkward_dialogues
from urewrite.dialogue import Dialogue
from urewrite.edits.grid import SEPARATOR, ConnectionWords, EditType, lay_out
from urewrite.edits.regions import Rectangle, find_rectangles
from urewrite.edits.signs import without_signs_alone

AXES = lay_out(Dialogue.of(["Oslo , Norway .", "🙂"], "where ?"), ConnectionWords(("of", ",")))
# of , [S] Oslo , Norway . [S] 🙂
OF, LISTED_COMMA, CITY, COMMA, FULL_STOP, FACE = (0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (8, 9)


def region(rows, column=1, kind=EditType.INSERT):
    return Rectangle(kind, *rows, column, column + 1, 0.9)


def test_signs_alone_are_not_copied():
    for rows in (COMMA, LISTED_COMMA, FULL_STOP, (6, 8)):
        for kind in (EditType.INSERT, EditType.SUBSTITUTE):
            assert without_signs_alone(AXES, [region(rows, kind=kind)]) == []
    assert without_signs_alone(AXES, [region(COMMA), region(FULL_STOP)]) == []


def test_signs_beside_words_are():
    for given_regions in ([region(LISTED_COMMA), region(CITY)], [region((3, 7))], [region(OF)], [region(FACE)]):
        assert without_signs_alone(AXES, given_regions) == given_regions


def test_words_for_another_place_or_kind_of_edit_do_not_count():
    word = region(CITY)
    assert without_signs_alone(AXES, [region(COMMA, column=2), word]) == [word]
    assert without_signs_alone(AXES, [region(COMMA, kind=EditType.SUBSTITUTE), word]) == [word]


@given(awkward_dialogues(), st.integers(0, 2**32 - 1))
def test_every_place_that_is_left_gets_a_word(dialogue, seed):
    axes = lay_out(dialogue, ConnectionWords(("of", ","), ("'s",)))
    found = find_rectangles(np.random.default_rng(seed).integers(0, 3, axes.shape, dtype=np.int8))
    kept = without_signs_alone(axes, found)
    assert [one for one in found if one in kept] == kept
    assert without_signs_alone(axes, kept) == kept
    for one in set(found) - set(kept):
        copied = {key for key in axes.row_keys[one.top : one.bottom] if key != SEPARATOR}
        assert not any(character.isalnum() for key in copied for character in key)
