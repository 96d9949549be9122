"""What leaves the page: links and code, and in no other way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from page.screen import BEIJING, KEY, WANG_FEI, Screen, link

ODD = ['It\'s "quoted" $HOME `id` \\n 100% #1 & +1', "'; echo hacked; '\n第二行\t北京 😀", "$(id) 它好吗？"]


def same(one: dict[str, object], other: dict[str, object]) -> bool:
    """Whether two answers say the same; they never take the same time."""
    return {**one, "timing": None, "grid": None} == {**other, "timing": None, "grid": None}


def code(screen: Screen, tab: str) -> str:
    screen.page.get_by_role("tab", name=tab).click()
    copied = screen.copied("Copy")
    assert copied == screen.get("#code").text_content()
    return copied


def run(*command: str, **environment: str) -> str:
    given = {**os.environ, **environment}
    finished = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, env=given)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture
def curl() -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl: install it")


def test_a_link_brings_everything_along(screen, opening, server):
    screen.write(*ODD)
    screen.get(".turn-role").nth(0).select_option("assistant")
    screen.page.get_by_label("Language").select_option("zh")
    screen.expect_answer(*ODD, lang="zh")
    screen.slider.fill("0.35")
    screen.expect_answer(*ODD, threshold=0.35, lang="zh")
    address = screen.copied("Copy link")
    assert address.startswith(f"{server.address}/#")
    other = opening(server, urlsplit(address).fragment)
    other.expect_answer(*ODD, threshold=0.35, lang="zh")
    assert other.turns == ODD
    assert [role.input_value() for role in other.get(".turn-role").all()] == ["assistant", "assistant", "user"]
    expect(other.page.get_by_label("Language")).to_have_value("zh")
    expect(other.get("#threshold-value")).to_have_text("0.35")


def test_no_address_and_no_log_holds_the_dialogue(screen, server):
    screen.page.reload()
    screen.expect_text("北京好吗")
    assert quote(BEIJING[2]) in screen.page.url
    assert len(screen.addresses) > 10
    assert [address for address in screen.addresses if "?" in address or "#" in address] == []
    assert "/v1/rewrite" in server.log, "requests are logged"
    assert not any(part in server.log for text in BEIJING for part in (text, quote(text)))


def test_a_link_that_is_pasted_while_the_page_is_open(screen):
    screen.open(link(WANG_FEI, mode="always"))
    screen.expect_text("王菲怎么样")
    expect(screen.page.get_by_label("Always")).to_be_checked()


@pytest.mark.usefixtures("curl")
@pytest.mark.parametrize(("turns", "wishes"), [(BEIJING, {}), (ODD, {"lang": "zh", "threshold": 0.4})])
def test_copied_code_gives_the_same_answer(opening, server, turns, wishes):
    screen = opening(server, link(turns, **wishes))
    answer = screen.expect_answer(*turns, **wishes)
    assert same(json.loads(run("sh", "-c", code(screen, "curl"))), answer)
    assert same(json.loads(code(screen, "JSON")), answer)
    assert run(sys.executable, "-c", code(screen, "Python"), PYTHONIOENCODING="utf-8") == answer["text"] + "\n"


@pytest.mark.usefixtures("curl")
def test_copied_code_holds_no_key(opening, strict_server):
    screen = opening(strict_server, link(BEIJING))
    screen.get("#key").fill(KEY)
    screen.get("#key").press("Enter")
    screen.expect_text("北京好吗")
    assert KEY not in screen.page.content()
    assert KEY not in screen.copied("Copy link")
    command, program = code(screen, "curl"), code(screen, "Python")
    assert KEY not in command + program
    assert json.loads(run("sh", "-c", command, UREWRITE_API_KEY=KEY))["text"] == "北京好吗"
    environment = {"UREWRITE_API_KEY": KEY, "PYTHONIOENCODING": "utf-8"}
    assert run(sys.executable, "-c", program, **environment) == "北京好吗\n"


def test_the_text_is_copied(screen):
    assert screen.copied("Copy text") == "北京好吗"
    expect(screen.button("Copy text")).to_be_focused()


def test_a_browser_without_a_clipboard_copies_too(screen):
    """As they are on pages without https."""
    screen.page.evaluate("() => Object.defineProperty(navigator.clipboard, 'writeText', { value: undefined })")
    screen.button("Copy text").click()
    expect(screen.get("#toast")).to_have_text("Text copied")
    expect(screen.button("Copy text")).to_be_focused()
    assert screen.page.evaluate("() => navigator.clipboard.readText()") == "北京好吗"


def test_tabs_by_arrow_keys(screen):
    screen.page.get_by_role("tab", name="curl").focus()
    for key, name in (("ArrowRight", "Python"), ("ArrowRight", "JSON"), ("ArrowRight", "curl"), ("ArrowLeft", "JSON")):
        screen.page.keyboard.press(key)
        expect(screen.page.get_by_role("tab", name=name)).to_be_focused()
        expect(screen.page.get_by_role("tab", selected=True)).to_have_text(name)
        expect(screen.page.get_by_role("tabpanel", name=name)).to_be_visible()
    assert json.loads(screen.get("#code").text_content())["utterance"] == BEIJING[2]
