from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urewrite.dialogue import Dialogue, Example
from urewrite.scoring import FAULTS, Verdict, count_faults, judge

HISTORY = ["Tell me about Kobe Bryant and the Lakers.", "He retired in 2016."]
WHY = ("Why did he leave?", "Why did Kobe Bryant leave the Lakers?")


def verdict(utterance, rewrite, prediction, history=HISTORY):
    return judge([Example(Dialogue.of(history, utterance), rewrite)], [prediction])[0]


@pytest.mark.parametrize(
    ("utterance", "rewrite", "prediction", "faults", "missing", "surplus"),
    [
        (*WHY, "why did kobe bryant leave the lakers ?", "exact", "", ""),
        (*WHY, "Why did Kobe Bryant leave?", "insert", "the lakers", ""),
        (*WHY, "Why did he leave the Lakers?", "substitute", "kobe bryant", "he"),
        (*WHY, "Why did Kobe leave the Lakers?", "substitute", "bryant", ""),
        (*WHY, "Why did Kobe Bryant he leave the Lakers?", "substitute", "", "he"),
        (*WHY, "Why did he leave?", "insert substitute", "kobe bryant the lakers", "he"),
        (*WHY, "Why did the Lakers leave Kobe Bryant?", "order", "", ""),
        (*WHY, "Why did Kobe Bryant leave the Lakers in 2016?", "over-rewriting", "", "in 2016"),
        (*WHY, "Why Kobe Bryant leave the Lakers?", "over-rewriting", "did", ""),
        (*WHY, "Why did Kobe Bryant leave in 2016?", "insert over-rewriting", "the lakers", "in 2016"),
        (*WHY, "", "insert substitute over-rewriting", "why did kobe bryant leave the lakers ?", ""),
        ("Thank you.", "Thank you.", "Thank you Kobe.", "over-rewriting", "", "kobe"),
        ("And well, why?", "Why?", "And well, why?", "substitute", "", "and well ,"),
        ("Where?", "Where in Ohio?", "Where?", "insert not-reachable", "in ohio", ""),
        ("Where?", "Where in Ohio?", "In Ohio where?", "order not-reachable", "", ""),
    ],
)
def test_verdicts(utterance, rewrite, prediction, faults, missing, surplus):
    found = verdict(utterance, rewrite, prediction)
    assert " ".join(found.faults) == faults
    assert (" ".join(found.missing), " ".join(found.surplus)) == (missing, surplus)


def test_a_word_anywhere_in_the_history_is_reachable():
    assert "not-reachable" not in verdict("Where?", "Where in Ohio?", "Where?", ["ohio", "In short"]).faults
    assert "not-reachable" in verdict("Where?", "Where in Ohio?", "Where?", []).faults


def test_counts_name_every_category():
    verdicts = [Verdict(("exact",)), Verdict(("insert", "substitute")), Verdict(("insert",))]
    assert count_faults(verdicts) == {
        "exact": 1,
        "insert": 2,
        "substitute": 1,
        "order": 0,
        "over-rewriting": 0,
        "not-reachable": 0,
    }


sentences = st.lists(st.sampled_from(["he", "kobe", "left", "why", "?"]), min_size=1, max_size=7).map(" ".join)


@settings(deadline=None)
@given(sentences, sentences, sentences)
def test_every_prediction_gets_a_verdict(utterance, rewrite, prediction):
    found = verdict(utterance, rewrite, prediction, [rewrite])
    assert found.faults
    assert list(found.faults) == [name for name in FAULTS if name in found.faults]
    assert ("exact" in found.faults) == (rewrite == prediction)
    assert len(found.faults) == 1 or not {"exact", "order"} & set(found.faults)
