from __future__ import annotations

import numpy as np
import pytest

from urewrite.dialogue import Dialogue
from urewrite.edits.apply import apply_edits, decode, edits_of
from urewrite.edits.grid import END, SEPARATOR, ConnectionWords, EditType, lay_out
from urewrite.edits.regions import Rectangle
from urewrite.errors import BadInputError
from urewrite.rewrite import Edit, Origin

INSERT, SUBSTITUTE = EditType.INSERT, EditType.SUBSTITUTE


def painted(history, utterance, cells, words=None):
    """The decode of a grid in which the given (type, row words, column words) rectangles are painted.

    Rows are named by the words they hold, from the last place where they stand in a row; columns likewise (a column
    range of one word for insertions).
    """
    axes = lay_out(Dialogue.of(history, utterance), words)
    grid = axes.empty_grid()
    for edit_type, row_words, column_words in cells:
        grid[find(axes.row_keys, row_words), find(axes.column_keys, column_words)] = edit_type
    return decode(axes, grid)


def find(keys, words):
    words = tuple(words.split(" ")) if isinstance(words, str) else words
    for start in range(len(keys) - len(words), -1, -1):
        if keys[start : start + len(words)] == words:
            return slice(start, start + len(words))
    raise AssertionError(f"{words} not in {keys}")


def test_axes_of_the_papers_dialogue():
    axes = lay_out(
        Dialogue.of(["北京今天天气如何", "北京今天是阴天"], "为什么总是这样"), ConnectionWords(("和",), ("的", "是"))
    )
    assert axes.row_keys == ("和", SEPARATOR, *"北京今天天气如何", SEPARATOR, *"北京今天是阴天", SEPARATOR, "的", "是")
    assert axes.column_keys == (*"为什么总是这样", END)
    assert axes.empty_grid().shape == axes.shape == (21, 8)


def test_empty_turns_have_no_rows():
    axes = lay_out(Dialogue.of(["", "a", "  ", "b"], "c"))
    assert axes.row_keys == ("a", SEPARATOR, "b")
    assert [source.turn for source in axes.sources] == [1, 3]


def test_table_1_of_the_paper():
    rewrite = painted(
        ["北京今天天气如何", "北京今天是阴天"],
        "为什么总是这样",
        [(INSERT, "北 京", "为"), (SUBSTITUTE, "阴 天", "这 样")],
    )
    assert str(rewrite) == "北京为什么总是阴天"
    assert [(edit.op, edit.start, edit.end, edit.text, edit.source_turn) for edit in rewrite.edits] == [
        ("insert", 0, 0, "北京", 1),
        ("substitute", 5, 7, "阴天", 1),
    ]


def test_figure_1_of_the_paper():
    """x2-x3 replaced by c2-c4; c6, c7, c9, c10 inserted before x7."""
    context = " ".join(f"c{number}" for number in range(1, 11))
    utterance = " ".join(f"x{number}" for number in range(1, 9))
    axes = lay_out(Dialogue.of([context], utterance))
    grid = axes.empty_grid()
    grid[1:4, 1:3] = SUBSTITUTE
    grid[[5, 6, 8, 9], 6] = INSERT
    assert str(decode(axes, grid)) == "x1 c2 c3 c4 x4 x5 x6 c6 c7 c9 c10 x7 x8"


@pytest.mark.parametrize(
    ("history", "utterance", "cells", "expected"),
    [
        # blanks and spelling are the user's own
        (
            ["Who is Kobe Bryant?"],
            "Where  did HE go?",
            [(SUBSTITUTE, "kobe bryant", "he")],
            "Where  did Kobe Bryant go?",
        ),
        (["in Beijing"], "Why ?", [(INSERT, "in beijing", "?")], "Why in Beijing ?"),
        (["in Beijing"], "Why?", [(INSERT, "in beijing", "?")], "Why in Beijing?"),
        (["Kobe"], "how old is", [(INSERT, "kobe", (END,))], "how old is Kobe"),
        (["Kobe"], "is old?", [(INSERT, "kobe", "is")], "Kobe is old?"),
        (["Kobe"], " (he) ", [(SUBSTITUTE, "kobe", "he")], " (Kobe) "),
        (["Kobe"], "it's", [(SUBSTITUTE, "kobe", "it")], "Kobe's"),
        (["NBA"], "that-based", [(SUBSTITUTE, "nba", "that")], "NBA-based"),
        (["Thriller"], 'Who wrote "it"?', [(SUBSTITUTE, "thriller", "it")], 'Who wrote "Thriller"?'),
        (
            ["the Jones report"],
            "'it' is what?",
            [(SUBSTITUTE, "the jones report", "it")],
            "'the Jones report' is what?",
        ),
        (["by Jackson"], 'Who wrote "Thriller"?', [(INSERT, "by jackson", "?")], 'Who wrote "Thriller" by Jackson?'),
        (["big"], 'the "Thriller"', [(INSERT, "big", "thriller")], 'the "big Thriller"'),
        (['He sang "Love Me" twice'], "when", [(INSERT, '" love me "', (END,))], 'when "Love Me"'),
        (['He sang "Love Me" twice'], "when?", [(INSERT, '" love me "', "?")], 'when "Love Me"?'),
        (["a re-run of it"], "when does it run", [(INSERT, "re -", "run")], "when does it re-run"),
        (["Kobe"], "he did n't go", [(SUBSTITUTE, "kobe", "did")], "he Kobe n't go"),
        # Chinese takes no blanks, whatever is copied
        (["iphonex好不好"], "为什么不好用", [(INSERT, "iphonex", "为")], "iphonex为什么不好用"),
        (["iPhone X 好吗"], "它贵吗", [(SUBSTITUTE, "iphone x", "它")], "iPhone X贵吗"),
        # the end of a copied sentence is not the end of ours
        (["Beijing is cloudy."], "Why this?", [(SUBSTITUTE, "cloudy .", "this")], "Why cloudy?"),
        (["Beijing is cloudy."], "Why this", [(SUBSTITUTE, "cloudy .", "this")], "Why cloudy."),
        (["北京是阴天。"], "这样怎么办", [(SUBSTITUTE, "阴 天 。", "这 样")], "阴天怎么办"),
        # spans of one place follow the dialogue; none is lost
        (["Ann met Bob"], "and they", [(SUBSTITUTE, "ann", "they"), (SUBSTITUTE, "bob", "they")], "and Ann Bob"),
        (["Ann", "Bob"], "when", [(INSERT, "ann", (END,)), (INSERT, "bob", (END,))], "when Ann Bob"),
        # edits at several places do not shift one another
        (
            ["Ann likes green tea"],
            "does she like it a lot",
            [(SUBSTITUTE, "ann", "she"), (SUBSTITUTE, "green tea", "it")],
            "does Ann like green tea a lot",
        ),
        # insertion and substitution that touch
        (
            ["on Monday", "Ann"],
            "then she ?",
            [(INSERT, "on monday", "she"), (SUBSTITUTE, "ann", "she")],
            "then on Monday Ann ?",
        ),
        (
            ["Ann", "on Monday"],
            "then she ?",
            [(SUBSTITUTE, "ann", "she"), (INSERT, "on monday", "?")],
            "then Ann on Monday ?",
        ),
        (["Ann Bob"], "a b", [(SUBSTITUTE, "ann", "a"), (SUBSTITUTE, "bob", "b")], "Ann Bob"),
        # an insertion inside a substituted range moves to its start
        (["Ann Bob"], "a b c d", [(SUBSTITUTE, "ann", "a b c"), (INSERT, "bob", "b")], "Bob Ann d"),
    ],
)
def test_text(history, utterance, cells, expected):
    assert str(painted(history, utterance, cells)) == expected


def test_connection_words_lead_and_trail():
    words = ConnectionWords(("of", "about"), ("'s",))
    history = ["Who is Kobe Bryant?"]
    rewrite = painted(history, "the wife ?", [(INSERT, "of", "?"), (INSERT, "kobe bryant", "?")], words)
    assert str(rewrite) == "the wife of Kobe Bryant ?"
    assert [edit.source_turn for edit in rewrite.edits] == [None, 0]
    rewrite = painted(history, "his wife", [(SUBSTITUTE, "kobe bryant", "his"), (SUBSTITUTE, ("'s",), "his")], words)
    assert str(rewrite) == "Kobe Bryant's wife"
    assert str(painted(history, "Kobe wife", [(INSERT, ("'s",), "wife")], words)) == "Kobe's wife"
    assert str(painted(history, "Kobe his wife", [(SUBSTITUTE, ("'s",), "his")], words)) == "Kobe's wife"


def test_chinese_connection_words_take_no_blanks():
    words = ConnectionWords((), ("的", "是"))
    assert str(painted(["小明"], "谁", [(INSERT, "小 明", "谁"), (INSERT, "的 是", "谁")], words)) == "小明的是谁"


def test_separator_rows_never_reach_the_output():
    axes = lay_out(Dialogue.of(["a b", "c d"], "x y"))
    grid = axes.empty_grid()
    grid[:, 0] = SUBSTITUTE
    assert str(decode(axes, grid)) == "a b c d y"
    grid[:] = 0
    grid[2, 0] = INSERT  # [S] alone
    assert decode(axes, grid) == apply_edits(axes.dialogue, ())


@pytest.mark.parametrize("stray", [SUBSTITUTE, INSERT])
@pytest.mark.parametrize("row", ["[S]", "."])
def test_what_copies_nothing_changes_nothing(stray, row):
    """Neither `[S]` nor the end of a sentence may push aside or move an edit that does copy something."""
    history = ["He plays.", "Who is Kobe Bryant?"]
    for edit in ([(SUBSTITUTE, "kobe bryant", "he")], [(INSERT, "kobe bryant", "born")]):
        expected = painted(history, "when was he born ?", edit)
        for columns in ("was he born", "when was he born", "he born"):
            cells = [(stray, (row,), columns), *edit]
            assert painted(history, "when was he born ?", cells) == expected


def test_scores_come_with_probabilities():
    axes = lay_out(Dialogue.of(["a b"], "x"))
    probabilities = np.full((3, *axes.shape), 0.75)
    grid = axes.empty_grid()
    grid[0, 0] = SUBSTITUTE
    assert decode(axes, grid, probabilities).edits[0].score == 0.75


def test_the_end_column_cannot_be_replaced():
    axes = lay_out(Dialogue.of(["a"], "x y"))
    grid = axes.empty_grid()
    grid[0, 2] = SUBSTITUTE
    assert not decode(axes, grid).changed
    grid[0, 1] = SUBSTITUTE
    assert str(decode(axes, grid)) == "x a"


def test_of_overlapping_substitutions_the_better_scored_one_stays():
    axes = lay_out(Dialogue.of(["a b c"], "x y z"))
    boxes = [Rectangle(SUBSTITUTE, 0, 1, 0, 2, 0.6), Rectangle(SUBSTITUTE, 2, 3, 1, 3, 0.9)]
    (edit,) = edits_of(axes, boxes)
    assert (edit.text, edit.score) == ("c", 0.9)


def test_no_edit_returns_the_utterance_itself():
    dialogue = Dialogue.of(["a"], "  odd \t spacing ?!  ")
    rewrite = decode(axes := lay_out(dialogue), axes.empty_grid())
    assert rewrite.text == dialogue.utterance
    assert not rewrite.changed
    assert [piece.origin for piece in rewrite.pieces] == [Origin.UTTERANCE]


def test_an_utterance_without_words_takes_insertions():
    axes = lay_out(Dialogue.of(["a"], "\u200b"))
    assert axes.column_keys[-1] == END
    grid = axes.empty_grid()
    grid[0, -1] = INSERT
    assert "a" in str(decode(axes, grid))


def test_overlapping_edits_are_refused():
    edits = [Edit("substitute", 0, 3, "x", 0, 0, 1), Edit("substitute", 2, 4, "y", 0, 0, 1)]
    with pytest.raises(BadInputError, match=r"2\.\.4"):
        apply_edits(Dialogue.of(["xy"], "abcdef"), edits)
    with pytest.raises(BadInputError, match="leaves the utterance"):
        apply_edits(Dialogue.of(["xy"], "abc"), [Edit("insert", 9, 9, "x", 0, 0, 1)])


def test_nothing_left_means_the_utterance():
    rewrite = apply_edits(Dialogue.of([" "], "abc"), [Edit("substitute", 0, 3, " ", 0, 0, 1)])
    assert rewrite.text == "abc"
    assert rewrite.edits == ()


def test_grid_conventions():
    assert [int(kind) for kind in (EditType.NONE, SUBSTITUTE, INSERT)] == [0, 1, 2]
    assert lay_out(Dialogue.of([], "x")).empty_grid().dtype == np.int8
