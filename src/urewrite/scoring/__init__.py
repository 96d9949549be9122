"""How good rewrites are: the published metrics, how sure one can be of them, and what went wrong in each example."""

from __future__ import annotations

from urewrite.scoring.faults import FAULTS, Verdict, count_faults, judge
from urewrite.scoring.predictions import read_predictions
from urewrite.scoring.report import html_report
from urewrite.scoring.scores import METRICS, Scores, score
from urewrite.scoring.uncertainty import Comparison, compare, confidence_intervals

__all__ = [
    "FAULTS",
    "METRICS",
    "Comparison",
    "Scores",
    "Verdict",
    "compare",
    "confidence_intervals",
    "count_faults",
    "html_report",
    "judge",
    "read_predictions",
    "score",
]
