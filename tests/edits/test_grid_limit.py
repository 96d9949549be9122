"""Axes of a limited number of rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edits.dialogues import awkward_text, reachable_examples
from edits.test_supervise import WORDS, check_provenance, reapplied
from urewrite.dialogue import Dialogue
from urewrite.edits.apply import decode
from urewrite.edits.grid import SEPARATOR, ConnectionWords, lay_out
from urewrite.edits.supervise import supervise
from urewrite.tokens import tokenize

letters = st.lists(st.sampled_from("abc"), max_size=9).map(" ".join)
dialogues = st.builds(
    Dialogue.of,
    st.lists(letters | awkward_text, max_size=6),
    awkward_text.filter(lambda text: text.strip()),
)
connections = st.sampled_from([None, WORDS, ConnectionWords(("of",)), ConnectionWords((), ("'s",))])


def taken_by(words):
    """The rows of connection words, each list with a separator."""
    return sum(len(listed) + 1 for listed in (words.leading, words.trailing) if listed) if words else 0


@st.composite
def limited(draw):
    """A dialogue, connection words, and a limit that leaves at least a row for what is said."""
    words = draw(connections)
    return draw(dialogues), words, taken_by(words) + draw(st.integers(1, 40))


@given(limited())
def test_there_are_never_more_rows_than_asked_for(given_limit):
    dialogue, words, most_rows = given_limit
    axes = lay_out(dialogue, words, most_rows=most_rows)
    assert axes.shape[0] <= most_rows
    assert axes.column_keys == lay_out(dialogue, words).column_keys


@given(limited())
def test_the_latest_turns_are_kept_whole_and_as_many_as_fit(given_limit):
    dialogue, words, most_rows = given_limit
    turns = [(place, tokenize(turn.text)) for place, turn in enumerate(dialogue.history) if len(tokenize(turn.text))]
    room = most_rows - taken_by(words)
    amounts = [n for n in range(1, len(turns) + 1) if sum(len(tokens) + 1 for _, tokens in turns[-n:]) - 1 <= room]
    cut = [(place, tokens.first(room)) for place, tokens in turns[-1:]]
    expected = turns[-max(amounts) :] if amounts else cut
    sources = lay_out(dialogue, words, most_rows=most_rows).sources
    assert [(source.turn, source.tokens) for source in sources if source.turn is not None] == expected


@given(limited())
def test_rows_and_sources_agree(given_limit):
    dialogue, words, most_rows = given_limit
    axes = lay_out(dialogue, words, most_rows=most_rows)
    rows = [SEPARATOR] * axes.shape[0]
    for source in axes.sources:
        rows[source.first_row : source.first_row + len(source.tokens)] = source.tokens.keys
        if source.turn is not None:
            assert source.tokens.text == dialogue.history[source.turn].text
    assert tuple(rows) == axes.row_keys
    assert rows.count(SEPARATOR) == max(len(axes.sources) - 1, 0)


@given(dialogues, connections)
def test_a_limit_that_is_not_reached_changes_nothing(dialogue, words):
    axes = lay_out(dialogue, words)
    assert lay_out(dialogue, words, most_rows=None) == axes
    assert lay_out(dialogue, words, most_rows=max(axes.shape[0], taken_by(words)) + len(dialogue.history)) == axes


@pytest.mark.parametrize(
    ("most_rows", "expected"),
    [
        (7, "a b [S] c d [S] e"),
        (6, "c d [S] e"),
        (4, "c d [S] e"),
        (3, "e"),
        (1, "e"),
    ],
)
def test_the_earliest_turns_go_first(most_rows, expected):
    axes = lay_out(Dialogue.of(["a b", "c d", "e"], "x"), most_rows=most_rows)
    assert " ".join(axes.row_keys) == expected
    assert [source.turn for source in axes.sources] == list(range(3))[-len(axes.sources) :]


def test_an_overlong_turn_is_cut_to_its_start():
    axes = lay_out(Dialogue.of(["a", "b c d e"], "x"), ConnectionWords(("of",), ("'s",)), most_rows=7)
    assert axes.row_keys == ("of", "[S]", "b", "c", "d", "[S]", "'s")
    assert [source.turn for source in axes.sources] == [None, 1, None]


def test_turns_without_words_take_no_room():
    axes = lay_out(Dialogue.of(["a", "b c", "", " ", ""], "x"), most_rows=4)
    assert axes.row_keys == ("a", "[S]", "b", "c")
    assert lay_out(Dialogue.of(["a b c", "", "", "", ""], "x"), most_rows=3).row_keys == ("a", "b", "c")


@given(limited(), st.data())
def test_any_grid_of_limited_rows_decodes_to_traced_words(given_limit, data):
    dialogue, words, most_rows = given_limit
    axes = lay_out(dialogue, words, most_rows=most_rows)
    rows, columns = axes.shape
    grid = axes.empty_grid()
    for _ in range(data.draw(st.integers(0, 5)) if rows else 0):
        top, left = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
        bottom, right = data.draw(st.integers(top + 1, rows)), data.draw(st.integers(left + 1, columns))
        grid[top:bottom, left:right] = data.draw(st.sampled_from([1, 2]))
    rewrite = decode(axes, grid)
    check_provenance(dialogue, words or ConnectionWords(), rewrite)
    assert reapplied(dialogue.utterance, rewrite.edits) == rewrite.text
    kept = {source.turn for source in axes.sources}
    assert {edit.source_turn for edit in rewrite.edits} <= kept


@given(reachable_examples(), st.integers(1, 12))
def test_labels_of_limited_rows_say_truly_whether_they_are_exact(made, most_rows):
    supervision = supervise(made.example, most_rows=most_rows)
    assert supervision.axes == lay_out(made.example.dialogue, most_rows=most_rows)
    decoded = decode(supervision.axes, supervision.grid).text
    assert supervision.exact == (tokenize(decoded).keys == tokenize(made.example.rewrite).keys)
