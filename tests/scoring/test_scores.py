from __future__ import annotations

import json

import numpy as np
import pytest

from urewrite.dialogue import Dialogue, Example
from urewrite.errors import BadInputError
from urewrite.scoring import METRICS, score
from urewrite.scoring.scores import score_triples

# Copy scored by the authors' own scorer.
CANARD_COPY = {
    "em": 12.19,
    "bleu1": 52.49,
    "bleu2": 46.67,
    "bleu4": 37.89,
    "rouge1": 72.68,
    "rouge2": 54.95,
    "rougeL": 68.50,
}
REWRITE_COPY = {"bleu1": 53.48, "bleu2": 50.66, "bleu4": 43.61, "rouge1": 70.25, "rouge2": 58.12, "rougeL": 63.87}

HISTORY = ["Who was the greatest of the Lakers?", "Kobe Bryant, I think."]
WORKED = [
    (
        Example(
            Dialogue.of(HISTORY, "When did he retire from the team?"), "When did Kobe Bryant retire from the team?"
        ),
        "When did Kobe retire from the team?",
    ),
    (Example(Dialogue.of(HISTORY, "Thank you."), "Thank you."), "Thank you."),
]


def copy_of(examples):
    return [example.dialogue.utterance for example in examples]


def test_names_and_order():
    assert ",".join(METRICS) == ("em,bleu1,bleu2,bleu3,bleu4,rouge1,rouge2,rougeL,p1,r1,f1,p2,r2,f2,p3,r3,f3,unchanged")


def test_copy_on_the_tokenised_canard_test(canard_copy):
    metrics = score_triples(canard_copy).metrics
    assert {name: round(metrics[name], 2) for name in CANARD_COPY} == CANARD_COPY
    assert metrics["unchanged"] == 100
    assert metrics["f1"] == metrics["f3"] == 0


def test_copy_on_canard_test(canard_examples):
    metrics = score(canard_examples, copy_of(canard_examples)).metrics
    assert {name: metrics[name] for name in CANARD_COPY} == pytest.approx(CANARD_COPY, abs=0.1)


def test_copy_on_rewrite_test(rewrite_examples):
    metrics = score(rewrite_examples, copy_of(rewrite_examples)).metrics
    assert {name: metrics[name] for name in REWRITE_COPY} == pytest.approx(REWRITE_COPY, abs=0.1)


def test_the_worked_example_of_the_documentation():
    scores = score([example for example, _ in WORKED], [prediction for _, prediction in WORKED])
    assert scores.n == 2
    assert {name: round(value, 2) for name, value in scores.metrics.items()} == {
        "em": 50.00,
        "bleu1": 91.31,
        "bleu2": 86.09,
        "bleu3": 78.60,
        "bleu4": 61.93,
        "rouge1": 97.06,
        "rouge2": 90.00,
        "rougeL": 96.74,
        "p1": 100.00,
        "r1": 50.00,
        "f1": 66.67,
        "p2": 50.00,
        "r2": 33.33,
        "f2": 40.00,
        "p3": 33.33,
        "r3": 25.00,
        "f3": 28.57,
        "unchanged": 50.00,
    }


def test_case_and_blanks_do_not_count():
    example = Example(Dialogue.of([], "why did he leave?"), "Why did Kobe leave?")
    metrics = score([example], ["  why  did kobe leave ?"]).metrics
    assert metrics["em"] == 100
    assert metrics["f1"] == 100


def test_everything_is_right_for_the_references_themselves():
    example = Example(Dialogue.of([], "why did he leave us?"), "Why did Kobe leave us?")
    metrics = score([example], [example.rewrite]).metrics
    assert metrics.pop("unchanged") == 0
    assert list(metrics.values()) == pytest.approx([100] * len(metrics), abs=1e-5)


def test_an_empty_prediction_scores_nothing():
    example = Example(Dialogue.of([], "why?"), "why not?")
    assert set(score([example], [""]).metrics.values()) == {0.0}


def test_counts_must_agree():
    examples = [example for example, _ in WORKED]
    with pytest.raises(BadInputError, match="3 predictions for 2 examples"):
        score(examples, ["a", "b", "c"])


def test_nothing_to_score():
    with pytest.raises(BadInputError, match="no example"):
        score([], [])


def test_scores_are_plain_numbers_with_one_row_of_statistics_per_example():
    scores = score([example for example, _ in WORKED], [prediction for _, prediction in WORKED])
    assert json.loads(json.dumps(scores.metrics)) == scores.metrics
    assert scores.statistics.shape[0] == 2
    assert scores.statistics.dtype == np.float64
