"""How the words of an edit are linked to where they come from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from page.screen import Screen, link
from page.told import Find, Told

SELECTED = "() => { const at = document.activeElement; return at.value.slice(at.selectionStart, at.selectionEnd); }"


def away(screen: Screen) -> None:
    screen.page.mouse.move(0, 0)


def expect_at(dot: Locator, target: Locator) -> None:
    """That an end of a line is at the edge of words."""
    place, words = dot.bounding_box(), target.bounding_box()
    assert words["x"] - 6 <= place["x"] <= words["x"] + words["width"]
    assert words["y"] - 8 <= place["y"] <= words["y"] + words["height"] + 8


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        (lambda screen: screen.get("#text .edit").hover(), away),
        (lambda screen: screen.get("#text .edit").focus(), lambda screen: screen.get("#run").focus()),
        (lambda screen: screen.get("#edits li").hover(), away),
        (lambda screen: screen.page.get_by_role("gridcell").filter(has_text="S").first.hover(), away),
    ],
    ids=["point", "focus", "list", "grid"],
)
def test_looking_at_an_edit_shows_its_source(
    screen: Screen, begin: Callable[[Screen], None], end: Callable[[Screen], None]
):
    source, words = screen.get("mark.source"), screen.get("#text .edit")
    expect(screen.get("#links path")).to_have_count(0)
    begin(screen)
    expect(source).to_have_class("source substitute hot")
    expect(words).to_have_class("edit substitute hot")
    expect(screen.get(".box.made")).to_have_class("box substitute made hot")
    expect(screen.get("#links path")).to_have_count(1)
    first, last = screen.get("#links circle").all()
    expect_at(first, words)
    expect_at(last, source)
    end(screen)
    expect(source).to_have_class("source substitute")
    expect(screen.get("#links path")).to_have_count(0)


def test_lines_follow_a_change_of_the_width(screen):
    screen.get("#text .edit").focus()
    screen.page.set_viewport_size({"width": 700, "height": 900})
    expect(screen.get("#links path")).to_have_count(1)
    screen.page.wait_for_function(
        "() => { const [dot, words] = ['#links circle', '#text .edit'].map((one) => "
        "document.querySelector(one).getBoundingClientRect());"
        " return dot.left >= words.left && dot.right <= words.right; }"
    )


def test_each_of_two_equal_edits_has_its_own_box(opening, server):
    turns = ["Anna met Maria .", "When did she see her ?"]
    told = Told((Find("substitute", "Anna", 0, "she", 0.9), Find("substitute", "Maria", 0, "her", 0.9)))
    screen = opening(server, link(turns), told=told)
    screen.expect_text("When did Anna see Maria ?")
    tops = set()
    for number in range(2):
        screen.get("#text .edit").nth(number).focus()
        expect(screen.get(".box.hot")).to_have_count(1)
        tops.add(screen.get(".box.hot").bounding_box()["y"])
    assert len(tops) == 2


@pytest.mark.parametrize("key", ["Enter", " "])
def test_opening_an_edit_selects_its_source(opening, server, key):
    turns = ["😀👩‍👩‍👧 you know Oslo ?", "Sure .", "where is it now ?"]  # JavaScript counts these characters otherwise
    screen = opening(server, link(turns), told=Told((Find("substitute", "Oslo", 0, "it", 0.9),)))
    screen.expect_text("where is Oslo now ?")
    expect(screen.get("mark.source")).to_have_text("Oslo")
    screen.get("#text .edit").press(key)
    expect(screen.turn(1)).to_be_focused()
    assert screen.page.evaluate(SELECTED) == "Oslo"


def test_opening_a_connection_word_leads_to_the_grid(opening, server):
    turns = ["Who wrote Dune ?", "the author ?"]
    screen = opening(server, link(turns), told=Told((Find("insert", "of", None, "?", 0.9),)))
    screen.get("#text .edit").click()
    expect(screen.page.get_by_role("gridcell").filter(has_text="I")).to_be_focused()
    expect(screen.get("#details")).to_contain_text("of × ?")


@pytest.mark.parametrize("width", [360, 1400])
def test_the_number_of_an_edit_is_at_its_end(opening, server, width):
    """Also where the words go over several lines."""
    source = "the large and very well known library of the old university town"
    told = Told((Find("substitute", source, 0, "it", 0.9),))
    screen = opening(
        server, link([f"We saw {source} .", "where is it ?"]), told=told, viewport={"width": width, "height": 800}
    )
    screen.expect_text(f"where is {source} ?")
    screen.get("#text").evaluate(
        "text => { const range = document.createRange(); const { firstChild: words } = text.querySelector('.edit');"
        " range.setStart(words, words.length - 1); range.setEnd(words, words.length);"
        " window.letter = range.getBoundingClientRect(); }"
    )
    badge = screen.page.context.new_cdp_session(screen.page)
    document = badge.send("DOM.getDocument", {"depth": -1})["root"]["nodeId"]
    edit = badge.send("DOM.querySelector", {"nodeId": document, "selector": "#text .edit"})["nodeId"]
    (pseudo,) = badge.send("DOM.describeNode", {"nodeId": edit})["node"]["pseudoElements"]
    model = badge.send("DOM.getBoxModel", {"backendNodeId": pseudo["backendNodeId"]})["model"]["border"]
    letter = screen.page.evaluate("() => [letter.left, letter.right, letter.top, letter.bottom]")
    assert letter[0] - 16 <= model[0] <= letter[1] + 4
    assert letter[2] - 10 <= model[1] <= letter[3]
