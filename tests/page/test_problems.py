"""What goes wrong is said in words, near the field at fault, and nothing written is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from page.screen import KEY, TITANIC, link


@pytest.fixture
def strict(opening, strict_server):
    """The page of the server with limits, the key given."""
    screen = opening(strict_server, link(TITANIC))
    screen.get("#key").fill(KEY)
    screen.page.get_by_role("button", name="Use key").click()
    screen.expect_answer(*TITANIC)
    return screen


def test_a_key_is_asked_for_only_if_it_is_needed(screen, opening, strict_server):
    screen.expect_answer(*TITANIC)
    expect(screen.get("#key")).to_be_hidden()
    locked = opening(strict_server, link(TITANIC))
    expect(locked.get("#key")).to_be_focused()
    expect(locked.get("#key-problem")).to_have_text("This server asks for an API key.")
    locked.get("#key").fill("a-wrong-key-for-the-tests")
    locked.get("#key").press("Enter")
    expect(locked.get("#key-problem")).to_have_text("The server does not know this key.")
    assert locked.turns == TITANIC
    locked.get("#key").fill(KEY)
    locked.get("#key").press("Enter")
    locked.expect_answer(*TITANIC)
    expect(locked.get("#key")).to_be_hidden()
    stored = "() => JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])"
    assert KEY not in locked.page.evaluate(stored)
    locked.page.reload()
    expect(locked.get("#key")).to_be_visible()
    assert locked.get("#key").input_value() == ""


def test_a_turn_that_is_too_long(strict):
    long = "长" * 201
    strict.turn(1).fill(long)
    problem = strict.get(".turn >> nth=0 >> .problem")
    expect(problem).to_have_text("A turn may have 200 characters, found 201.")
    assert strict.turn(1).get_attribute("aria-invalid") == "true"
    assert strict.turn(1).get_attribute("aria-describedby") == problem.get_attribute("id")
    expect(strict.get("#announcement")).to_contain_text("Turn 1: A turn may have")
    assert strict.turns == [long, *TITANIC[1:]]
    strict.turn(1).fill(TITANIC[0])
    strict.expect_answer(*TITANIC)
    expect(problem).to_be_hidden()
    assert strict.turn(1).get_attribute("aria-invalid") is None
    strict.turn(3).fill(long)
    expect(strict.get(".turn >> nth=2 >> .problem")).to_be_visible()


def test_a_server_that_takes_too_long(strict, gates):
    strict.turn(3).fill("hold it")
    expect(strict.get("#problem")).to_contain_text("The server is busy: there was no answer within 3 seconds. Try")
    assert strict.turns == [*TITANIC[:2], "hold it"]
    expect(strict.get("#rewrite")).to_have_class("card stale")
    (gates / "it").touch()
    strict.turn(3).fill(TITANIC[2])
    strict.expect_answer(*TITANIC)
    expect(strict.get("#problem")).to_be_hidden()


def test_a_failing_model_leaves_the_utterance(strict):
    strict.turn(3).fill("fail")
    strict.expect_text("fail")
    expect(strict.get("#reason")).to_contain_text("something failed inside")


def test_a_server_that_does_not_answer(screen):
    screen.expect_answer(*TITANIC)
    screen.page.context.set_offline(True)
    screen.turn(3).fill("它是什么")
    expect(screen.get("#problem")).to_contain_text("The server does not answer. What you wrote is still here")
    assert screen.turns == [*TITANIC[:2], "它是什么"]
    screen.page.context.set_offline(False)
    screen.page.get_by_role("button", name="Rewrite").click()
    screen.expect_answer(*TITANIC[:2], "它是什么")
    expect(screen.get("#problem")).to_be_hidden()


def test_an_answer_that_is_no_json(screen):
    screen.expect_answer(*TITANIC)
    screen.page.route("**/v1/rewrite", lambda route: route.fulfill(status=502, body="<html>Bad Gateway</html>"))
    screen.turn(3).fill("它是什么")
    expect(screen.get("#problem")).to_have_text("The server failed: it answered with status 502.")


def test_nothing_to_rewrite(screen):
    screen.page.get_by_role("button", name="Clear").click()
    expect(screen.get("#reason")).to_contain_text("Write what is said last")
    asked = len(screen.asked)
    screen.page.get_by_role("button", name="Rewrite").click()
    expect(screen.get(".turn .problem")).to_contain_text("Write what is said last")
    expect(screen.turn(1)).to_be_focused()
    assert len(screen.asked) == asked
    screen.page.keyboard.insert_text("你好")
    screen.expect_text("你好")
    expect(screen.get(".turn .problem")).to_be_hidden()


def test_an_answer_that_nobody_waits_for_is_given_up(screen):
    screen.expect_answer(*TITANIC)
    held = []
    screen.page.route("**/v1/rewrite", lambda route: held.append(route))
    failed = []
    screen.page.on("requestfailed", lambda request: failed.append(request))
    screen.turn(3).fill("它好看吗")
    while not held:
        screen.page.wait_for_timeout(20)
    screen.page.unroute("**/v1/rewrite")
    screen.turn(3).fill(TITANIC[2])
    screen.expect_answer(*TITANIC)
    assert [request.failure for request in failed] == ["net::ERR_ABORTED"]
