"""Examples, among them the paper's, whatever models the server has."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from page.screen import OSLO, Screen

PAPER = {
    "en": ["How is the weather in Beijing today?", "Beijing is cloudy today.", "Why is it always like this?"],
    "zh": ["北京今天天气怎么样", "北京今天是阴天", "为什么总是这样"],
}


def chips(screen: Screen, language: str):
    return screen.get(f".chip[lang={language}]")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_example_is_rewritten(opening, server, language):
    screen = opening(server)
    count = chips(screen, language).count()
    assert count >= 4
    seen = []
    for number in reversed(range(count)):
        chips(screen, language).nth(number).click()
        seen.append(screen.turns)
        answer = screen.expect_answer(*screen.turns)
        assert answer["utterance"] == screen.turns[-1]
        assert screen.asked[-1]["messages"][-1]["role"] == "user"
    assert PAPER[language] in seen
    assert len({str(turns) for turns in seen}) == count


@pytest.mark.parametrize(("locale", "language"), [("en-GB", "en"), ("de-DE", "en"), ("zh-CN", "zh")])
def test_the_example_of_the_paper_is_shown_first(opening, server, locale, language):
    screen = opening(server, locale=locale)
    screen.expect_answer(*PAPER[language])
    assert screen.turns == PAPER[language]
    assert "#" not in screen.page.url, "what nobody wrote is no link"


def test_an_example_replaces_nothing_for_good(screen):
    screen.write(*OSLO)
    chips(screen, "zh").first.click()
    assert screen.turns == PAPER["zh"]
    screen.button("Undo").click()
    expect(screen.turn(2)).to_have_value(OSLO[1])
    screen.expect_text("where is Oslo now ?")
    screen.page.go_forward()
    expect(screen.turn(1)).to_have_value(PAPER["zh"][0])
    screen.page.go_back()
    expect(screen.turn(1)).to_have_value(OSLO[0])


def test_a_language_without_a_model_is_said_to_have_none(screen):
    expect(screen.get("#examples h3")).to_have_text(["English", "中文"])
    only = {
        "id": "toy",
        "languages": ["zh"],
        "thresholds": {"cell": 0.5, "region": 0.5, "lone": 0.5, "further": 0.0, "joining": 1.0},
    }
    screen.page.route("**/v1/models", lambda route: route.fulfill(json={"data": [only]}))
    screen.open()
    screen.page.reload()
    expect(screen.get("#examples h3")).to_have_text(["English, no model here", "中文"])
    expect(screen.turn(1)).to_have_value(PAPER["zh"][0])
