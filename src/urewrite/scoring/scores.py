"""All metrics at once: one row of statistics per example, every metric a function of their sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from urewrite.dialogue import Example
from urewrite.errors import BadInputError
from urewrite.scoring import bleu, exact, restoration, rouge
from urewrite.scoring.triple import Triple, triples_of

METRICS: tuple[str, ...] = ("em", *bleu.NAMES, *rouge.NAMES, *restoration.NAMES, "unchanged")
"""Names of all metrics, in the order in which they are reported; all are percentages."""


class _Family(NamedTuple):
    """Metrics computed from the same statistics."""

    names: tuple[str, ...]
    width: int
    statistics: Callable[[Triple], list[float]]
    from_sums: Callable[[NDArray[np.float64]], NDArray[np.float64]]


_FAMILIES = (
    _Family(exact.NAMES, exact.WIDTH, exact.statistics, exact.from_sums),
    _Family(bleu.NAMES, bleu.WIDTH, bleu.statistics, bleu.from_sums),
    _Family(rouge.NAMES, rouge.WIDTH, rouge.statistics, rouge.from_sums),
    _Family(restoration.NAMES, restoration.WIDTH, restoration.statistics, restoration.from_sums),
)
_COMPUTED = tuple(name for family in _FAMILIES for name in family.names)
_ORDER = [_COMPUTED.index(name) for name in METRICS]
REFERENCE_LENGTH = exact.WIDTH + bleu.REFERENCE_LENGTH
"""Column of `Scores.statistics` that holds the length of the reference."""


@dataclass(frozen=True)
class Scores:
    """The metrics of one system in percent, by name in the order of `METRICS`.

    `statistics` has one row per example and is what intervals and comparisons are computed from.
    """

    n: int
    metrics: dict[str, float]
    statistics: NDArray[np.float64] = field(repr=False, compare=False)


def score(examples: Sequence[Example], predictions: Sequence[str]) -> Scores:
    """Score one prediction per example, in the same order."""
    return score_triples(triples_of(examples, predictions))


def score_triples(triples: Sequence[Triple]) -> Scores:
    """Score texts that are already split into words."""
    if not triples:
        raise BadInputError("there is no example to score")
    statistics = np.array(
        [[value for family in _FAMILIES for value in family.statistics(triple)] for triple in triples],
        dtype=np.float64,
    )
    values = metrics_from_sums(statistics.sum(axis=0))
    return Scores(len(triples), dict(zip(METRICS, values.tolist(), strict=True)), statistics)


def metrics_from_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of statistics along the last axis to all metrics in the order of `METRICS`, for any leading axes."""
    parts: list[NDArray[np.float64]] = []
    start = 0
    for family in _FAMILIES:
        parts.append(family.from_sums(sums[..., start : start + family.width]))
        start += family.width
    return np.concatenate(parts, axis=-1)[..., _ORDER]
