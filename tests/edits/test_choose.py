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
from urewrite.edits.grid import EditType, lay_out
from urewrite.edits.regions import find_rectangles
from urewrite.edits.repeats import without_repeats


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
    chosen = settle(axes, candidates(probabilities, thresholds.cell), thresholds)
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
def test_a_certain_grid_is_decoded_as_it_is_but_for_repeats(dialogue, data):
    axes = lay_out(dialogue)
    grid = data.draw(arrays.arrays(np.int8, axes.shape, elements=st.integers(0, 2)))
    certain = np.stack([(grid == edit_type).astype(float) for edit_type in range(3)])
    found = without_repeats(axes, find_rectangles(grid))
    expected = apply_edits(dialogue, edits_of(axes, found))
    assert decode_probabilities(axes, certain, Thresholds()).text == expected.text


@pytest.mark.parametrize("cell", [0.3, 0.5])
def test_no_history_changes_nothing(cell):
    axes = lay_out(Dialogue.of([], "why ?"))
    assert not decode_probabilities(axes, np.zeros((3, *axes.shape)), Thresholds(cell=cell)).changed
