"""Thresholds by what they make of the validation part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from urewrite.dialogue import Example
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import Thresholds, candidates, choose
from urewrite.scoring import score
from urewrite.training.predict import probabilities_of
from urewrite.training.weights import Model

_CELL = (0.5, 0.4, 0.3)
_REGION = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8)
_LONE = (0.0, 0.5, 0.6, 0.7)


def tune(model: Model, examples: Sequence[Example], metric: str) -> tuple[Thresholds, dict[str, float]]:
    """The thresholds under which the validation part scores best by a metric, and all metrics under them."""
    laid_out = probabilities_of(model, [example.dialogue for example in examples])
    best: tuple[Thresholds, dict[str, float]] | None = None
    for cell in _CELL:
        found = [(axes, candidates(likely, cell)) for axes, likely in laid_out]
        texts: dict[tuple[int, tuple[int, ...]], str] = {}
        for thresholds in _combinations(cell):
            predictions = []
            for number, (axes, rectangles) in enumerate(found):
                chosen = choose(rectangles, thresholds)
                key = number, tuple(rectangles.index(rectangle) for rectangle in chosen)
                if key not in texts:
                    texts[key] = apply_edits(axes.dialogue, edits_of(axes, chosen)).text
                predictions.append(texts[key])
            metrics = dict(score(list(examples), predictions).metrics)
            if best is None or metrics[metric] > best[1][metric]:
                best = thresholds, metrics
    assert best is not None
    return best


def _combinations(cell: float) -> Iterator[Thresholds]:
    """Without those that mean the same."""
    for region, lone in product(_REGION, _LONE):
        if lone < region or region == lone == 0:
            yield Thresholds(cell, region, lone)
        elif lone == _LONE[-1]:
            yield Thresholds(cell, region, region)
