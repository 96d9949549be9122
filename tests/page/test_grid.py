"""The grid: what its cells say, and how it is gone through."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from page.screen import BEIJING, OSLO, link
from page.told import Find, Told


def test_the_grid_is_what_the_server_saw(opening, server):
    screen = opening(server, link(OSLO))
    grid = screen.expect_answer(*OSLO)["grid"]
    sheet = screen.page.get_by_role("grid", name="Edit grid")
    expect(sheet).to_have_attribute("aria-rowcount", str(len(grid["rows"]) + 1))
    expect(sheet).to_have_attribute("aria-colcount", str(len(grid["columns"]) + 1))
    assert screen.get(".column").all_inner_texts() == [*OSLO[2].split(), "end"]
    labels = screen.get(".row:not(.separator) .label .word").all_inner_texts()
    assert labels == [*OSLO[0].split(), *OSLO[1].split()]
    expect(screen.get(".turn-of:not(:empty)")).to_have_text(["1", "2"])
    expect(screen.get("#grid-size")).to_have_text(f"{len(grid['rows'])} × 6, 1 region")


def test_boxes_lie_over_their_cells(opening, server):
    found = (Find("substitute", "know Oslo", 0, "it now", 0.9), Find("insert", "Sure", 1, "", 0.55))
    screen = opening(server, link(OSLO), told=Told(found))
    screen.expect_text("where is know Oslo ?")
    for kind, letter, cells in ((".box.made", "S", [(0, 0), (0, 1), (1, 0), (1, 1)]), (".box.dropped", "i", [(0, 0)])):
        box = screen.get(kind).bounding_box()
        inside = screen.page.get_by_role("gridcell").filter(has_text=re.compile(f"^{letter}$"))
        expect(inside).to_have_count(len(cells))
        first, last = inside.first.bounding_box(), inside.last.bounding_box()
        assert box["x"] == pytest.approx(first["x"], abs=1)
        assert box["y"] == pytest.approx(first["y"], abs=1)
        assert box["x"] + box["width"] == pytest.approx(last["x"] + last["width"], abs=1)
        assert box["y"] + box["height"] == pytest.approx(last["y"] + last["height"], abs=1)


def test_hover_tells_words_and_probabilities(screen):
    grid = screen.answer(*BEIJING)["grid"]
    (region,) = grid["regions"]
    row, column = region["top"], region["left"]
    details = screen.get("#details")
    expect(details).to_contain_text("Point at a cell")
    screen.cell(row, column).hover()
    expect(details).to_contain_text("北 of turn 1 × 它")
    expect(details).to_contain_text(f"北京 in place of 它 · score {region['score']:.2f}, made")
    substitute, insert = grid["substitute"][row][column], grid["insert"][row][column]
    shown = dict(zip(details.locator("dt").all_inner_texts(), details.locator("dd").all_inner_texts(), strict=True))
    expected = {"none": 1 - substitute - insert, "substitute": substitute, "insert": insert}
    assert {name: float(value) for name, value in shown.items()} == pytest.approx(expected, abs=0.006)
    expect(screen.get(".looked")).to_have_text(["它", re.compile("北$")])
    screen.page.mouse.move(0, 0)
    expect(details).to_contain_text("Point at a cell")
    expect(screen.get(".looked")).to_have_count(0)


def test_hover_tells_where_there_is_no_word(opening, server):
    screen = opening(server, link(OSLO), told=Told((Find("insert", "'s", None, "", 0.9),)))
    screen.get(".row.separator .cell").first.hover()
    expect(screen.get("#details")).to_contain_text("(between turns) × where")
    screen.page.get_by_role("gridcell").filter(has_text="I").hover()
    expect(screen.get("#details")).to_contain_text("'s × the end")
    expect(screen.get("#details")).to_contain_text("'s before the end · score 0.90, made")


def test_colours_follow_probabilities(screen):
    grid = screen.answer(*BEIJING)["grid"]
    (region,) = grid["regions"]
    likely = screen.cell(region["top"], region["left"])
    share = likely.evaluate("cell => getComputedStyle(cell).getPropertyValue('--substitute-share')")
    assert float(share) == pytest.approx(grid["substitute"][region["top"]][region["left"]], abs=1e-3)
    colours = [one.evaluate("cell => getComputedStyle(cell).backgroundColor") for one in (likely, screen.cell(0, 0))]
    opacities = [float(re.split(r"[,/] ?", colour.rstrip(")"))[-1]) for colour in colours]
    assert opacities == [pytest.approx(float(share), abs=0.01), 0]


def test_arrow_keys_lead_through_the_grid(screen):
    grid = screen.answer(*BEIJING)["grid"]
    (region,) = grid["regions"]
    row, column = region["top"], region["left"]
    stops = screen.get("[role=gridcell][tabindex='0']")
    expect(stops).to_have_count(1)
    stops.focus()
    expect(screen.cell(row, column)).to_be_focused()
    expect(screen.cell(row, column)).to_have_accessible_name(
        re.compile("^北 of turn 1, 它: none .*; part of a substitution that is made$")
    )
    last_row, last_column = len(grid["rows"]) - 1, len(grid["columns"]) - 1
    for key, there in (
        ("ArrowRight", (row, column + 1)),
        ("ArrowDown", (row + 1, column + 1)),
        ("ArrowLeft", (row + 1, column)),
        ("ArrowUp", (row, column)),
        ("End", (row, last_column)),
        ("Home", (row, 0)),
        ("ArrowLeft", (row, 0)),
        ("Control+End", (last_row, last_column)),
        ("ArrowDown", (last_row, last_column)),
        ("PageUp", (last_row - 10, last_column)),
        ("PageDown", (last_row, last_column)),
        ("Control+Home", (0, 0)),
    ):
        screen.page.keyboard.press(key)
        expect(screen.cell(*there)).to_be_focused()
        expect(screen.get("#details")).to_contain_text("none")
    expect(stops).to_have_count(1)


def test_a_large_grid_is_drawn_where_it_is_seen(opening, server):
    turns = ["泰坦尼克号是一部非常好看的电影，" * 9, "我也很喜欢这部电影的主题曲，" * 9, "你觉得它的主题曲怎么样，" * 9]
    screen = opening(server, link(turns))
    grid = screen.expect_answer(*turns)["grid"]
    rows, columns = len(grid["rows"]), len(grid["columns"])
    assert rows * columns > 20_000
    cells = screen.get("[role=gridcell]")
    assert 0 < cells.count() < 4_000
    screen.get("[role=gridcell][tabindex='0']").focus()
    screen.page.keyboard.press("Control+End")
    last = screen.cell(rows - 1, columns - 1)
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()
    assert cells.count() < 4_000
    box = screen.get("#grid-box").bounding_box()
    corner, head = screen.get(".corner").bounding_box(), screen.get(".column.end").bounding_box()
    label = screen.get(f".row[aria-rowindex='{rows + 1}'] .label").bounding_box()
    assert corner["x"] == pytest.approx(box["x"], abs=2)
    assert head["y"] == pytest.approx(box["y"], abs=2)
    assert label["x"] == pytest.approx(box["x"], abs=2)
    screen.get("#grid-box").evaluate("box => box.scrollTo(0, 0)")
    expect(screen.cell(0, 0)).to_be_attached()
    expect(last).to_be_focused()  # what has the focus stays, though nobody sees it
    screen.page.keyboard.press("ArrowUp")
    expect(screen.cell(rows - 2, columns - 1)).to_be_in_viewport()
