"""What is shown of an answer."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from page.screen import BEIJING, OSLO, WANG_FEI, Screen, link
from page.told import Find, Told

WEATHER = ["How is the weather in Beijing ?", "Cloudy all day .", "Why is that so ?"]
SEVERAL = Told(
    (
        Find("substitute", "the weather", 0, "that", 0.9),
        Find("substitute", "Beijing", 0, "that", 0.8),
        Find("insert", "of", None, "?", 0.7),
        Find("insert", "all day", 1, "", 0.95),
        Find("insert", "Cloudy", 1, "Why", 0.55),
    )
)
"""Four edits and one that is not sure enough."""


def facts(screen: Screen) -> dict[str, str]:
    return dict(zip(screen.get("#facts dt").all_inner_texts(), screen.get("#facts dd").all_inner_texts(), strict=True))


def test_a_substitution_is_marked_and_told(screen):
    (edit,) = screen.answer(*BEIJING)["edits"]
    words = screen.get("#text .edit")
    expect(words).to_have_text(["北京"])
    expect(words).to_have_class("edit substitute")
    expect(words).to_have_accessible_name("北京, substituted, from turn 1")
    expect(screen.get("#edits li")).to_have_text(f"1北京 in place of 它 from turn 1 · score {edit['score']:.2f}")
    expect(screen.get(".turn >> nth=0 >> mark.source")).to_have_text("北京")
    expect(screen.get(".turn >> nth=2 >> mark.gone")).to_have_text("它")
    expect(screen.get("#reason")).to_have_text("Rewritten with words of the dialogue.")


def test_an_insertion_is_marked_and_told(opening, server):
    screen = opening(server, link(WANG_FEI))
    screen.expect_text("王菲怎么样")
    (edit,) = screen.answer(*WANG_FEI)["edits"]
    expect(screen.get("#text .edit")).to_have_class("edit insert")
    expect(screen.get("#edits li")).to_have_text(f"1王菲 before 怎 from turn 1 · score {edit['score']:.2f}")
    expect(screen.get(".turn.last mark.slot")).to_have_count(1)
    expect(screen.get(".turn.last mark.gone")).to_have_count(0)


def test_several_edits(opening, server):
    screen = opening(server, link(WEATHER), told=SEVERAL)
    screen.expect_text("Why is the weather Beijing so of ? all day")
    expect(screen.get("#text .edit")).to_have_text(["the weather", "Beijing", "of", "all day"])
    expect(screen.get("#edits li .what")).to_have_text(
        [
            "the weather in place of that",
            "Beijing in place of that",
            "of before ?",
            "all day at the end",
            "Cloudy before Why",
        ]
    )
    expect(screen.get("#edits li .more")).to_have_text(
        [
            "from turn 1 · score 0.90",
            "from turn 1 · score 0.80",
            "a connection word of the model · score 0.70",
            "from turn 2 · score 0.95",
            "found, not made · score 0.55",
        ]
    )
    assert screen.get("mark.source").evaluate_all(
        "all => all.map((one) => [one.textContent, one.dataset.numbers])"
    ) == [
        ["the weather", "1"],
        ["Beijing", "2"],
        ["all day", "4"],
    ]


def test_operations_are_told_apart_without_colours_too(opening, server):
    screen = opening(server, link(WEATHER), told=SEVERAL)
    look = "one => [getComputedStyle(one).color, getComputedStyle(one).textDecorationStyle]"
    substitute, insert = (screen.get(f".edit.{op}").first.evaluate(look) for op in ("substitute", "insert"))
    assert substitute[0] != insert[0]
    assert substitute[1] != insert[1]


def test_facts(screen):
    answer = screen.answer(*BEIJING)
    shown = facts(screen)
    assert shown["Confidence"] == f"{round(100 * answer['confidence'])} %"
    assert shown["Server"].split()[1] == "ms"
    assert float(shown["Round trip"].split()[0].replace(",", "")) > 0
    assert shown["Model"].split("\n") == ["toy", "saw 2 turns"]


def test_a_model_that_was_not_calibrated_has_no_confidence(opening, server):
    screen = opening(server, link(WEATHER), told=SEVERAL)
    expect(screen.get("#facts dt")).to_have_text(["Server", "Round trip", "Model"])


def test_modes_and_languages(screen):
    screen.page.get_by_label("Never").check(force=True)
    screen.expect_text(BEIJING[2])
    expect(screen.get("#reason")).to_contain_text("switched off")
    expect(screen.get("#grid-card")).to_be_hidden()
    screen.page.get_by_label("Always").check(force=True)
    screen.expect_answer(*BEIJING, mode="always")
    expect(screen.slider).to_be_disabled()
    expect(screen.get("#threshold-help")).to_have_text("Without effect in this mode.")
    screen.page.get_by_label("Language").select_option("en")
    screen.expect_answer(*BEIJING, mode="always", lang="en")
    assert (screen.asked[-1]["mode"], screen.asked[-1]["lang"]) == ("always", "en")


@pytest.mark.parametrize(
    ("finds", "reason"),
    [
        ((), "Left as it is: it stands on its own."),
        ((Find("insert", "Cloudy", 1, "Why", 0.55),), "Left as it is: edits were found, but none is sure enough."),
    ],
)
def test_why_nothing_was_changed(opening, server, finds, reason):
    screen = opening(server, link(WEATHER), told=Told(finds))
    screen.expect_text(WEATHER[2])
    expect(screen.get("#reason")).to_have_text(reason)
    expect(screen.get("#edits li.dropped")).to_have_count(len(finds))


def test_notes(opening, server):
    turns = ["很久以前，" * 60, "在一个遥远的地方，" * 60, *BEIJING]
    screen = opening(server, link(turns))
    notes = screen.expect_answer(*turns)["notes"]
    assert notes
    expect(screen.get("#notes li")).to_have_text([note[0].upper() + note[1:] + "." for note in notes])


def test_texts_name_their_language(screen):
    for shown in (screen.get("#text"), screen.turn(1), screen.get(".row .word").first):
        expect(shown).to_have_attribute("lang", "zh-Hans")
    screen.write(*OSLO)
    screen.expect_text("where is Oslo now ?")
    for shown in (screen.get("#text"), screen.turn(1), screen.get(".row .word").first):
        assert shown.get_attribute("lang") is None
