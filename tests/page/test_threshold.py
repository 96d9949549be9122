"""The threshold acts at once, as the server would, and asks for nothing that is known."""

from __future__ import annotations

from playwright.sync_api import expect

from page.screen import BEIJING, OSLO, link
from page.told import Find, Told
from urewrite.edits.choose import Thresholds

TWO = Told((Find("substitute", "Oslo", 0, "it", 0.9), Find("insert", "Sure", 1, "", 0.7)))


def test_it_acts_as_the_server_would(screen):
    (region,) = screen.answer(*BEIJING)["grid"]["regions"]
    texts = []
    for share in (0, 0.2, 1, 0.4):
        screen.slider.fill(str(share))
        texts.append(screen.expect_answer(*BEIJING, threshold=share)["text"])
        expect(screen.get("#threshold-value")).to_have_text(f"{share:.2f}")
        expect(screen.get(".box.made")).to_have_count(int(region["score"] >= share))
        expect(screen.get(".box.dropped")).to_have_count(int(region["score"] < share))
    assert texts == ["北京好吗", "北京好吗", "它好吗", "北京好吗"]
    expect(screen.get("#reason")).to_contain_text("Rewritten")


def test_what_is_known_is_not_asked_for_again(opening, server):
    screen = opening(server, link(OSLO), told=TWO)
    screen.expect_text("where is Oslo now ? Sure")
    expect(screen.get("#ticks span")).to_have_count(2)
    for percent, text in (
        (65, "where is Oslo now ? Sure"),
        (80, "where is Oslo now ?"),
        (95, "where is it now ?"),
        (85, "where is Oslo now ?"),
        (10, "where is Oslo now ? Sure"),
        (92, "where is it now ?"),
    ):
        screen.slider.fill(str(percent / 100))
        screen.expect_text(text)
    assert [body.get("threshold") for body in screen.asked] == [None, 0.65, 0.8, 0.95]


def test_keys_and_the_way_back_to_the_default(opening, server):
    screen = opening(server, link(OSLO), told=TWO)
    screen.expect_text("where is Oslo now ? Sure")
    expect(screen.get("#threshold-value")).to_have_text("0.60")
    expect(screen.get("#threshold-help")).to_contain_text("This is the default of the model.")
    expect(screen.slider).to_have_attribute("aria-valuetext", "0.60, the default")
    expect(screen.button("Use default")).to_be_hidden()
    screen.slider.press("ArrowRight")
    expect(screen.get("#threshold-value")).to_have_text("0.61")
    assert "threshold=0.61" in screen.page.url
    screen.slider.press("End")
    screen.expect_text("where is it now ?")
    expect(screen.get("#reason")).to_contain_text("none is sure enough")
    screen.button("Use default").click()
    screen.expect_text("where is Oslo now ? Sure")
    expect(screen.slider).to_be_focused()
    assert "threshold" not in screen.page.url


def test_what_the_best_region_needs_is_told(opening, server):
    told = Told((Find("substitute", "Oslo", 0, "it", 0.55),), thresholds=Thresholds(0.5, 0.6, 0.2))
    screen = opening(server, link(OSLO), told=told)
    screen.expect_text("where is Oslo now ?")
    expect(screen.get("#threshold-help")).to_contain_text("If none has it, the best one needs 0.20.")
    screen.slider.fill("0.6")
    screen.expect_text("where is it now ?")
    expect(screen.get("#threshold-help")).to_have_text("The least score a region needs to become an edit.")


def test_the_place_in_the_grid_is_kept(opening, server):
    turns = ["你知道吗，" * 20, *BEIJING]
    screen = opening(server, link(turns))
    screen.expect_answer(*turns)
    screen.get("#grid-box").evaluate("box => box.scrollTo(0, 50)")
    screen.slider.fill("1")
    screen.expect_text(turns[-1])
    assert screen.get("#grid-box").evaluate("box => box.scrollTop") == 50


def test_an_answer_that_fails_to_come(screen):
    screen.page.route("**/v1/rewrite", lambda route: route.abort())
    screen.slider.fill("1")
    expect(screen.get("#problem")).to_contain_text("The server does not answer")
    expect(screen.get("#rewrite.stale")).to_be_visible()
    screen.page.unroute("**/v1/rewrite")
    screen.slider.fill("0.99")
    screen.expect_answer(*BEIJING, threshold=0.99)
    expect(screen.get("#problem")).to_be_hidden()
