"""For everybody: by keyboard, by screen reader, on a phone, in the dark."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from page.screen import TITANIC, link

LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 4
WIDE = {"width": 1400, "height": 900}
PHONE = {"width": 360, "height": 740}

CONTRASTS = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((one, place) => one * a + below[place] * (1 - a));
  const light = (colour) => {
    const [r, g, b] = colour.map((one) => {
      const share = one / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
        || element.closest(".mirror, .unseen, template, noscript, .skip, .cell")) continue;
    const chain = [];
    for (let one = element; one; one = one.parentElement) chain.unshift(getComputedStyle(one).backgroundColor);
    const paper = chain.reduce((below, colour) => over(parse(colour), below), [255, 255, 255]);
    const [one, other] = [light(over(parse(style.color), paper)), light(paper)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const size = parseFloat(style.fontSize);
    found.push([walker.currentNode.data.trim().slice(0, 40), ratio, size >= 24 ? 3 : 4.5]);
  }
  return found;
}"""

OVERFLOWING = """() => [...document.querySelectorAll("body *")].filter((element) => {
  const box = element.getBoundingClientRect();
  const inside = element.closest(".grid-box, .code, .example-groups, .unseen, .skip, .links, .toast");
  return box.width && !inside && (box.right > innerWidth + 0.5 || box.left < -0.5);
}).map((element) => `${element.tagName}.${element.className}`)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(opening, server, scheme):
    screen = opening(server, link(TITANIC), color_scheme=scheme)
    screen.expect_answer(*TITANIC)
    screen.page.get_by_role("gridcell").filter(has_text="S").first.hover()
    found = screen.page.evaluate(CONTRASTS)
    assert len(found) > 60
    assert [one for one in found if one[1] < one[2]] == []
    screen.write(LONG * 50, "x")
    expect(screen.get(".problem:visible")).to_be_visible()
    expect(screen.get("#undo")).to_be_hidden()
    assert [one for one in screen.page.evaluate(CONTRASTS) if "may have" in one[0] and one[1] < 4.5] == []


def test_the_colour_scheme_is_followed(opening, server):
    papers = {}
    for scheme in ("light", "dark"):
        screen = opening(server, link(TITANIC), color_scheme=scheme)
        screen.expect_answer(*TITANIC)
        paper = screen.page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
        papers[scheme] = sum(map(int, paper.removeprefix("rgb(").removesuffix(")").split(",")))
    assert papers["light"] > 600
    assert papers["dark"] < 100


def test_everything_that_can_be_focused_has_a_name(opening, server):
    screen = opening(server, link(TITANIC))
    screen.expect_answer(*TITANIC)
    tree = screen.page.context.new_cdp_session(screen.page).send("Accessibility.getFullAXTree")["nodes"]
    names = {}
    for node in tree:
        properties = {one["name"]: one["value"].get("value") for one in node.get("properties", [])}
        if properties.get("focusable") and node["role"]["value"] != "RootWebArea":
            names.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    assert {"button", "textbox", "combobox", "slider", "radio", "tab", "link", "gridcell"} <= set(names)
    assert [role for role, given in names.items() if not all(given)] == []
    for role in ("textbox", "combobox"):
        assert len(set(names[role])) == len(names[role]), "told apart by their names"
    roles = {node["role"]["value"] for node in tree if not node.get("ignored")}
    assert {"main", "heading", "grid", "row", "columnheader", "rowheader", "tabpanel", "status", "banner"} <= roles


def test_structure(screen):
    screen.expect_answer(*TITANIC)
    levels = screen.page.evaluate(
        "() => [...document.querySelectorAll('h1,h2,h3')].map((one) => Number(one.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert screen.page.evaluate("() => document.documentElement.lang") == "en"
    ids = screen.page.evaluate("() => [...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    references = screen.page.evaluate(
        "() => [...document.querySelectorAll('[aria-labelledby],[aria-describedby],[aria-controls],[for]')].flatMap("
        "(one) => ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for']"
        ".flatMap((name) => (one.getAttribute(name) ?? '').split(' ').filter(Boolean)))"
    )
    assert set(references) <= set(ids)


def test_by_keyboard_alone(opening, server):
    """From the top of the page: choose an example, change it, look at an edit, go through the grid, copy."""
    screen = opening(server)
    screen.page.get_by_role("grid").wait_for()
    keys = screen.page.keyboard

    def tab_to(condition: str) -> None:
        for _ in range(60):
            keys.press("Tab")
            if screen.page.evaluate(f"() => document.activeElement.matches({condition!r})"):
                ring = screen.page.evaluate(
                    "() => { const seen = getComputedStyle(document.activeElement.closest('.turn') "
                    "?? document.activeElement); return seen.outlineStyle; }"
                )
                assert ring != "none", f"the focus on {condition} cannot be seen"
                return
        raise AssertionError(f"no Tab leads to {condition}")

    keys.press("Tab")
    expect(screen.get(".skip")).to_be_focused()
    keys.press("Enter")
    expect(screen.get("#rewrite")).to_be_focused()
    screen.page.evaluate("() => document.activeElement.blur()")
    screen.get(".chip[lang=zh]").nth(1).focus()
    keys.press("Tab")
    keys.press("Enter")
    expect(screen.turn(1)).to_have_value("你看过泰坦尼克号吗")
    tab_to(".turn textarea")
    keys.press("End")
    keys.type("！")
    turns = ["你看过泰坦尼克号吗！", *screen.turns[1:]]
    keys.press("Control+Enter")
    answer = screen.expect_answer(*turns)
    assert answer["edits"]
    tab_to("#text .edit")
    expect(screen.get("#links path").first).to_be_attached()
    tab_to("#threshold")
    keys.press("ArrowLeft")
    tab_to("[role=gridcell]")
    keys.press("ArrowRight")
    expect(screen.get("#details dt")).to_have_count(3)
    tab_to("#copy-code")
    keys.press("Enter")
    expect(screen.get("#toast")).to_have_text("curl copied")
    expect(screen.get("#copy-code")).to_be_focused()


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["360", "1400"])
@pytest.mark.parametrize("turns", [TITANIC, [LONG, "👍" * 100, LONG], ["第一句话很长，" * 40] * 9 + ["它好吗"]])
def test_nothing_is_wider_than_the_page(opening, server, viewport, turns):
    screen = opening(server, link(turns), viewport=viewport, is_mobile=viewport is PHONE, has_touch=viewport is PHONE)
    screen.expect_answer(*turns)
    assert screen.page.evaluate("() => document.documentElement.scrollWidth") == viewport["width"]
    assert screen.page.evaluate(OVERFLOWING) == []


def test_a_phone(opening, server):
    screen = opening(server, link(TITANIC), viewport=PHONE, is_mobile=True, has_touch=True)
    screen.expect_answer(*TITANIC)
    box = screen.get("#grid-box")
    assert box.evaluate("one => one.scrollWidth > one.clientWidth"), "the grid is scrolled in its box"
    box.scroll_into_view_if_needed()
    box.evaluate("one => one.scrollTo(one.scrollWidth, 0)")
    expect(screen.get(".column.end")).to_be_in_viewport()
    small = screen.page.evaluate(
        "() => [...document.querySelectorAll('button, select, [role=tab]')].filter((one) => one.checkVisibility())"
        ".filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 24).map((one) => one.className)"
    )
    assert small == []
    assert screen.get(".turn-tools").first.evaluate("one => getComputedStyle(one).opacity") == "1"
    order = [screen.get(name).bounding_box()["y"] for name in ("#examples", "#turns", "#rewrite", "#grid-card", "#use")]
    assert order == sorted(order)
    screen.page.get_by_role("gridcell").filter(has_text="S").first.tap()
    expect(screen.get("#details dt")).to_have_count(3)


def test_two_columns_where_there_is_room(screen):
    screen.expect_answer(*TITANIC)
    dialogue, rewrite = screen.get(".ask").bounding_box(), screen.get("#rewrite").bounding_box()
    assert rewrite["x"] > dialogue["x"] + dialogue["width"]
    assert rewrite["y"] == pytest.approx(dialogue["y"], abs=2)


def test_less_motion(opening, server):
    screen = opening(server, link(TITANIC), reduced_motion="reduce")
    screen.expect_answer(*TITANIC)
    moving = screen.page.evaluate(
        "() => [...document.querySelectorAll('*')].filter((one) => "
        "parseFloat(getComputedStyle(one).transitionDuration) > 0).length"
    )
    assert moving == 0
