from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits.dialogues import awkward_dialogues, reachable_examples
from urewrite.corpora import load_corpus
from urewrite.corpora.connection import corpus_connection_words
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.apply import apply_edits, decode, edits_of
from urewrite.edits.grid import ConnectionWords, EditType, lay_out
from urewrite.edits.regions import find_rectangles
from urewrite.edits.supervise import aligned_grid, supervise
from urewrite.rewrite import Origin
from urewrite.tokens import tokenize

WORDS = ConnectionWords(("of", "about", "in", "addition", "to", "和"), ("'s", "的"))


def edits_for(history, utterance, rewrite, words=None):
    """The edits of the gold grid as (removed text, copied texts)."""
    supervision = supervise(Example(Dialogue.of(history, utterance), rewrite), words)
    assert supervision.exact
    result = decode(supervision.axes, supervision.grid)
    assert tokenize(result.text).keys == tokenize(rewrite).keys
    return [(edit.op, utterance[edit.start : edit.end].strip(), edit.text) for edit in result.edits]


def test_table_1_of_the_paper():
    example = Example(Dialogue.of(["北京今天天气如何", "北京今天是阴天"], "为什么总是这样"), "北京为什么总是阴天")
    supervision = supervise(example)
    expected = supervision.axes.empty_grid()
    expected[9:11, 0] = EditType.INSERT  # the 北京 nearest to the utterance
    expected[14:16, 5:7] = EditType.SUBSTITUTE
    assert np.array_equal(supervision.grid, expected)
    assert np.array_equal(aligned_grid(supervision.axes, tokenize(example.rewrite).keys), expected)


@pytest.mark.parametrize(
    ("history", "utterance", "rewrite", "expected"),
    [
        (["a b"], "x y", "x y", []),
        # coreference, ellipsis, both
        (["Who is Kobe?"], "when was he born?", "when was Kobe born?", [("substitute", "he", "Kobe")]),
        (["in Beijing"], "and today?", "and today in Beijing?", [("insert", "", "in Beijing")]),
        # several spans at one place
        (
            ["Ann and the tall Bob"],
            "are they here",
            "are Ann Bob here",
            [("substitute", "they", "Ann"), ("substitute", "they", "Bob")],
        ),
        # running positions: the second "it" is the one that changes
        (["the cat"], "it said it slept", "it said the cat slept", [("substitute", "it", "the cat")]),
        # a word removed without counterpart goes with a neighbour that the history holds
        (["the address please"], "what their address", "what address", [("substitute", "their address", "address")]),
        # spans whose order is not that of the history need more than one place
        (["Bob", "Ann"], "he left", "Ann Bob left", [("substitute", "he", "Ann"), ("insert", "", "Bob")]),
    ],
)
def test_edits(history, utterance, rewrite, expected):
    assert edits_for(history, utterance, rewrite) == expected


@pytest.mark.parametrize(
    ("history", "utterance", "rewrite", "expected"),
    [
        (
            ["Kobe Bryant"],
            "what is his wife name",
            "what is Kobe Bryant's wife name",
            [("substitute", "his", "Kobe Bryant"), ("substitute", "his", "'s")],
        ),
        (["Kobe"], "the wife ?", "the wife of Kobe ?", [("insert", "", "of"), ("insert", "", "Kobe")]),
        (
            ["the Lakers"],
            "anything else ?",
            "anything else in addition to the Lakers ?",
            [("insert", "", word) for word in ("in", "addition", "to", "the Lakers")],
        ),
        (["小明"], "妈妈是谁", "小明的妈妈是谁", [("insert", "", "小明"), ("insert", "", "的")]),
    ],
)
def test_connection_words(history, utterance, rewrite, expected):
    assert edits_for(history, utterance, rewrite, WORDS) == expected


def test_without_search_the_alignment_stands_alone():
    example = Example(Dialogue.of(["Bob", "Ann"], "he left"), "Ann Bob left")
    assert supervise(example).exact
    alone = supervise(example, search=False)
    assert not alone.exact
    assert np.array_equal(alone.grid, aligned_grid(alone.axes, tokenize(example.rewrite).keys))


def test_what_is_out_of_reach_is_labelled_as_far_as_possible():
    supervision = supervise(Example(Dialogue.of(["Kobe Bryant"], "when was he born"), "when was Kobe Smith born"))
    assert not supervision.exact
    assert str(decode(supervision.axes, supervision.grid)) == "when was Kobe born"


@settings(max_examples=400)
@given(reachable_examples())
def test_what_was_made_by_edits_is_made_again(made):
    supervision = supervise(made.example)
    assert supervision.exact
    assert decode(supervision.axes, supervision.grid).text.lower() == made.example.rewrite.lower()


@given(reachable_examples())
def test_an_unchanged_rewrite_has_an_empty_grid(made):
    dialogue = made.example.dialogue
    assert not supervise(Example(dialogue, dialogue.utterance)).grid.any()


def check_provenance(dialogue, words, rewrite):
    """Every character of the output is where its piece says it is, and the pieces cover the output exactly."""
    listed = {*words.leading, *words.trailing}
    position = 0
    for piece in rewrite.pieces:
        assert piece.start == position < piece.end
        position = piece.end
        text = rewrite.text[piece.start : piece.end]
        if piece.origin is Origin.UTTERANCE:
            assert dialogue.utterance[piece.source_start : piece.source_end] == text
        elif piece.origin is Origin.HISTORY:
            assert dialogue.history[piece.source_turn].text[piece.source_start : piece.source_end] == text
        elif piece.origin is Origin.CONNECTION:
            assert text in listed
        else:
            assert text == " "
    assert position == len(rewrite.text)
    kept = [piece for piece in rewrite.pieces if piece.origin is Origin.UTTERANCE]
    assert all(left.source_end <= right.source_start for left, right in itertools.pairwise(kept))


@settings(max_examples=300)
@given(awkward_dialogues(), st.data())
def test_any_grid_decodes_to_traced_words(dialogue, data):
    axes = lay_out(dialogue, WORDS)
    rows, columns = axes.shape
    grid = axes.empty_grid()
    for _ in range(data.draw(st.integers(0, 5))):
        top, left = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
        bottom, right = data.draw(st.integers(top + 1, rows)), data.draw(st.integers(left + 1, columns))
        grid[top:bottom, left:right] = data.draw(st.sampled_from([1, 2]))
    rewrite = decode(axes, grid)
    check_provenance(dialogue, WORDS, rewrite)
    assert rewrite.text.strip()
    assert apply_edits(dialogue, edits_of(axes, find_rectangles(grid))) == rewrite
    assert reapplied(dialogue.utterance, rewrite.edits) == rewrite.text


def reapplied(utterance, edits):
    """What the documentation of `Edit` promises, by plain string operations from right to left."""
    text = utterance
    by_place: dict[tuple[int, int], str] = {}
    for edit in edits:
        by_place[edit.start, edit.end] = by_place.get((edit.start, edit.end), "") + edit.before + edit.text + edit.after
    for (start, end), new in reversed(by_place.items()):
        text = text[:start] + new + text[end:]
    return text


@given(awkward_dialogues())
def test_no_edit_leaves_every_byte(dialogue):
    axes = lay_out(dialogue, WORDS)
    rewrite = decode(axes, axes.empty_grid())
    assert rewrite.text == dialogue.utterance
    assert rewrite.edits == ()


@settings(max_examples=300)
@given(awkward_dialogues(), awkward_dialogues())
def test_exact_means_exact_on_any_text(dialogue, other):
    supervision = supervise(Example(dialogue, other.utterance), WORDS)
    decoded = decode(supervision.axes, supervision.grid)
    check_provenance(dialogue, WORDS, decoded)
    assert supervision.exact == (tokenize(decoded.text).keys == tokenize(other.utterance).keys)


def test_blanks_are_right_on_real_texts(corpora_dir):
    """Where the words are right, so is the text, but for users who write ` ?` and the like."""
    words, _ = corpus_connection_words("canard", mirror=corpora_dir)
    compared = equal = 0
    for example in load_corpus("canard", "validation", mirror=corpora_dir)[:800]:
        supervision = supervise(example, words)
        decoded = decode(supervision.axes, supervision.grid)
        if supervision.exact and decoded.changed:
            compared += 1
            equal += " ".join(decoded.text.lower().split()) == " ".join(example.rewrite.lower().split())
    assert compared > 300
    assert equal / compared > 0.97
