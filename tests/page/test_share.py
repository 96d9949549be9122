"""What leaves the page: links, code, and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from page.screen import KEY, TITANIC, link

ODD = ['It\'s "quoted" $HOME `id` \\n 100% #1 & +1', "'; echo hacked; '\n第二行\t泰坦尼克号 😀", "$(id) 它怎么样？"]


def same(one: dict[str, object], other: dict[str, object]) -> bool:
    """Whether two answers say the same; they never take the same time."""
    return {**one, "timing": None, "grid": None} == {**other, "timing": None, "grid": None}


def test_a_link_brings_everything_along(screen, opening, server):
    screen.write(*ODD)
    screen.get(".turn-role").nth(0).select_option("assistant")
    screen.page.get_by_label("Language").select_option("zh")
    screen.page.get_by_role("slider").fill("0.35")
    screen.expect_answer(*ODD, threshold=0.35, lang="zh")
    address = screen.copied("Copy link")
    assert address.startswith(f"{server.address}/#")
    other = opening(server, address.partition("#")[2])
    other.expect_answer(*ODD, threshold=0.35, lang="zh")
    assert other.turns == ODD
    assert [role.input_value() for role in other.get(".turn-role").all()] == ["assistant", "assistant", "user"]
    assert other.get("#lang").input_value() == "zh"
    expect(other.get("#threshold-value")).to_have_text("0.35")


def test_no_address_and_no_log_holds_the_dialogue(screen, server):
    screen.expect_answer(*TITANIC)
    screen.page.reload()
    screen.expect_answer(*TITANIC)
    assert screen.addresses
    for address in screen.addresses:
        assert address.startswith(server.address)
        assert "#" not in address
        assert "?" not in address
    assert not any(part in server.log for text in TITANIC for part in (text, quote(text)))


def test_a_link_that_is_pasted_while_the_page_is_open(screen):
    screen.expect_answer(*TITANIC)
    screen.open(link(["上海的房价是多少", "那深圳呢"]))
    screen.expect_answer("上海的房价是多少", "那深圳呢")


def code(screen, tab: str) -> str:
    screen.page.get_by_role("tab", name=tab).click()
    copied = screen.copied("Copy")
    assert copied == screen.get("#code").text_content()
    return copied


def run(*command: str, **environment: str) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=True, timeout=120, env=environment or None
    ).stdout


@pytest.mark.parametrize(("turns", "wishes"), [(TITANIC, {}), (ODD, {"lang": "zh", "threshold": 0.4})])
def test_copied_code_gives_the_same_answer(opening, server, turns, wishes):
    if shutil.which("curl") is None:
        pytest.skip("there is no curl: install it")
    screen = opening(server, link(turns, **wishes))
    answer = screen.expect_answer(*turns, **wishes)
    assert same(json.loads(run("sh", "-c", code(screen, "curl"))), answer)
    assert same(json.loads(code(screen, "JSON")), answer)
    assert run(sys.executable, "-c", code(screen, "Python")) == answer["text"] + "\n"


def test_copied_code_holds_no_key(opening, strict_server):
    screen = opening(strict_server, link(TITANIC))
    screen.get("#key").fill(KEY)
    screen.get("#key").press("Enter")
    answer = screen.expect_answer(*TITANIC)
    assert KEY not in screen.page.content()
    assert KEY not in screen.copied("Copy link")
    command, program = code(screen, "curl"), code(screen, "Python")
    assert KEY not in command + program
    environment = {"PATH": "/usr/bin:/bin", "UREWRITE_API_KEY": KEY}
    assert same(json.loads(run("sh", "-c", command, **environment)), answer)
    assert run(sys.executable, "-c", program, **environment) == answer["text"] + "\n"


def test_the_text_is_copied(screen):
    answer = screen.expect_answer(*TITANIC)
    assert screen.copied("Copy text") == answer["text"]


def test_tabs_by_arrow_keys(screen):
    screen.expect_answer(*TITANIC)
    screen.page.get_by_role("tab", name="curl").focus()
    for key, name in (("ArrowRight", "Python"), ("ArrowRight", "JSON"), ("ArrowRight", "curl"), ("ArrowLeft", "JSON")):
        screen.page.keyboard.press(key)
        expect(screen.page.get_by_role("tab", name=name)).to_be_focused()
        expect(screen.page.get_by_role("tab", selected=True)).to_have_text(name)
    assert json.loads(screen.get("#code").text_content())["utterance"] == TITANIC[2]
