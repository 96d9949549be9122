"""On a phone and on a wide screen, in the light and in the dark."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from page.conftest import WIDE
from page.screen import BEIJING, link
from urewrite.serve.static import FOLDER

LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 4
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
def test_colours(opening, server, scheme):
    screen = opening(server, link(BEIJING), color_scheme=scheme)
    screen.expect_text("北京好吗")
    paper = screen.page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    brightness = sum(map(int, paper.removeprefix("rgb(").removesuffix(")").split(",")))
    assert brightness > 600 if scheme == "light" else brightness < 100
    screen.page.get_by_role("gridcell").filter(has_text="S").first.hover()
    expect(screen.get(".cell-region")).to_be_visible()
    found = screen.page.evaluate(CONTRASTS)
    assert len(found) > 60
    assert [one for one in found if one[1] < one[2]] == []
    error = {"error": {"message": "this is wrong", "param": "messages[0]"}}
    screen.page.route("**/v1/rewrite", lambda route: route.fulfill(status=422, json=error))
    screen.turn(1).fill("什么")
    expect(screen.problem(1)).to_be_visible()
    (wrong,) = [one for one in screen.page.evaluate(CONTRASTS) if one[0] == "This is wrong."]
    assert wrong[1] >= wrong[2]


@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["360", "1400"])
@pytest.mark.parametrize(
    "turns",
    [BEIJING, [LONG, "👍" * 100, LONG], ["第一句话很长，" * 40] * 9 + ["它好吗"]],
    ids=["short", "long words", "many turns"],
)
def test_nothing_is_wider_than_the_page(opening, server, viewport, turns):
    screen = opening(server, link(turns), viewport=viewport, is_mobile=viewport is PHONE, has_touch=viewport is PHONE)
    screen.expect_answer(*turns)
    assert screen.page.evaluate("() => document.documentElement.scrollWidth") == viewport["width"]
    assert screen.page.evaluate(OVERFLOWING) == []


def test_whatever_the_width_buttons_stay_on_their_cards(screen):
    for width in (360, 700, 950, 1000, 1100, 1200, 1300):
        screen.page.set_viewport_size({"width": width, "height": 900})
        button = screen.page.locator("#run").bounding_box()
        card = screen.page.locator(".options").bounding_box()
        assert card["x"] <= button["x"], width
        assert button["x"] + button["width"] <= card["x"] + card["width"], width


def test_a_phone(opening, server):
    turns = [*BEIJING[:2], "它好吗" * 5]
    screen = opening(server, link(turns), viewport=PHONE, is_mobile=True, has_touch=True)
    screen.expect_answer(*turns)
    box = screen.get("#grid-box")
    assert box.evaluate("one => one.scrollWidth > one.clientWidth"), "the grid is scrolled in its box"
    box.scroll_into_view_if_needed()
    box.evaluate("one => one.scrollTo(one.scrollWidth, 0)")
    expect(screen.get(".column.end")).to_be_in_viewport()
    small = screen.get("button:visible, select:visible").evaluate_all(
        "all => all.filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 24).map((one) => one.className)"
    )
    assert small == []
    expect(screen.get(".turn-tools").first).to_have_css("opacity", "1")
    order = [screen.get(name).bounding_box()["y"] for name in ("#examples", "#turns", "#rewrite", "#grid-card", "#use")]
    assert order == sorted(order)
    screen.page.get_by_role("gridcell").last.tap()
    expect(screen.get("#details dt")).to_have_count(3)


def test_every_name_in_the_style_is_used():
    style = re.sub(r"/\*.*?\*/|\{[^{}]*\}", "", (FOLDER / "page.css").read_text(encoding="utf-8"), flags=re.DOTALL)
    named = set(re.findall(r"[.#]([a-z][\w-]*)", style))
    assert len(named) > 60
    rest = "".join(path.read_text(encoding="utf-8") for path in FOLDER.iterdir() if path.suffix in (".js", ".html"))
    assert [name for name in sorted(named) if not re.search(rf"(?<![\w-]){name}(?![\w-])", rest)] == []


def test_two_columns_where_there_is_room(screen):
    dialogue, rewrite = screen.get(".ask").bounding_box(), screen.get("#rewrite").bounding_box()
    assert rewrite["x"] > dialogue["x"] + dialogue["width"]
    assert rewrite["y"] == pytest.approx(dialogue["y"], abs=2)


@pytest.mark.parametrize("wish", ["reduce", "no-preference"])
def test_motion(opening, server, wish):
    screen = opening(server, link(BEIJING), reduced_motion=wish)
    screen.expect_text("北京好吗")
    moving = screen.get("body *").evaluate_all(
        "all => all.filter((one) => parseFloat(getComputedStyle(one).transitionDuration) > 0).length"
    )
    assert bool(moving) is (wish == "no-preference")
