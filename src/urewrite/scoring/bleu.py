"""BLEU over the corpus, one reference, no smoothing, as `nltk.translate.bleu_score.corpus_bleu` defines it."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from urewrite.scoring.triple import Triple, ngrams

NAMES = ("bleu1", "bleu2", "bleu3", "bleu4")
# Published figures of this task weigh BLEU-3 with .33, not 1/3, which makes it a little higher.
WEIGHTS = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.33, 0.33, 0.33, 0], [0.25, 0.25, 0.25, 0.25]])
ORDERS = (1, 2, 3, 4)
WIDTH = 2 * len(ORDERS) + 2
REFERENCE_LENGTH = WIDTH - 1
"""Column of the reference's length: the same for every system scored on the same examples."""


def statistics(triple: Triple) -> list[float]:
    """Matched n-grams and n-grams of the prediction for n = 1..4, then the lengths of prediction and reference."""
    prediction, reference = triple.prediction, triple.reference
    matches: list[float] = []
    totals: list[float] = []
    for n in ORDERS:
        total = max(0, len(prediction) - n + 1)
        matches.append(total if prediction == reference else _matches(prediction, reference, n))
        totals.append(max(1, total))  # a sentence too short for an n-gram still weighs 1 in the denominator
    return [*matches, *totals, len(prediction), len(reference)]


def _matches(prediction: tuple[str, ...], reference: tuple[str, ...], n: int) -> int:
    """How many n-grams of the prediction are in the reference, each at most as often as there."""
    available: dict[tuple[str, ...], int] = {}
    for ngram in ngrams(reference, n):
        available[ngram] = available.get(ngram, 0) + 1
    found = 0
    for ngram in ngrams(prediction, n):
        left = available.get(ngram, 0)
        if left:
            available[ngram] = left - 1
            found += 1
    return found


def from_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """BLEU-1 to BLEU-4 in percent, from summed statistics along the last axis."""
    matches, totals = sums[..., :4], sums[..., 4:8]
    prediction_length, reference_length = sums[..., 8], sums[..., 9]
    precisions = np.where(matches > 0, matches / totals, sys.float_info.min)
    brevity = np.exp(np.minimum(0, 1 - reference_length / np.maximum(prediction_length, 1)))
    values: NDArray[np.float64] = 100 * brevity[..., None] * np.exp(np.log(precisions) @ WEIGHTS.T)
    return np.where(matches[..., :1] > 0, values, 0)
