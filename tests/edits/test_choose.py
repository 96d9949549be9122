from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from edits.dialogues import awkward_dialogues
from urewrite.dialogue import Dialogue
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import Thresholds, candidates, choose, settle
from urewrite.edits.grid import ConnectionWords, EditType, lay_out
from urewrite.edits.joining import with_joining_words
from urewrite.edits.regions import find_rectangles
from urewrite.edits.repeats import without_repeats
from urewrite.edits.rivals import without_rivals
from urewrite.edits.signs import without_signs_alone


def likely(shape, **cells):
    """Probabilities that edit nothing, but for the cells given as `substitute` or `insert`: {(row, column): value}."""
    found = np.zeros((3, *shape))
    found[EditType.NONE] = 1
    for name, values in cells.items():
        for cell, value in values.items():
            found[(EditType[name.upper()], *cell)] = value
            found[(EditType.NONE, *cell)] -= value
    return found


def decode_probabilities(axes, probabilities, thresholds):
    chosen = settle(axes, probabilities, candidates(probabilities, thresholds.cell), thresholds)
    return apply_edits(axes.dialogue, edits_of(axes, chosen))


AXES = lay_out(Dialogue.of(["old town hall"], "where is it ?"))


def test_without_thresholds_the_likelier_half_decides():
    given = likely(AXES.shape, substitute={(1, 2): 0.9, (2, 2): 0.6, (0, 2): 0.4})
    assert str(decode_probabilities(AXES, given, Thresholds())) == "where is town hall ?"


def test_cells_below_the_majority_complete_a_span():
    given = likely(AXES.shape, substitute={(0, 2): 0.4, (1, 2): 0.9, (2, 2): 0.9})
    assert str(decode_probabilities(AXES, given, Thresholds(cell=0.3))) == "where is old town hall ?"


def test_unsure_regions_are_dropped_beside_sure_ones():
    given = likely(AXES.shape, substitute={(1, 2): 0.9, (2, 2): 0.9}, insert={(0, 4): 0.6})
    assert str(decode_probabilities(AXES, given, Thresholds(region=0.7))) == "where is town hall ?"
    assert str(decode_probabilities(AXES, given, Thresholds(region=0.5))) == "where is town hall ? old"


def test_a_lone_region_needs_less():
    given = likely(AXES.shape, substitute={(1, 2): 0.6, (2, 2): 0.6}, insert={(0, 4): 0.5})
    assert str(decode_probabilities(AXES, given, Thresholds(region=0.7, lone=0.55))) == "where is town hall ?"
    assert not decode_probabilities(AXES, given, Thresholds(region=0.7, lone=0.65)).changed


thresholds = st.builds(Thresholds, st.floats(0.2, 0.8), st.floats(0, 1), st.floats(0, 1))


@given(awkward_dialogues(), thresholds, st.data())
def test_what_is_chosen_is_sure_enough(dialogue, wanted, data):
    axes = lay_out(dialogue)
    raw = data.draw(arrays.arrays(np.float64, (3, *axes.shape), elements=st.floats(0.01, 1)))
    probabilities = raw / raw.sum(0)
    found = candidates(probabilities, wanted.cell)
    kept = choose(found, wanted)
    assert set(kept) <= set(found)
    if any(rectangle.score >= wanted.region for rectangle in found):
        assert kept == [rectangle for rectangle in found if rectangle.score >= wanted.region]
    else:
        assert len(kept) <= 1
        assert all(one.score == max(other.score for other in found) >= wanted.lone for one in kept)
    edited = probabilities[1:].sum(0) >= wanted.cell
    assert sum((r.bottom - r.top) * (r.right - r.left) for r in found) >= edited.sum()


@given(awkward_dialogues(), st.data())
def test_a_certain_grid_is_decoded_as_it_is_but_for_repeats_and_signs(dialogue, data):
    axes = lay_out(dialogue)
    grid = data.draw(arrays.arrays(np.int8, axes.shape, elements=st.integers(0, 2)))
    certain = np.stack([(grid == edit_type).astype(float) for edit_type in range(3)])
    found = without_signs_alone(axes, without_repeats(axes, find_rectangles(grid)))
    expected = apply_edits(dialogue, edits_of(axes, found))
    assert decode_probabilities(axes, certain, Thresholds()).text == expected.text


@pytest.mark.parametrize("cell", [0.3, 0.5])
def test_no_history_changes_nothing(cell):
    axes = lay_out(Dialogue.of([], "why ?"))
    assert not decode_probabilities(axes, np.zeros((3, *axes.shape)), Thresholds(cell=cell)).changed


JOINED = lay_out(
    Dialogue.of(["try Meghna", "or Nandos in town"], "what is the phone number ?"), ConnectionWords(("of",))
)
OF, MEGHNA, NANDOS, IN, TOWN, END = 0, 3, 6, 7, 8, 5


def test_of_spans_for_one_place_the_weightiest_stays():
    found = likely(JOINED.shape, insert={(MEGHNA, END): 0.8, (NANDOS, END): 0.7, (IN, END): 0.7, (TOWN, END): 0.7})
    text = "what is the phone number {} ?"
    for further, expected in ((0.0, "Meghna Nandos in town"), (0.85, "Nandos in town"), (1.0, "Nandos in town")):
        assert str(decode_probabilities(JOINED, found, Thresholds(further=further))) == text.format(expected)
    rival = likely(JOINED.shape, insert={(MEGHNA, END): 0.8, (NANDOS, END): 0.7})
    assert str(decode_probabilities(JOINED, rival, Thresholds(further=0.75))) == text.format("Meghna")
    assert str(decode_probabilities(JOINED, rival, Thresholds(further=0.7))) == text.format("Meghna Nandos")


def test_spans_for_other_places_are_no_rivals():
    found = likely(JOINED.shape, insert={(MEGHNA, END): 0.8}, substitute={(NANDOS, 2): 0.7, (NANDOS, 3): 0.7})
    assert str(decode_probabilities(JOINED, found, Thresholds(further=1.0))) == "what is Nandos number Meghna ?"


@pytest.mark.parametrize(("joining", "of"), [(1.0, ""), (0.35, ""), (0.3, "of ")])
def test_beside_a_copied_span_a_connection_word_needs_less(joining, of):
    found = likely(JOINED.shape, insert={(MEGHNA, END): 0.8, (OF, END): 0.3})
    rewrite = decode_probabilities(JOINED, found, Thresholds(joining=joining))
    assert str(rewrite) == f"what is the phone number {of}Meghna ?"
    assert [edit.score for edit in rewrite.edits] == pytest.approx([0.3, 0.8] if of else [0.8])


def test_a_connection_word_does_not_join_what_is_not_there():
    found = likely(JOINED.shape, insert={(OF, END): 0.3, (MEGHNA, 0): 0.8})
    assert str(decode_probabilities(JOINED, found, Thresholds(joining=0.3))) == "Meghna what is the phone number ?"


def test_a_place_has_one_connection_word_at_most_by_joining():
    axes = lay_out(Dialogue.of(["try Meghna"], "what is the number ?"), ConnectionWords(("of", "about"), ("'s",)))
    found = likely(axes.shape, insert={(4, 4): 0.8, (0, 4): 0.3, (1, 4): 0.4, (6, 4): 0.2})
    assert str(decode_probabilities(axes, found, Thresholds(joining=0.1))) == "what is the number about Meghna ?"
    chosen = likely(axes.shape, insert={(4, 4): 0.8, (0, 4): 0.6, (1, 4): 0.4, (6, 4): 0.2})
    assert str(decode_probabilities(axes, chosen, Thresholds(joining=0.1))) == "what is the number of Meghna ?"


@given(awkward_dialogues(), thresholds, st.floats(0.01, 1), st.floats(0, 0.99), st.data())
def test_rivals_and_joining_words_change_no_place(dialogue, wanted, further, joining, data):
    axes = lay_out(dialogue, ConnectionWords(("of", "in"), ("'s",)))
    raw = data.draw(arrays.arrays(np.float64, (3, *axes.shape), elements=st.floats(0.01, 1)))
    probabilities = raw / raw.sum(0)
    found = candidates(probabilities, wanted.cell)
    chosen = choose(found, wanted)
    few = without_rivals(axes, chosen, further)
    joined = with_joining_words(axes, probabilities, few, joining)

    def places(regions):
        return {(one.edit_type, one.left) for one in regions}

    assert places(joined) == places(few) == places(chosen)
    assert joined[: len(few)] == few
    added = joined[len(few) :]
    assert all(axes.is_listed(one.top) and one.score >= joining for one in added)
    assert len(places(added)) == len(added)
    assert apply_edits(dialogue, edits_of(axes, joined)).utterance == dialogue.utterance
