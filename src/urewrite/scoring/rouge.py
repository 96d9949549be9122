"""ROUGE-1, -2 and -L, F value averaged over examples, as version 0.3.2 of the package `rouge` defines them.

That version differs from the usual ROUGE: it drops full stops and cuts the text there, counts distinct n-grams instead
of all, and reduces the longest common subsequence to its distinct words.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urewrite.scoring.triple import Keys, Triple, ngrams

NAMES = ("rouge1", "rouge2", "rougeL")
WIDTH = 4


def statistics(triple: Triple) -> list[float]:
    """One example counted, and its three F values; 0 where prediction or reference is empty but for full stops."""
    prediction, reference = _sentences(triple.prediction), _sentences(triple.reference)
    if not prediction or not reference:
        return [1, 0, 0, 0]
    prediction_words = [word for sentence in prediction for word in sentence]
    reference_words = [word for sentence in reference for word in sentence]
    return [
        1,
        _f_of_ngrams(prediction_words, reference_words, 1),
        _f_of_ngrams(prediction_words, reference_words, 2),
        _f_of_subsequence(prediction, reference, len(set(prediction_words)), len(set(reference_words))),
    ]


def from_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means in percent, from summed statistics along the last axis."""
    values: NDArray[np.float64] = 100 * sums[..., 1:] / sums[..., :1]
    return values


def _sentences(keys: Keys) -> list[list[str]]:
    """The words between full stops; a full stop inside a word (`u.s.`) cuts too.

    Nothing between two full stops is no sentence, but a blank between them is a sentence of one empty word.
    """
    return [part.split() or [""] for part in " ".join(keys).split(".") if part]


def _f_of_ngrams(prediction: list[str], reference: list[str], n: int) -> float:
    predicted, expected = set(ngrams(prediction, n)), set(ngrams(reference, n))
    if not predicted or not expected:
        return 0.0
    common = len(predicted & expected)
    precision, recall = common / len(predicted), common / len(expected)
    return 2 * precision * recall / (precision + recall + 1e-8)


def _f_of_subsequence(
    prediction: list[list[str]], reference: list[list[str]], predicted_words: int, expected_words: int
) -> float:
    shared: set[str] = set()
    for expected in reference:
        for predicted in prediction:
            shared.update(common_subsequence(expected, predicted))
    precision, recall = len(shared) / predicted_words, len(shared) / expected_words
    beta_squared = (precision / (recall + 1e-12)) ** 2
    return (1 + beta_squared) * recall * precision / (recall + beta_squared * precision + 1e-12)


def common_subsequence(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """One longest common subsequence: of several, the one found from the end that skips a word of `right` at a tie.

    Which one matters, because its distinct words are counted.
    """
    start, left_end, right_end = 0, len(left), len(right)
    while left_end > 0 and right_end > 0 and left[left_end - 1] == right[right_end - 1]:
        left_end -= 1
        right_end -= 1
    while start < left_end and start < right_end and left[start] == right[start]:
        start += 1
    middle = _traced(left[start:left_end], right[start:right_end])
    return [*left[:start], *middle, *left[left_end:]]


def _traced(left: Sequence[str], right: Sequence[str]) -> list[str]:
    table = [[0] * (len(right) + 1)]
    for word in left:
        above = table[-1]
        row = [0]
        reached = diagonal = 0
        for other, up in zip(right, above[1:], strict=True):
            if word == other:
                reached = diagonal + 1
            elif up > reached:
                reached = up
            diagonal = up
            row.append(reached)
        table.append(row)
    words: list[str] = []
    i, j = len(left), len(right)
    while i > 0 and j > 0:
        if left[i - 1] == right[j - 1]:
            words.append(left[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    words.reverse()
    return words
