from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from edits.dialogues import awkward_dialogues
from urewrite.dialogue import Dialogue
from urewrite.edits.grid import ConnectionWords, EditType, lay_out
from urewrite.edits.regions import Rectangle, find_rectangles
from urewrite.edits.repeats import without_repeats

AXES = lay_out(Dialogue.of(["the old wok", "of the old wok"], "where ?"), ConnectionWords(("of", "in")))
# of in [S] the old wok [S] of the old wok
OF, IN, FIRST, SECOND, WITH_OF = (0, 1), (1, 2), (3, 6), (8, 11), (7, 11)


def region(rows, column=1, score=0.9, kind=EditType.INSERT):
    return Rectangle(kind, *rows, column, column + 1, score)


def test_what_two_turns_say_comes_from_the_surer_one():
    first, second = region(FIRST, score=0.8), region(SECOND)
    assert without_repeats(AXES, [first, second]) == [second]
    assert without_repeats(AXES, [second, first]) == [second]


def test_the_surer_one_of_a_span_and_a_part_of_it_stays():
    assert without_repeats(AXES, [region(FIRST, score=0.8), region((9, 11))]) == [region((9, 11))]
    assert without_repeats(AXES, [region(FIRST), region((9, 11), score=0.8)]) == [region(FIRST)]


def test_a_connection_word_gives_way_to_a_span_that_brings_it():
    given = [region(OF), region(WITH_OF, score=0.5)]
    assert without_repeats(AXES, given) == given[1:]
    joined = [region(OF), region(FIRST)]
    assert without_repeats(AXES, joined) == joined


def test_other_places_and_other_kinds_of_edit_are_left():
    for other in (region(SECOND, column=0), region(SECOND, kind=EditType.SUBSTITUTE), region(IN)):
        assert without_repeats(AXES, [region(FIRST), other]) == [region(FIRST), other]


@given(awkward_dialogues(), st.integers(0, 2**32 - 1))
def test_only_repeats_are_taken_out(dialogue, seed):
    axes = lay_out(dialogue, ConnectionWords(("of",), ("'s",)))
    grid = np.random.default_rng(seed).integers(0, 3, axes.shape).astype(np.int8)
    found = find_rectangles(grid)
    kept = without_repeats(axes, found)
    assert [one for one in found if one in kept] == kept
    assert bool(found) == bool(kept)
    assert without_repeats(axes, kept) == kept
