"""Exact match, and the share of predictions that leave the utterance as it was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from urewrite.scoring.triple import Triple

NAMES = ("em", "unchanged")
WIDTH = 3


def statistics(triple: Triple) -> list[float]:
    """One example counted, and whether its prediction equals the reference and the utterance."""
    return [1, triple.prediction == triple.reference, triple.prediction == triple.utterance]


def from_sums(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares in percent, from summed statistics along the last axis."""
    values: NDArray[np.float64] = 100 * sums[..., 1:] / sums[..., :1]
    return values
