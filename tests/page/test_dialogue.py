"""Writing a dialogue: by keys, by buttons, with an input method; nothing written is lost."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from page.screen import BEIJING, OSLO, WANG_FEI, Screen


def roles(screen: Screen) -> list[str]:
    return [select.input_value() for select in screen.get(".turn-role").all()]


def test_typing_turn_by_turn(screen):
    screen.write(*OSLO)
    assert screen.turns == OSLO
    screen.expect_text("where is Oslo now ?")
    assert roles(screen) == ["user", "assistant", "user"]
    sent = screen.asked[-1]["messages"]
    assert sent == [{"role": role, "content": text} for role, text in zip(roles(screen), OSLO, strict=True)]


def test_it_is_rewritten_while_one_types(screen):
    screen.turn(3).fill("")
    expect(screen.get(".turn.last textarea")).to_have_value(BEIJING[1])
    screen.turn(3).press_sequentially("怎么样")
    screen.expect_text("北京怎么样")
    expect(screen.get(".turn.last textarea")).to_have_value("怎么样")


def test_enter_after_the_last_turn_keeps_the_result(screen):
    screen.turn(3).press("Enter")
    assert screen.turns == [*BEIJING, ""]
    expect(screen.turn(4)).to_be_focused()
    screen.expect_text("北京好吗")
    screen.turn(4).press("Enter")  # an empty turn is not followed by another
    assert screen.turns == [*BEIJING, ""]
    expect(screen.get(".turn.last textarea")).to_have_value(BEIJING[2])


def test_a_turn_by_button(screen):
    screen.button("+ Add a turn").click()
    expect(screen.turn(4)).to_be_focused()
    assert roles(screen) == ["user", "assistant", "user", "assistant"]


def test_shift_enter_breaks_the_line(screen):
    screen.turn(3).press("End")
    screen.turn(3).press("Shift+Enter")
    screen.page.keyboard.insert_text("怎么样")
    assert screen.turns == [*BEIJING[:2], "它好吗\n怎么样"]
    screen.expect_answer(*screen.turns)


def test_control_enter_rewrites_now(screen):
    screen.page.clock.install()  # so that no pause in typing ever ends
    screen.turn(3).fill("怎么样")
    screen.turn(3).press("Control+Enter")
    screen.expect_text("北京怎么样")


def test_turns_are_removed_and_brought_back(screen):
    screen.button("Remove turn 1").click()
    assert screen.turns == BEIJING[1:]
    expect(screen.turn(1)).to_be_focused()
    screen.expect_answer(*BEIJING[1:])
    screen.button("Undo").click()
    assert screen.turns == BEIJING
    screen.expect_text("北京好吗")


def test_backspace_removes_an_empty_turn(screen):
    screen.turn(1).fill("")
    screen.turn(1).press("Backspace")
    assert screen.turns == BEIJING[1:]
    screen.expect_answer(*BEIJING[1:])


def test_the_only_turn_stays(screen):
    screen.write("什么")
    screen.button("Remove turn 1").click(force=True)
    assert screen.turns == ["什么"]
    expect(screen.get("#reason")).to_contain_text("there is nothing before it")
    expect(screen.get("#grid-card")).to_be_hidden()


def test_turns_are_moved(screen):
    screen.button("Move turn 1 down").click()
    assert screen.turns == [BEIJING[1], BEIJING[0], BEIJING[2]]
    expect(screen.button("Move turn 2 down")).to_be_focused()
    screen.expect_answer(*screen.turns)
    screen.turn(2).press("Alt+ArrowUp")
    assert screen.turns == BEIJING
    expect(screen.turn(1)).to_be_focused()
    screen.turn(1).press("Alt+ArrowUp")  # nowhere to go
    assert screen.turns == BEIJING


def test_roles_are_sent(screen):
    with screen.page.expect_request("**/v1/rewrite"):
        screen.page.get_by_label("Who says turn 1").select_option("assistant")
    assert screen.asked[-1]["messages"][0]["role"] == "assistant"
    assert "#a=" in screen.page.url


def test_what_was_written_outlives_a_reload(screen):
    screen.write(*WANG_FEI)
    expect(screen.page).to_have_url(re.compile(r"#u=%E5%93%A6.*&u=%E6%80%8E.*$"))
    screen.page.reload()
    screen.expect_text("王菲怎么样")
    assert screen.turns == WANG_FEI


def test_an_input_method_is_left_alone(screen):
    screen.page.clock.install()
    method = screen.page.context.new_cdp_session(screen.page)
    screen.turn(3).fill("")
    for letters in ("z", "ze", "zen", "zenm", "zenmeyang"):
        at_end = {"selectionStart": len(letters), "selectionEnd": len(letters)}
        method.send("Input.imeSetComposition", {"text": letters, **at_end})
    screen.page.clock.run_for(5_000)  # longer than any pause after which a dialogue is rewritten
    assert screen.turns == [*BEIJING[:2], "zenmeyang"]
    screen.page.keyboard.press("Enter")
    assert len(screen.turns) == 3, "Enter was the input method's"
    screen.turn(3).fill("")
    method.send("Input.imeSetComposition", {"text": "zenmeyang", "selectionStart": 9, "selectionEnd": 9})
    method.send("Input.insertText", {"text": "怎么样"})
    screen.page.clock.run_for(5_000)
    screen.expect_text("北京怎么样")
    assert screen.turns == [*BEIJING[:2], "怎么样"]
    assert not any("zen" in str(body) for body in screen.asked)


def test_a_field_is_as_high_as_its_text(screen):
    screen.turn(1).fill("泰坦尼克号是一部电影。" * 20 + "\n\n")
    needed, given = screen.turn(1).evaluate("field => [field.scrollHeight, field.clientHeight]")
    assert 100 < needed <= given
    screen.turn(1).fill("x" * 5000)
    assert screen.get(".turn").first.bounding_box()["height"] < 500
