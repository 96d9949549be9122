"""By which validation metric, or sum of two, weights are chosen.

Where a validation part is small, epochs are within an example or two of one another by exact match. BLEU-4, to which
every example adds, tells the better of them, as it does of thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from urewrite.scoring.report import LABELS

Monitor = Literal["em", "bleu4", "f1", "f3", "em_and_bleu4"]
_AND = "_and_"


def value_of(monitor: str, metrics: Mapping[str, float]) -> float:
    """The metric, or the sum of both."""
    return sum(metrics[part] for part in metrics_of(monitor))


def metrics_of(monitor: str) -> tuple[str, ...]:
    """The metrics it is made of."""
    return tuple(monitor.split(_AND))


def label_of(monitor: str) -> str:
    """How it is called for people."""
    return " + ".join(LABELS[part] for part in metrics_of(monitor))
