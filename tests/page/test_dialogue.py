"""Writing a dialogue: by keys, from examples, with an input method; nothing written is lost or run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

import urewrite.serve.static
from page.screen import TITANIC
from urewrite.pretrained import bundled

MESSI = ["你最喜欢哪个球星", "我喜欢梅西", "你觉得他今年能拿金球奖吗"]


def test_typing_turn_by_turn(screen):
    screen.write(*MESSI)
    assert screen.turns == MESSI
    answer = screen.expect_answer(*MESSI)
    assert answer["changed"]
    roles = [select.input_value() for select in screen.get(".turn-role").all()]
    assert roles == ["user", "assistant", "user"]
    sent = screen.asked[-1]["messages"]
    assert sent == [{"role": role, "content": text} for role, text in zip(roles, MESSI, strict=True)]


def test_enter_after_the_last_turn_keeps_the_result(screen):
    screen.expect_answer(*TITANIC)
    screen.turn(3).press("Enter")
    assert screen.turns == [*TITANIC, ""]
    expect(screen.turn(4)).to_be_focused()
    screen.expect_answer(*TITANIC)
    screen.turn(4).press("Enter")  # an empty turn is not followed by another
    assert screen.turns == [*TITANIC, ""]
    expect(screen.get(".turn.last textarea")).to_have_value(TITANIC[2])


def test_shift_enter_breaks_the_line(screen):
    screen.turn(3).press("End")
    screen.turn(3).press("Shift+Enter")
    screen.page.keyboard.insert_text("它的歌")
    assert screen.turns == [*TITANIC[:2], f"{TITANIC[2]}\n它的歌"]
    screen.expect_answer(*screen.turns)


def test_turns_are_removed_and_brought_back(screen):
    screen.page.get_by_role("button", name="Remove turn 1").click()
    assert screen.turns == TITANIC[1:]
    expect(screen.turn(1)).to_be_focused()
    screen.expect_answer(*TITANIC[1:])
    screen.page.get_by_role("button", name="Undo").click()
    assert screen.turns == TITANIC
    screen.expect_answer(*TITANIC)


def test_backspace_removes_an_empty_turn(screen):
    screen.turn(1).fill("")
    screen.turn(1).press("Backspace")
    assert screen.turns == TITANIC[1:]
    screen.expect_answer(*TITANIC[1:])


def test_the_only_turn_stays(screen):
    screen.write("什么")
    screen.page.get_by_role("button", name="Remove turn 1").click(force=True)
    assert screen.turns == ["什么"]
    expect(screen.get("#reason")).to_contain_text("there is nothing before it")
    expect(screen.get("#grid-card")).to_be_hidden()


def test_turns_are_moved(screen):
    screen.page.get_by_role("button", name="Move turn 1 down").click()
    assert screen.turns == [TITANIC[1], TITANIC[0], TITANIC[2]]
    expect(screen.page.get_by_role("button", name="Move turn 2 down")).to_be_focused()
    screen.expect_answer(*screen.turns)
    screen.turn(2).press("Alt+ArrowUp")
    assert screen.turns == TITANIC
    expect(screen.turn(1)).to_be_focused()
    screen.turn(1).press("Alt+ArrowUp")  # nowhere to go
    assert screen.turns == TITANIC


def test_roles_are_sent(screen):
    screen.get(".turn-role").nth(0).select_option("assistant")
    expect(screen.get("#rewrite")).not_to_have_class("card stale")
    assert screen.asked[-1]["messages"][0]["role"] == "assistant"
    assert "#a=" in screen.page.url


@pytest.mark.parametrize("language", ["en", "zh"])
def test_examples(opening, server, language):
    if language not in bundled():
        pytest.skip("not provided: a bundled model of that language")
    screen = opening(server)
    chips = screen.get(f".chip[lang={language}]")
    assert chips.count() >= 4
    changed = 0
    for number in reversed(range(chips.count())):
        chips.nth(number).click()
        answer = screen.expect_answer(*screen.turns)
        changed += answer["changed"]
    assert 0 < changed < chips.count(), "one example shows what needs no rewriting"


def test_the_example_of_the_paper_is_shown_first(opening, server):
    screen = opening(server, locale="zh-CN")
    screen.expect_answer("北京今天天气如何", "北京今天是阴天", "为什么总是这样")
    assert "#" not in screen.page.url, "what nobody wrote is no link"


def test_an_example_replaces_nothing_for_good(screen):
    screen.write(*MESSI)
    screen.get(".chip[lang=zh]").first.click()
    assert screen.turns == ["北京今天天气如何", "北京今天是阴天", "为什么总是这样"]
    screen.page.get_by_role("button", name="Undo").click()
    expect(screen.turn(2)).to_have_value(MESSI[1])
    screen.expect_answer(*MESSI)
    screen.page.go_forward()
    expect(screen.turn(1)).to_have_value("北京今天天气如何")
    screen.page.go_back()
    expect(screen.turn(1)).to_have_value(MESSI[0])


def test_what_was_written_outlives_a_reload(screen):
    screen.write(*MESSI)
    expect(screen.page).to_have_url(re.compile(r"u=%E4%BD%A0.*&u=.+$"))
    screen.page.reload()
    screen.expect_answer(*MESSI)
    assert screen.turns == MESSI


def test_an_input_method_is_left_alone(screen):
    screen.expect_answer(*TITANIC)
    method = screen.page.context.new_cdp_session(screen.page)
    screen.turn(3).fill("")
    asked = len(screen.asked)
    for letters in ("w", "we", "wei", "weis", "weish", "weishenme"):
        at_end = {"selectionStart": len(letters), "selectionEnd": len(letters)}
        method.send("Input.imeSetComposition", {"text": letters, **at_end})
    screen.page.wait_for_timeout(600)  # longer than the pause after which a dialogue is rewritten
    assert [body for body in screen.asked[asked:] if "wei" in str(body)] == []
    screen.page.keyboard.press("Enter")
    assert len(screen.turns) == 3, "Enter was the input method's"
    screen.turn(3).fill("")
    method.send("Input.imeSetComposition", {"text": "weishenme", "selectionStart": 9, "selectionEnd": 9})
    method.send("Input.insertText", {"text": "为什么喜欢它"})
    assert screen.turns == [*TITANIC[:2], "为什么喜欢它"]
    screen.expect_answer(*TITANIC[:2], "为什么喜欢它")


ATTACKS = [
    "<img src=x onerror=\"document.title='hacked'\">",
    "<script>document.title='hacked'</script>",
    '"><svg onload="document.title=\'hacked\'">',
    "javascript:document.title='hacked'",
    "{{constructor.constructor('document.title=1')()}}</textarea><b id=hacked>",
]


def test_markup_is_text(screen):
    screen.write(*ATTACKS, "它是什么")
    answer = screen.expect_answer(*ATTACKS, "它是什么")
    assert screen.turns == [*ATTACKS, "它是什么"]
    screen.write("泰坦尼克号", ATTACKS[0])
    screen.expect_text(screen.answer("泰坦尼克号", ATTACKS[0])["text"])
    for body in ("#text", "#code", "#grid-box", ".mirror >> nth=1"):
        assert screen.get(body).locator("img, script, svg, b#hacked").count() == 0
    assert "<img src=x" in screen.get("#code").text_content()
    assert screen.page.title() == "urewrite"
    assert answer["reason"] != "error"


def test_a_hostile_link_is_text(opening, server):
    screen = opening(server, "u=%3Cimg%20src=x%20onerror=alert(1)%3E&a=&u=%3Cb%3E&mode=%22%3E&lang=xx&threshold=NaN")
    screen.expect_text("<b>")
    assert screen.turns == ["<img src=x onerror=alert(1)>", "", "<b>"]
    assert screen.get("input[name=mode]:checked").input_value() == "auto"
    assert "threshold" not in screen.asked[0]


def test_a_field_is_as_high_as_its_text(screen):
    screen.turn(1).fill("泰坦尼克号是一部电影。" * 30 + "\n\n")
    heights = screen.turn(1).evaluate("field => [field.scrollHeight, field.clientHeight, field.scrollWidth]")
    assert heights[0] <= heights[1]
    screen.turn(1).fill("x" * 5000)
    assert screen.get(".turn").first.bounding_box()["height"] < 500


def test_the_page_has_no_inline_code_and_no_address_elsewhere():
    for path in Path(urewrite.serve.static.FOLDER).iterdir():
        text = path.read_text(encoding="utf-8")
        assert "innerHTML" not in text
        addresses = set(re.findall(r"https?://[^\s\"'`<>)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path
        if path.suffix == ".html":
            assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?! type=\"module\" src=)", text)
