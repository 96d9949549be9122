"""Rewriting precision, recall and F over n-grams that hold a restored word: one the utterance does not have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urewrite.scoring.triple import Keys, Triple, ngrams

ORDERS = (1, 2, 3)
NAMES = tuple(f"{kind}{n}" for n in ORDERS for kind in "prf")
WIDTH = 3 * len(ORDERS)


def statistics(triple: Triple) -> list[float]:
    """For n = 1..3: distinct n-grams with a restored word in both texts, in the prediction, in the reference.

    All 0 where the reference restores nothing: such an example is left out of these metrics.
    """
    known = set(triple.utterance)
    if known.issuperset(triple.reference):
        return [0] * WIDTH
    counts: list[float] = []
    for n in ORDERS:
        predicted, expected = _restored(triple.prediction, known, n), _restored(triple.reference, known, n)
        counts += [len(predicted & expected), len(predicted), len(expected)]
    return counts


def _restored(words: Keys, known: set[str], n: int) -> set[tuple[str, ...]]:
    return {ngram for ngram in ngrams(words, n) if not known.issuperset(ngram)}


def from_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """P1 R1 F1 P2 ... F3 in percent, from summed statistics along the last axis; 0 where nothing can be divided."""
    counts = sums.reshape(*sums.shape[:-1], len(ORDERS), 3)
    common, predicted, expected = counts[..., 0], counts[..., 1], counts[..., 2]
    values = np.stack(
        [
            common / np.maximum(predicted, 1),
            common / np.maximum(expected, 1),
            2 * common / np.maximum(predicted + expected, 1),
        ],
        axis=-1,
    )
    return 100 * values.reshape(*sums.shape[:-1], WIDTH)
