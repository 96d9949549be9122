from __future__ import annotations

import random

import pytest

from urewrite.errors import BadInputError
from urewrite.scoring import METRICS, compare, confidence_intervals
from urewrite.scoring import uncertainty as module
from urewrite.scoring.scores import score_triples
from urewrite.scoring.triple import Triple


def made_up(kept, n=400, seed=5):
    """A system that restores each missing word with probability `kept`."""
    generator = random.Random(seed)
    triples = []
    for number in range(n):
        utterance = ("why", "did", "he", "leave", f"in{number % 7}", "?")
        reference = ("why", "did", "kobe", "bryant", "leave", "the", "lakers", f"in{number % 7}", "?")
        prediction = tuple(word for word in reference if word in utterance or generator.random() < kept)
        triples.append(Triple(utterance, reference, prediction))
    return score_triples(triples)


@pytest.fixture(scope="module")
def good():
    return made_up(0.9)


def test_intervals_contain_the_score(good):
    intervals = confidence_intervals(good)
    assert tuple(intervals) == METRICS
    for name, (low, high) in intervals.items():
        assert low <= good.metrics[name] <= high
    assert intervals["em"].high - intervals["em"].low == pytest.approx(9.3, abs=1.5)  # 2 * 1.96 * sqrt(p (1 - p) / n)


def test_a_higher_confidence_gives_a_wider_interval(good):
    wide, narrow = confidence_intervals(good, confidence=0.99), confidence_intervals(good, confidence=0.5)
    assert wide["bleu4"].low < narrow["bleu4"].low < narrow["bleu4"].high < wide["bleu4"].high


def test_the_seed_decides(good):
    assert confidence_intervals(good, seed=3) == confidence_intervals(good, seed=3)
    assert confidence_intervals(good, seed=3) != confidence_intervals(good, seed=4)
    other = made_up(0.8)
    assert compare(good, other, seed=3) == compare(good, other, seed=3)


def test_small_blocks_give_the_requested_number_of_resamples(good, monkeypatch):
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", 7 * good.n)
    intervals = confidence_intervals(good, resamples=100)
    assert intervals["em"].low <= good.metrics["em"] <= intervals["em"].high
    assert compare(good, made_up(0.1), resamples=100)["em"].p == pytest.approx(1 / 101)


def test_identical_systems_do_not_differ(good):
    for row in compare(good, good).values():
        assert (row.difference, row.low, row.high, row.p) == (0, 0, 0, 1)


def test_systems_of_equal_quality_are_not_told_apart(good):
    row = compare(good, made_up(0.9, seed=6))["f1"]
    assert row.p > 0.05
    assert row.low < 0 < row.high


def test_clearly_different_systems_are_told_apart(good):
    worse = made_up(0.6)
    for name in ("em", "bleu4", "rougeL", "f1", "f3"):
        row = compare(good, worse)[name]
        assert row.difference == pytest.approx(good.metrics[name] - worse.metrics[name])
        assert 0 < row.low < row.difference < row.high
        assert row.p < 0.05
        assert compare(worse, good)[name].difference == pytest.approx(-row.difference)


def test_both_systems_must_have_seen_the_same_examples(good):
    with pytest.raises(BadInputError, match="400 examples, the other on 399"):
        compare(good, made_up(0.9, n=399))
    other = score_triples([Triple(("a",), ("a", "b"), ("a",))] * good.n)
    with pytest.raises(BadInputError, match="different examples"):
        compare(good, other)


@pytest.mark.parametrize(
    ("setting", "reason"), [({"resamples": 0}, "resample"), ({"confidence": 95}, "between 0 and 1")]
)
def test_settings_out_of_range(good, setting, reason):
    with pytest.raises(BadInputError, match=reason):
        confidence_intervals(good, **setting)
    with pytest.raises(BadInputError, match=reason):
        compare(good, good, **setting)
