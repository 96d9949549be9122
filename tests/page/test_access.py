"""By keyboard and by screen reader."""

from __future__ import annotations

from itertools import pairwise

from playwright.sync_api import expect

from page.screen import BEIJING, Screen

OUTLINE = (
    "() => getComputedStyle(document.activeElement.closest('.turn:has(textarea:focus)') ?? document.activeElement)"
    ".outlineStyle"
)


def nodes(screen: Screen) -> list[dict[str, object]]:
    """What a screen reader is told of."""
    tree = screen.page.context.new_cdp_session(screen.page).send("Accessibility.getFullAXTree")["nodes"]
    return [
        {
            "role": node["role"]["value"],
            "name": node.get("name", {}).get("value", ""),
            **{one["name"]: one["value"].get("value") for one in node.get("properties", [])},
        }
        for node in tree
        if not node.get("ignored")
    ]


def tab_to(screen: Screen, selector: str) -> None:
    """As often as it takes; where the focus comes to must be seen."""
    for _ in range(60):
        screen.page.keyboard.press("Tab")
        if screen.page.evaluate("selector => document.activeElement.matches(selector)", selector):
            assert screen.page.evaluate(OUTLINE) != "none", f"the focus on {selector} cannot be seen"
            return
    raise AssertionError(f"no Tab leads to {selector}")


def test_everything_that_can_be_focused_has_a_name(screen):
    names: dict[str, list[str]] = {}
    for node in nodes(screen):
        if node.get("focusable") and node["role"] != "RootWebArea":
            names.setdefault(node["role"], []).append(node["name"])
    assert {"button", "textbox", "combobox", "slider", "radio", "tab", "link", "gridcell"} <= set(names)
    assert [role for role, given in names.items() if not all(given)] == []
    for role in ("button", "textbox", "combobox", "gridcell"):
        assert len(set(names[role])) == len(names[role]), "told apart by their names"


def test_roles(screen):
    found = {node["role"] for node in nodes(screen)}
    assert {"banner", "navigation", "main", "heading", "list", "group", "tablist", "tabpanel", "status"} <= found
    assert {"grid", "row", "columnheader", "rowheader", "gridcell"} <= found


def test_changes_are_announced(screen):
    live = {(node["name"], node["live"]) for node in nodes(screen) if node.get("live")}
    assert {live for _, live in live} == {"polite"}
    announcement = screen.get("#announcement")
    expect(announcement).to_have_role("status")
    expect(announcement).to_have_text("Rewritten with 1 edit: 北京好吗")
    screen.page.get_by_label("Never").check(force=True)
    expect(announcement).to_have_text("Not changed: 它好吗")
    expect(screen.get("#toast")).to_have_role("status")
    screen.button("Remove turn 1").click()
    expect(screen.get("#undo")).to_have_role("status")
    expect(screen.get("#undo")).to_contain_text("Turn 1 was removed.")
    screen.page.context.set_offline(True)
    screen.button("Rewrite").click()
    expect(screen.get("#rewrite")).not_to_have_attribute("aria-busy", "true")


def test_waiting_is_said(screen):
    screen.page.route("**/v1/rewrite", lambda _: None)  # never answered
    screen.turn(3).fill("怎么样")
    expect(screen.page.get_by_role("group", name="Rewrite")).to_have_attribute("aria-busy", "true")


def test_structure(screen):
    assert screen.page.evaluate("() => document.documentElement.lang") == "en"
    levels = screen.get("h1, h2, h3").evaluate_all("all => all.map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = screen.get("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    references = screen.get("body *").evaluate_all(
        "all => all.flatMap((one) => ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for']"
        ".flatMap((name) => (one.getAttribute(name) ?? '').split(' ').filter(Boolean)))"
    )
    assert len(references) > 10
    assert set(references) <= set(ids)


def test_by_keyboard_alone(opening, server):
    """From the top of the page: choose an example, change it, go through what came of it, copy."""
    screen = opening(server)
    screen.expect_answer(*screen.turns)
    keys = screen.page.keyboard
    tab_to(screen, ".chip[lang=zh]")
    keys.press("Enter")
    expect(screen.turn(1)).to_have_value("北京今天天气怎么样")
    tab_to(screen, ".turn textarea")
    for number, text in enumerate(BEIJING):
        expect(screen.turn(number + 1)).to_be_focused()
        keys.press("Control+A")
        keys.insert_text(text)
        if number < 2:
            tab_to(screen, ".turn textarea")
    keys.press("Control+Enter")
    screen.expect_text("北京好吗")
    tab_to(screen, "[name=mode]")
    tab_to(screen, "#run")
    tab_to(screen, "#text .edit")
    expect(screen.get("#links path")).to_have_count(1)
    tab_to(screen, "#threshold")
    keys.press("End")
    screen.expect_text("它好吗")
    tab_to(screen, "[role=gridcell]")
    keys.press("ArrowRight")
    expect(screen.get("#details dt")).to_have_text(["none", "substitute", "insert"])
    tab_to(screen, "#copy-code")
    keys.press("Enter")
    expect(screen.get("#toast")).to_have_text("curl copied")
    expect(screen.get("#copy-code")).to_be_focused()


def test_the_way_past_the_dialogue(screen):
    screen.page.keyboard.press("Tab")
    expect(screen.page.get_by_role("link", name="Skip to the rewrite")).to_be_focused()
    expect(screen.get(".skip")).to_be_in_viewport()
    screen.page.keyboard.press("Enter")
    expect(screen.get("#rewrite")).to_be_focused()
    assert screen.turns == BEIJING, "the fragment is still the dialogue's"
