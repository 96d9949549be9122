from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urewrite.dialogue import Dialogue, Example
from urewrite.scoring import METRICS, compare, confidence_intervals, html_report, judge, score
from urewrite.scoring.report import LABELS, comparison_table, summary_table, word_difference
from urewrite.tokens import tokenize

EXAMPLES = [
    Example(Dialogue.of(["Who is <b>Kobe</b>?"], "When did he retire?"), "When did Kobe retire?"),
    Example(Dialogue.of([], "Thanks & bye"), "Thanks & bye"),
]
PREDICTIONS = ["When did <script>alert(1)</script> retire?", "Thanks & bye"]
SCORES = score(EXAMPLES, PREDICTIONS)
VERDICTS = judge(EXAMPLES, PREDICTIONS)


class Reader(HTMLParser):
    """Collects tags, attributes and text, and checks that what is opened is closed."""

    def __init__(self):
        super().__init__()
        self.stack, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.stack == []
    return reader


def page(title="canard, test", **given_too):
    return "".join(html_report(title, EXAMPLES, PREDICTIONS, SCORES, VERDICTS, **given_too))


def test_every_metric_has_a_label():
    assert tuple(LABELS) == METRICS


def test_the_page_is_complete_and_loads_nothing():
    html = page()
    reader = read(html)
    assert html.startswith("<!doctype html>")
    assert not re.search(r"https?:|//|@import|url\(", html)
    assert not any(name in attributes for _, attributes in reader.seen for name in ("src", "href"))
    assert [attributes["data-faults"] for tag, attributes in reader.seen if tag == "article"] == [
        "substitute over-rewriting",
        "exact",
    ]
    assert {attributes["data-show"] for tag, attributes in reader.seen if tag == "button"} >= {"all", "exact", "order"}
    assert not re.search(r"\{[a-z]+\}", html)


def test_texts_are_escaped():
    html = page(title="<img> {n} & co")
    assert html.count("<script>") == 1
    assert "<img>" not in html
    assert "&lt;img&gt; {n} &amp; co" in html
    assert "&lt;b&gt;Kobe&lt;/b&gt;" in html
    assert "Thanks &amp; bye" in html


def test_half_characters_do_not_stop_the_report():
    example = Example(Dialogue.of(["\ud800"], "a"), "a \ud800")
    html = "".join(html_report("x", [example], ["\udfff"], score([example], ["\udfff"]), judge([example], ["\udfff"])))
    html.encode("utf-8")


def test_the_tables_hold_what_is_known():
    header, rows = summary_table(SCORES)
    assert (header, rows[0]) == (["Metric", "Score"], ["Exact match", "50.00"])
    intervals, comparison = confidence_intervals(SCORES), compare(SCORES, SCORES)
    assert summary_table(SCORES, intervals)[1][0] == ["Exact match", "50.00", "0.00 to 100.00"]
    header, rows = comparison_table(comparison)
    assert {len(row) for row in rows} == {len(header)}
    assert rows[0] == ["Exact match", "50.00", "50.00", "+0.00", "+0.00 to +0.00", "1.000"]
    html = page(intervals=intervals, comparison=comparison)
    read(html)
    assert "0.00 to 100.00" in html
    assert "+0.00 to +0.00" in html


@pytest.mark.parametrize(
    ("old", "new", "html"),
    [
        ("why ?", "why ?", "why ?"),
        ("why he left", "why Kobe left", "why <del>he</del><ins>Kobe</ins> left"),
        ("why?", "why in 2016?", "why <ins>in 2016</ins>?"),
        ("and why him?", "why him?", "<del>and</del> why him?"),
        ("why him now", "why him", "why him<del>now</del>"),
        ("why", "", "<i>empty</i>"),
        ("为什么他走", "为什么科比走", "为什么<del>他</del><ins>科比</ins>走"),
        ("Why", "why not", "why <ins>not</ins>"),
        ("a < b", "a & b", "a <del>&lt;</del><ins>&amp;</ins> b"),
    ],
)
def test_word_differences(old, new, html):
    assert word_difference(tokenize(old), tokenize(new)) == html


texts = st.text(st.sampled_from("ab 他?<&"), min_size=1, max_size=12)


@settings(deadline=None)
@given(texts, texts.filter(str.strip))
def test_a_word_difference_without_what_is_gone_is_the_new_text(old, new):
    html = word_difference(tokenize(old), tokenize(new))
    kept = re.sub(r"<del>.*?</del>", "", html)
    read(html)
    assert re.sub(r"\s+", "", "".join(read(kept).text)) == re.sub(r"\s+", "", new)
