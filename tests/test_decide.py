"""Reasons, thresholds and confidence, on probabilities written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite.bundle import ModelConfig
from urewrite.decide import Wish, calibrated, certainty, decide, protected
from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Thresholds
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.edits.regions import find_rectangles
from urewrite.pipeline import Judged

CONFIG = ModelConfig("made", ConnectionWords(), 300, {}, thresholds=Thresholds(0.5, 0.7, 0.7))
AXES = lay_out(Dialogue.of(["Kobe left", "why"], "he did"))  # rows Kobe, left, [S], why; columns he, did, [E]


def judged(*cells: tuple[int, int, int, float]) -> Judged:
    """Cells as (edit type, row, column, probability); all others are none with certainty 0.99."""
    likely = np.full((3, *AXES.shape), 0.005, dtype=np.float32)
    likely[0] = 0.99
    for edit_type, row, column, probability in cells:
        likely[:, row, column] = (1 - probability) / 2
        likely[edit_type, row, column] = probability
    return Judged(AXES, likely)


SURE, UNSURE, SELF = judged((1, 0, 0, 0.9)), judged((1, 0, 0, 0.6)), judged()


@pytest.mark.parametrize(
    ("given", "wish", "text", "reason"),
    [
        (SURE, Wish(), "Kobe did", "rewritten"),
        (UNSURE, Wish(), "he did", "low_confidence"),
        (UNSURE, Wish(mode="always"), "Kobe did", "rewritten"),
        (UNSURE, Wish(threshold=0.55), "Kobe did", "rewritten"),
        (SURE, Wish(threshold=0.95), "he did", "low_confidence"),
        (SELF, Wish(mode="always"), "he did", "self_contained"),
        (SURE, Wish(protect=protected(["HE"])), "he did", "self_contained"),
        (judged((2, 0, 2, 0.9)), Wish(protect=protected(["he", "did"])), "he did Kobe", "rewritten"),
    ],
)
def test_texts_and_reasons(given, wish, text, reason):
    result = decide(CONFIG, given, wish)
    assert (result.text, result.reason) == (text, reason)
    assert (result.model, result.turns_used, result.grid) == ("made", 2, None)
    assert (result.edits == ()) == (text == "he did")


def test_what_is_left_out_for_protected_words_is_said():
    assert decide(CONFIG, SURE, Wish()).notes == ()
    (note,) = decide(CONFIG, SURE, Wish(protect=protected(["he"]))).notes
    assert "protected words" in note


def test_always_makes_every_edit_that_was_found():
    config = replace(CONFIG, thresholds=Thresholds(0.5, 0.7, 0.7, further=1.0))
    rivals = judged((2, 0, 2, 0.9), (2, 3, 2, 0.6))
    assert decide(config, rivals, Wish()).text == "he did Kobe"
    assert decide(config, rivals, Wish(mode="always")).text == "he did Kobe why"


def test_a_word_replaced_by_itself_is_no_edit():
    axes = lay_out(Dialogue.of(["did"], "he did"))
    likely = np.zeros((3, *axes.shape), dtype=np.float32)
    likely[0] = 1
    likely[:, 0, 1] = 0, 1, 0
    result = decide(CONFIG, Judged(axes, likely), Wish())
    assert (result.text, result.reason, result.edits) == ("he did", "self_contained", ())


def test_certainty_is_the_joint_probability_of_what_was_decided():
    rectangles = find_rectangles(np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], dtype=np.int8))
    others = 11 * np.log(0.99)
    assert certainty(SURE.probabilities, rectangles) == pytest.approx(np.log(0.9) + others, abs=1e-4)
    assert certainty(SURE.probabilities, []) == pytest.approx(np.log(0.05) + others, abs=1e-4)
    impossible = np.zeros((3, 1, 1))
    assert np.isfinite(certainty(impossible, []))


def test_confidence_is_read_off_the_table():
    assert calibrated(CONFIG, -1) is None
    table = replace(CONFIG, calibration=((-4.0, 0.2), (-2.0, 0.6), (-1.0, 0.9)))
    assert [calibrated(table, one) for one in (-9, -4, -3, -1, 0)] == pytest.approx([0.2, 0.2, 0.4, 0.9, 0.9])
    assert decide(table, SURE, Wish()).confidence == pytest.approx(0.9)


@given(
    st.lists(st.tuples(st.integers(-5000, 0), st.floats(0, 1)), min_size=1, unique_by=lambda point: point[0]),
    st.floats(-60, 10),
)
def test_between_the_points_of_the_table_lies_a_line(points, certain):
    curve = tuple(sorted((sure / 100, right) for sure, right in points))
    table = replace(CONFIG, calibration=curve)
    assert calibrated(table, certain) == pytest.approx(np.interp(certain, *np.array(curve).T), abs=1e-9)
    assert np.isnan(calibrated(table, float("nan")))


def test_the_grid_is_kept_on_demand():
    grid = decide(CONFIG, SURE, Wish(keep_grid=True)).grid
    assert grid is not None
    assert grid.rows == ("Kobe", "left", "[S]", "why")
    assert grid.columns == ("he", "did", "[E]")
    assert grid.row_turns == (0, 0, None, 1)
    assert grid.probabilities.shape == (3, 4, 3)
    ((op, top, bottom, left, right, score, made),) = grid.regions
    assert (op, top, bottom, left, right, made) == ("substitute", 0, 1, 0, 1, True)
    assert score == pytest.approx(0.9)
    dropped = decide(CONFIG, UNSURE, Wish(keep_grid=True)).grid
    assert dropped is not None
    assert not dropped.regions[0].made
