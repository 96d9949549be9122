from __future__ import annotations

import numpy as np
from hypothesis import given

from edits.dialogues import reachable_examples
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.grid import ConnectionWords, EditType
from urewrite.edits.occurrences import decode_once, mark_every_occurrence
from urewrite.edits.supervise import supervise
from urewrite.tokens import tokenize

WORDS = ConnectionWords(("of",))


def marked(history, utterance, rewrite):
    """The rows of each column that are marked, in both grids."""
    found = supervise(Example(Dialogue.of(history, utterance), rewrite), WORDS)
    everywhere = mark_every_occurrence(found.axes, found.grid)
    assert decode_once(found.axes, everywhere).lower() == rewrite.lower()
    return found.axes, found.grid, everywhere


def test_a_span_is_marked_in_every_turn_that_holds_it():
    axes, once, everywhere = marked(
        ["the old wok is cheap", "I like The Old Wok"], "where is it ?", "where is the old wok ?"
    )
    column = axes.column_keys.index("it")
    rows = [row for row, key in enumerate(axes.row_keys) if key in ("the", "old", "wok")]
    assert np.flatnonzero(once[:, column]).tolist() == rows[3:]
    assert np.flatnonzero(everywhere[:, column]).tolist() == rows
    assert (everywhere[rows, column] == EditType.SUBSTITUTE).all()
    assert not np.delete(everywhere, column, axis=1).any()


def test_a_connection_word_stays_beside_every_occurrence():
    history = ["I like the old wok", "the old wok is cheap"]
    axes, once, everywhere = marked(history, "the address ?", "the address of the old wok ?")
    column = axes.column_keys.index("?")
    assert [axes.row_keys[row] for row in np.flatnonzero(once[:, column])] == ["of", "the", "old", "wok"]
    spelled = [axes.row_keys[row] for row in np.flatnonzero(everywhere[:, column])]
    assert spelled == ["of", "the", "old", "wok", "the", "old", "wok"]


def test_several_spans_for_one_place_stay_where_they_are():
    """Taken from other turns they could come out in another order."""
    history = ["beta then alpha", "alpha , beta"]
    _, once, everywhere = marked(history, "what of it ?", "what of alpha beta ?")
    assert (once == everywhere).all()


@given(reachable_examples())
def test_a_grid_marked_everywhere_says_the_same(made):
    found = supervise(made.example)
    everywhere = mark_every_occurrence(found.axes, found.grid)
    assert (everywhere[found.grid > 0] == found.grid[found.grid > 0]).all()
    said, before = (tokenize(decode_once(found.axes, grid)).keys for grid in (everywhere, found.grid))
    assert said == before
