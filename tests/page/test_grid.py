"""The grid: what its cells say, how it is gone through, and what the threshold does."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from page.screen import TITANIC, dialogue_where, link


def cell(screen, row: int, column: int):
    return screen.get(f"[data-row='{row}'][data-column='{column}']")


def test_the_grid_is_what_the_server_saw(screen):
    grid = screen.expect_answer(*TITANIC)["grid"]
    sheet = screen.page.get_by_role("grid")
    assert sheet.get_attribute("aria-rowcount") == str(len(grid["rows"]) + 1)
    assert sheet.get_attribute("aria-colcount") == str(len(grid["columns"]) + 1)
    heads = screen.get(".column").all_inner_texts()
    assert heads == [*grid["columns"][:-1], "end"]
    labels = screen.get(".row:not(.separator) .label .word").all_inner_texts()
    assert labels == [word for word in grid["rows"] if word != "[S]"]
    for kind, made in (("made", True), ("dropped", False)):
        assert screen.get(f".box.{kind}").count() == sum(one["made"] is made for one in grid["regions"])
    for region in grid["regions"]:
        for row in range(region["top"], region["bottom"]):
            for column in range(region["left"], region["right"]):
                letter = region["op"][0].upper() if region["made"] else region["op"][0]
                assert cell(screen, row, column).inner_text() == letter


def test_boxes_lie_over_their_cells(screen):
    region = screen.expect_answer(*TITANIC)["grid"]["regions"][0]
    box = screen.get(".box").first.bounding_box()
    first = cell(screen, region["top"], region["left"]).bounding_box()
    last = cell(screen, region["bottom"] - 1, region["right"] - 1).bounding_box()
    assert box["x"] == pytest.approx(first["x"], abs=1)
    assert box["y"] == pytest.approx(first["y"], abs=1)
    assert box["x"] + box["width"] == pytest.approx(last["x"] + last["width"], abs=1)
    assert box["y"] + box["height"] == pytest.approx(last["y"] + last["height"], abs=1)


def test_hover_tells_words_and_probabilities(screen):
    grid = screen.expect_answer(*TITANIC)["grid"]
    region = grid["regions"][0]
    row, column = region["top"], region["left"]
    expect(screen.get("#details")).to_contain_text("Point at a cell")
    cell(screen, row, column).hover()
    details = screen.get("#details")
    expect(details).to_contain_text(f"{grid['rows'][row]} of turn 1 × {grid['columns'][column]}")
    expect(details).to_contain_text(f"泰坦尼克号 in place of 它 · score {region['score']:.2f}, made")
    substitute, insert = grid["substitute"][row][column], grid["insert"][row][column]
    shown = dict(zip(details.locator("dt").all_inner_texts(), details.locator("dd").all_inner_texts(), strict=True))
    expected = {"none": 1 - substitute - insert, "substitute": substitute, "insert": insert}
    assert {name: float(value) for name, value in shown.items()} == pytest.approx(expected, abs=0.006)
    screen.page.mouse.move(0, 0)
    expect(details).to_contain_text("Point at a cell")


def test_colours_follow_probabilities(screen):
    grid = screen.expect_answer(*TITANIC)["grid"]
    region = grid["regions"][0]
    likely = cell(screen, region["top"], region["left"])
    share = likely.evaluate("cell => getComputedStyle(cell).getPropertyValue('--substitute-share')")
    assert float(share) == grid["substitute"][region["top"]][region["left"]]
    unlikely = cell(screen, 0, 0).evaluate("cell => getComputedStyle(cell).backgroundColor")
    assert re.search(r"/ 0\)|, 0\)|transparent", unlikely)


def test_arrow_keys_lead_through_the_grid(screen):
    grid = screen.expect_answer(*TITANIC)["grid"]
    region = grid["regions"][0]
    row, column = region["top"], region["left"]
    stops = screen.get("[role=gridcell][tabindex='0']")
    expect(stops).to_have_count(1)
    stops.focus()
    expect(cell(screen, row, column)).to_be_focused()
    name = cell(screen, row, column).get_attribute("aria-label")
    assert name.startswith(f"{grid['rows'][row]} of turn 1, {grid['columns'][column]}: none ")
    assert name.endswith("; part of a substitution that is made")
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
        expect(cell(screen, *there)).to_be_focused()
        expect(screen.get("#details")).to_contain_text("none")
    expect(stops).to_have_count(1)


def test_the_threshold_acts_as_the_server_would(opening, server):
    turns = dialogue_where(server, lambda answer: len({one["score"] for one in answer["grid"]["regions"]}) > 1)
    screen = opening(server, link(turns))
    regions = screen.expect_answer(*turns)["grid"]["regions"]
    slider = screen.page.get_by_role("slider", name="Threshold")
    expect(screen.get("#ticks span")).to_have_count(len(regions))
    shown = set()
    for percent in [*range(0, 101, 10), 75, 5]:
        slider.fill(str(percent / 100))
        answer = screen.expect_answer(*turns, threshold=percent / 100)
        shown.add(answer["text"])
        expect(screen.get("#threshold-value")).to_have_text(f"{percent / 100:.2f}")
        made = sum(region["made"] for region in answer["grid"]["regions"])
        expect(screen.get(".box.made")).to_have_count(made)
        expect(screen.get(".box.dropped")).to_have_count(len(regions) - made)
        expect(screen.get("#facts dd").first).to_have_text(f"{round(100 * answer['confidence'])} %")
    assert len(shown) > 1
    assert len(screen.asked) <= len(regions) + 2, "what is known is not asked for again"
    slider.press("ArrowRight")
    expect(screen.get("#threshold-value")).to_have_text("0.06")
    screen.page.get_by_role("button", name="Use default").click()
    screen.expect_answer(*turns)
    expect(slider).to_be_focused()
    assert "threshold" not in screen.page.url


def test_a_threshold_keeps_the_place_in_the_grid(screen):
    screen.expect_answer(*TITANIC)
    screen.get("#grid-box").evaluate("box => box.scrollTo(0, 50)")
    screen.page.get_by_role("slider").fill("1")
    screen.expect_text(TITANIC[2])
    expect(screen.get("#reason")).to_contain_text("none is sure enough")
    assert screen.get("#grid-box").evaluate("box => box.scrollTop") == 50


def test_a_large_grid_is_drawn_where_it_is_seen(opening, server):
    history = ["泰坦尼克号是一部非常好看的电影，" * 9, "我也很喜欢这部电影的主题曲，" * 9]
    utterance = "你觉得它的主题曲怎么样，" * 9
    screen = opening(server, link([*history, utterance]))
    grid = screen.expect_answer(*history, utterance)["grid"]
    rows, columns = len(grid["rows"]), len(grid["columns"])
    assert rows * columns > 20_000
    cells = screen.get("[role=gridcell]")
    assert 0 < cells.count() < 4_000
    screen.get("[role=gridcell][tabindex='0']").focus()
    screen.page.keyboard.press("Control+End")
    last = cell(screen, rows - 1, columns - 1)
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
    expect(cell(screen, 0, 0)).to_be_attached()
    expect(last).to_be_focused()  # what has the focus stays, though nobody sees it
    screen.page.keyboard.press("ArrowUp")
    expect(cell(screen, rows - 2, columns - 1)).to_be_in_viewport()
