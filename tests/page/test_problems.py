"""What goes wrong is said in words, near the field at fault, and nothing written is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from page.screen import BEIJING, KEY, Screen, link


@pytest.fixture
def strict(opening, strict_server) -> Screen:
    """The page of the server with limits, the key given."""
    screen = opening(strict_server, link(BEIJING))
    screen.get("#key").fill(KEY)
    screen.button("Use key").click()
    screen.expect_text("北京好吗")
    return screen


def test_a_key_is_asked_for_only_if_it_is_needed(screen, opening, strict_server):
    expect(screen.get("#key")).to_be_hidden()
    locked = opening(strict_server, link(BEIJING))
    key = locked.page.get_by_label("API key")
    expect(key).to_be_focused()
    expect(key).to_have_accessible_description(
        "It is kept until this tab is closed or reloaded, and is in no link. This server asks for an API key."
    )
    key.fill("a-wrong-key-for-the-tests")
    key.press("Enter")
    expect(locked.get("#key-problem")).to_have_text("The server does not know this key.")
    assert locked.turns == BEIJING
    key.fill(KEY)
    key.press("Enter")
    locked.expect_text("北京好吗")
    expect(key).to_be_hidden()
    stored = "() => JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])"
    assert KEY not in locked.page.evaluate(stored)
    locked.page.reload()
    expect(key).to_be_visible()
    expect(key).to_have_value("")


@pytest.mark.parametrize("number", [1, 3])
def test_a_turn_that_is_too_long(strict, number):
    long = "长" * 201
    strict.turn(number).fill(long)
    expect(strict.problem(number)).to_have_text("A turn may have 200 characters, found 201.")
    expect(strict.turn(number)).to_have_attribute("aria-invalid", "true")
    expect(strict.turn(number)).to_have_accessible_description("A turn may have 200 characters, found 201.")
    expect(strict.get("#announcement")).to_have_text(f"Turn {number}: A turn may have 200 characters, found 201.")
    expect(strict.get("#problem")).to_be_hidden()
    assert strict.turns == [*BEIJING[: number - 1], long, *BEIJING[number:]]
    strict.turn(number).fill(BEIJING[number - 1])
    strict.expect_text("北京好吗")
    expect(strict.problem(number)).to_be_hidden()
    assert strict.turn(number).get_attribute("aria-invalid") is None


def test_a_field_that_the_page_does_not_have(screen):
    error = {"error": {"message": "expected auto, en or zh", "param": "lang"}}
    screen.page.route("**/v1/rewrite", lambda route: route.fulfill(status=422, json=error))
    screen.turn(3).fill("什么")
    expect(screen.page.get_by_role("alert")).to_have_text("Expected auto, en or zh.")
    expect(screen.get(".turn .problem:visible")).to_have_count(0)


def test_a_server_that_takes_too_long(strict, gates):
    strict.turn(3).fill("hold it")
    expect(strict.page.get_by_role("alert")).to_contain_text(
        "The server is busy: there was no answer within 3 seconds. Try again in"
    )
    assert strict.turns == [*BEIJING[:2], "hold it"]
    expect(strict.get("#rewrite.stale")).to_be_visible()
    (gates / "it").touch()
    strict.turn(3).fill(BEIJING[2])
    strict.expect_text("北京好吗")
    expect(strict.get("#problem")).to_be_hidden()


def test_a_failing_model_leaves_the_utterance(strict):
    strict.turn(3).fill("fail")
    strict.expect_text("fail")
    expect(strict.get("#reason")).to_contain_text("something failed inside")


def test_a_server_that_does_not_answer(screen):
    screen.page.context.set_offline(True)
    screen.turn(3).fill("怎么样")
    expect(screen.page.get_by_role("alert")).to_contain_text("The server does not answer. What you wrote is still here")
    assert screen.turns == [*BEIJING[:2], "怎么样"]
    expect(screen.get("#rewrite.stale")).to_be_visible()
    screen.page.context.set_offline(False)
    screen.button("Rewrite").click()
    screen.expect_text("北京怎么样")
    expect(screen.get("#problem")).to_be_hidden()


def test_an_answer_that_is_no_json(screen):
    screen.page.route("**/v1/rewrite", lambda route: route.fulfill(status=502, body="<html>Bad Gateway</html>"))
    screen.turn(3).fill("怎么样")
    expect(screen.page.get_by_role("alert")).to_have_text("The server failed: it answered with status 502.")


def test_nothing_to_rewrite(screen):
    screen.button("Clear").click()
    expect(screen.get("#reason")).to_contain_text("Write what is said last")
    asked = len(screen.asked)
    screen.button("Rewrite").click()
    expect(screen.problem(1)).to_contain_text("Write what is said last")
    expect(screen.turn(1)).to_be_focused()
    assert len(screen.asked) == asked
    screen.page.keyboard.insert_text("你好")
    screen.expect_text("你好")
    expect(screen.problem(1)).to_be_hidden()


def test_an_answer_that_nobody_waits_for_is_given_up(screen):
    held: list[Route] = []
    screen.page.route("**/v1/rewrite", lambda route: route.continue_() if held else held.append(route))
    with screen.page.expect_request("**/v1/rewrite"):
        screen.turn(3).fill("你好")
    with screen.page.expect_event("requestfailed") as given_up:
        screen.turn(3).fill("怎么样")
    assert given_up.value.failure == "net::ERR_ABORTED"
    screen.expect_text("北京怎么样")
