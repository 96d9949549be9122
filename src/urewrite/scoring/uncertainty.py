"""How far the scores can be trusted: bootstrap confidence intervals, and the paired comparison of two systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urewrite.errors import BadInputError
from urewrite.scoring.scores import METRICS, REFERENCE_LENGTH, Scores, metrics_from_sums

RESAMPLES = 1000
CONFIDENCE = 0.95

_CELLS_AT_ONCE = 4_000_000  # bounds the memory a block of resamples takes (32 MB of weights)
_ROUNDING = 1e-9  # differences closer than this are ties: sums of the same terms may differ in the last bits


class Interval(NamedTuple):
    """A confidence interval, in percent."""

    low: float
    high: float


class Comparison(NamedTuple):
    """One metric of two systems on the same examples.

    `difference` is the first minus the second in percentage points, with its interval; `p` is the probability of a
    difference at least as large, in either direction, between systems that do not differ.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


def confidence_intervals(
    scores: Scores, *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = 0
) -> dict[str, Interval]:
    """Percentile bootstrap intervals of every metric; the same seed gives the same intervals."""
    _check(resamples, confidence)
    generator = np.random.default_rng(seed)
    values = np.concatenate(
        [metrics_from_sums(weights @ scores.statistics) for weights in _resampled(generator, scores.n, resamples)]
    )
    bounds = _percentiles(values, confidence)
    return {name: Interval(low, high) for name, (low, high) in zip(METRICS, bounds.tolist(), strict=True)}


def compare(
    first: Scores,
    second: Scores,
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> dict[str, Comparison]:
    """Compare two systems, metric by metric, on the examples both were scored on.

    The interval of the difference is a paired percentile bootstrap. The p-value is approximate randomisation: the two
    outputs of each example change systems by the toss of a coin, and p = (1 + times the difference is at least the one
    observed) / (1 + resamples), which is never 0.
    """
    _check(resamples, confidence)
    if first.n != second.n:
        raise BadInputError(f"one system was scored on {first.n:,} examples, the other on {second.n:,}")
    if not np.array_equal(first.statistics[:, REFERENCE_LENGTH], second.statistics[:, REFERENCE_LENGTH]):
        raise BadInputError("the two systems were scored on different examples: their references differ")
    generator = np.random.default_rng(seed)
    difference = _differences(first.statistics.sum(axis=0), second.statistics.sum(axis=0))
    resampled = np.concatenate(
        [
            _differences(weights @ first.statistics, weights @ second.statistics)
            for weights in _resampled(generator, first.n, resamples)
        ]
    )
    at_least = np.zeros(len(METRICS))
    total = first.statistics.sum(axis=0) + second.statistics.sum(axis=0)
    for size in _block_sizes(first.n, resamples):
        tossed = generator.integers(0, 2, size=(size, first.n), dtype=np.int8).astype(np.float64)
        mixed = second.statistics.sum(axis=0) + tossed @ (first.statistics - second.statistics)
        shuffled = np.abs(_differences(mixed, total - mixed))
        at_least += (shuffled >= np.abs(difference) - _ROUNDING).sum(axis=0)
    p_values = (1 + at_least) / (1 + resamples)
    bounds = _percentiles(resampled, confidence)
    return {
        name: Comparison(first.metrics[name], second.metrics[name], float(difference[k]), low, high, float(p_values[k]))
        for k, (name, (low, high)) in enumerate(zip(METRICS, bounds.tolist(), strict=True))
    }


def _differences(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    return metrics_from_sums(first) - metrics_from_sums(second)


def _percentiles(values: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """Low and high bound of each column."""
    tail = (1 - confidence) / 2
    bounds: NDArray[np.float64] = np.quantile(values, [tail, 1 - tail], axis=0).T
    return bounds


def _resampled(generator: np.random.Generator, n: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Blocks of rows that say how often each of n examples is drawn in n draws with replacement."""
    for size in _block_sizes(n, resamples):
        drawn = generator.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def _block_sizes(n: int, resamples: int) -> Iterator[int]:
    block = max(1, _CELLS_AT_ONCE // n)
    for start in range(0, resamples, block):
        yield min(block, resamples - start)


def _check(resamples: int, confidence: float) -> None:
    if resamples < 1:
        raise BadInputError(f"expected at least 1 resample, found {resamples}")
    if not 0 < confidence < 1:
        raise BadInputError(f"expected a confidence between 0 and 1, found {confidence}")
