"""What users write is text and nothing else, and the page has nothing from elsewhere."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from page.screen import BEIJING, link
from page.told import Find, Told
from urewrite.serve.static import FOLDER

ATTACKS = [
    "<img src=x onerror=\"document.title='hacked'\">",
    "<script>document.title='hacked'</script>",
    '"><svg onload="document.title=\'hacked\'">',
    "javascript:document.title='hacked'",
    "{{constructor.constructor('document.title=1')()}}</textarea><b id=hacked>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_markup_is_text_wherever_it_is_shown(opening, server, attack):
    """In fields, marks, the rewrite, the list of edits, the grid, its details and the code."""
    turns = [f"do you know {attack}", "Sure .", f"{attack} what is it ?"]
    screen = opening(server, link(turns), told=Told((Find("substitute", attack, 0, "it", 0.9),)))
    expect(screen.get("#text .edit")).to_have_text(attack)
    screen.page.get_by_role("gridcell").filter(has_text="S").first.hover()
    expect(screen.get("#edits b")).to_have_text(re.compile(".+"))
    expect(screen.get("mark.source")).to_have_text(attack)
    for tab in ("Python", "JSON", "curl"):
        screen.page.get_by_role("tab", name=tab).click()
        assert screen.get("#code").locator("*").count() == 0
    assert screen.turns == turns
    for place in ("#turns", "#rewrite", "#grid-card", "#use"):
        assert screen.get(place).locator("img, script, svg, a, #hacked").count() == 0
    assert screen.page.title() == "urewrite"


def test_an_attack_by_way_of_the_server(screen):
    screen.write(*ATTACKS, "它是什么")
    answer = screen.expect_answer(*ATTACKS, "它是什么")
    assert answer["reason"] != "error"
    assert screen.turns == [*ATTACKS, "它是什么"]
    assert screen.page.title() == "urewrite"


def test_an_attack_in_a_message_of_the_server(screen):
    error = {"error": {"message": ATTACKS[0], "param": "messages[0]"}}
    screen.page.route("**/v1/rewrite", lambda route: route.fulfill(status=422, json=error))
    screen.turn(3).fill("什么")
    expect(screen.problem(1)).to_contain_text("<img src=x")
    assert screen.get("main img").count() == 0


def test_a_hostile_link_is_text(opening, server):
    screen = opening(server, "u=%3Cimg%20src=x%20onerror=alert(1)%3E&a=&u=%3Cb%3E&mode=%22%3E&lang=xx&threshold=NaN")
    screen.expect_answer("<img src=x onerror=alert(1)>", "", "<b>")
    assert screen.turns == ["<img src=x onerror=alert(1)>", "", "<b>"]
    expect(screen.page.get_by_role("radio", name="Auto")).to_be_checked()
    assert {"threshold", "mode", "lang"}.isdisjoint(screen.asked[0])


def test_nothing_is_requested_elsewhere(screen, server):
    for language in ("en", "zh"):
        screen.get(f".chip[lang={language}]").first.click()
        screen.expect_answer(*screen.turns)
    screen.copied("Copy link")
    screen.write(*BEIJING)
    screen.expect_text("北京好吗")
    assert {address.rpartition("/")[2] for address in screen.addresses} >= {"main.js", "page.css", "models", "rewrite"}
    assert [address for address in screen.addresses if not address.startswith(f"{server.address}/")] == []


def test_the_page_has_no_inline_code_and_no_address_elsewhere():
    files = list(FOLDER.iterdir())
    assert len(files) > 10
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path
        addresses = set(re.findall(r"https?://[^\s\"'`<>)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path
        if path.suffix == ".html":
            assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?! type=\"module\" src=)", text)
