from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

from urewrite.dialogue import Dialogue, Example
from urewrite.edits.apply import decode
from urewrite.edits.grid import ConnectionWords
from urewrite.edits.supervise import supervise
from urewrite.explain import ROWS_SHOWN, WIDTH_SHOWN, printable
from urewrite.rewrite import GridView, Region, Rewrite

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def gold(history, utterance, rewrite, **words) -> Rewrite:
    supervision = supervise(Example(Dialogue.of(history, utterance), rewrite), ConnectionWords(**words))
    return decode(supervision.axes, supervision.grid)


def view(rows, columns, *regions: Region, turns=None, likely=0.9) -> GridView:
    probabilities = np.zeros((3, len(rows), len(columns)), dtype=np.float32)
    probabilities[0] = 1
    for region in regions:
        box = slice(region.top, region.bottom), slice(region.left, region.right)
        probabilities[0][box] = 1 - likely
        probabilities[1 if region.op == "substitute" else 2][box] = likely
    return GridView(tuple(rows), tuple(columns), tuple(turns or [0] * len(rows)), probabilities, regions)


PAPER = gold(["北京今天天气如何", "北京今天是阴天"], "为什么总是这样", "北京为什么总是阴天")
ROWS, COLUMNS = [*"北京今天是阴天"], [*"为什么总是这样", "[E]"]
GRID = view(ROWS, COLUMNS, Region("insert", 0, 2, 0, 1, 0.9, True), Region("substitute", 5, 7, 5, 7, 0.4, False))


def test_without_colour_edits_stand_in_brackets():
    lines = PAPER.explain(colour=False).splitlines()
    assert lines[0] == "rewrite    [北京]为什么总是[阴天]"
    assert "substitute '这样' gives way to '阴天' from turn 2[5:7], score 1.00" in lines
    assert "insert     at 0 comes in '北京' from turn 2[0:2], score 1.00" in lines


def test_colours_differ_and_the_text_is_whole_without_them(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")  # is for the commands to heed: who asks for colour here gets it
    text = PAPER.explain()
    inserted, substituted = (re.search(rf"(\x1b\[[0-9;]*m){word}", text).group(1) for word in ("北京", "阴天"))
    assert inserted != substituted
    assert ANSI.sub("", text).splitlines()[0] == "rewrite    北京为什么总是阴天"


def test_connection_words_have_no_turn():
    result = gold(["Kobe Bryant"], "his wife", "Kobe Bryant's wife", trailing=("'s",))
    assert "from connection word, score" in result.explain(colour=False)


def test_reason_confidence_and_notes_are_said():
    result = replace(PAPER, reason="low_confidence", confidence=0.834, notes=("turn 1 was \x1b[2Jleft out",))
    lines = result.explain(colour=False).splitlines()
    assert "reason     low_confidence: edits were found, but none is sure enough" in lines
    assert "confidence 0.83" in lines
    assert "note       turn 1 was �[2Jleft out" in lines


def test_the_grid_tells_made_from_dropped_regions_and_shades_them():
    lines = replace(PAPER, grid=GRID).explain(colour=False).splitlines()
    assert "dropped    '阴天' in place of '这样', score 0.40" in lines
    header = next(number for number, line in enumerate(lines) if "为  什  么" in line)
    rows = {line[2]: line for line in lines[header + 1 : header + 8]}
    assert "I█" in rows["北"]
    assert "s█  s█" in rows["阴"]
    assert not set("ISis█") & set(rows["是"])
    assert lines[header + 1].startswith("1 北")
    assert "darker" in lines[-1]


def test_columns_of_wide_characters_stay_below_each_other():
    lines = replace(PAPER, grid=GRID).explain(colour=False).splitlines()
    header = next(line for line in lines if "为  什  么" in line)
    for row, letter in (("北", "I"), ("阴", "s")):
        line = next(line for line in lines if line[2:3] == row and letter in line)
        column = {"I": "为", "s": "这"}[letter]
        assert cell_len(line[: line.index(letter)]) == cell_len(header[: header.index(column)])


def test_likelier_cells_are_darker():
    shades = []
    for likely in (0.1, 0.3, 0.5, 0.7, 0.95):
        grid = view(ROWS, COLUMNS, Region("insert", 0, 1, 0, 1, likely, True), likely=likely)
        shades.append(re.search("I(.)", replace(PAPER, grid=grid).explain(colour=False).split("\n\n")[1]).group(1))
    assert shades == [" ", "░", "▒", "▓", "█"]


def test_a_large_grid_is_cut_and_says_so():
    rows, columns = [f"row{number}" for number in range(300)], [f"column{number}" for number in range(201)]
    grid = view(rows, columns, Region("substitute", 250, 252, 100, 102, 0.9, True))
    drawing = replace(PAPER, grid=grid).explain(colour=False).split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in drawing[1:-2]] == ["...", "1", *(f"row{n}" for n in range(249, 254)), "..."]
    assert "column100" in drawing[0]
    assert "column90" not in drawing[0]
    assert drawing[-2] == "not shown: 294 of 300 rows and 195 of 201 columns"


def test_even_a_grid_full_of_edits_is_cut():
    rows, columns = ["字"] * 500, ["supercalifragilisticexpialidocious"] * 100
    regions = [Region("insert", 0, 500, column, column + 1, 0.9, True) for column in range(0, 100, 2)]
    drawing = replace(PAPER, grid=view(rows, columns, *regions)).explain(colour=False).split("\n\n")[1].splitlines()
    assert len(drawing) <= ROWS_SHOWN + 5
    assert max(map(cell_len, drawing)) <= WIDTH_SHOWN + 40


def test_a_large_grid_without_a_sign_of_an_edit_is_not_drawn():
    text = replace(PAPER, grid=view(["row"] * 300, COLUMNS)).explain(colour=False)
    assert text.endswith("\n\nthe grid of 300 rows and 8 columns holds no edit")


def test_many_dropped_regions_are_counted():
    regions = [Region("substitute", row, row + 1, 0, 1, 0.3, False) for row in range(0, 18, 2)]
    text = replace(PAPER, grid=view(["row"] * 18, COLUMNS, *regions)).explain(colour=False)
    assert text.count("\ndropped ") == 6
    assert "dropped    4 more" in text


@pytest.mark.parametrize("colour", [True, False])
def test_hostile_text_does_not_steer_the_terminal(colour):
    hostile = "\x1b[31mred\x07 \u202e\r\n[bold]x[/] \ud800 \x9b2J"
    result = gold([hostile, "Kobe"], f"{hostile} he", f"{hostile} Kobe")
    words = hostile.split(" ")
    grid = view(words, [*words, "[E]"], Region("insert", 0, 1, 0, 1, 0.5, False))
    text = ANSI.sub("", replace(result, grid=grid, notes=(hostile,)).explain(colour=colour))
    assert not set("\x1b\x07\u202e\r\ud800\x9b") & set(text)
    assert "[bold]x[/]" in text


def test_numbers_that_are_none_do_not_break_it():
    GRID.probabilities[0, 3, 3] = np.nan
    try:
        assert replace(PAPER, grid=GRID).explain()
    finally:
        GRID.probabilities[0, 3, 3] = 1


def test_printable_keeps_what_is_no_danger():
    assert printable("北京　a é 🙂") == "北京　a é 🙂"
