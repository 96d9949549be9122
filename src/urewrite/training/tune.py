"""Thresholds by what they make of the validation part, and how sure a model may then be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from urewrite.bundle import ModelConfig
from urewrite.decide import certainty
from urewrite.dialogue import Example
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import Thresholds, candidates, settle
from urewrite.pipeline import Judged, judge_dialogues
from urewrite.scoring import score
from urewrite.tokens import tokenize
from urewrite.training.calibrate import calibrate
from urewrite.training.predict import pipeline_of
from urewrite.training.weights import Model

_CELL = (0.5, 0.4, 0.3)
_REGION = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85)
_LONE = (0.0, 0.5, 0.6, 0.7, 0.8)


def tuned(model: Model, examples: Sequence[Example], metric: str) -> tuple[ModelConfig, dict[str, float]]:
    """The model's configuration with thresholds and calibration, and the metrics of the validation part under them."""
    judged = judge_dialogues(pipeline_of(model), [example.dialogue for example in examples])
    thresholds, metrics = tune(judged, examples, metric)
    config = replace(model.config, thresholds=thresholds)
    return replace(config, calibration=calibration_of(config, judged, examples)), metrics


def calibration_of(
    config: ModelConfig, judged: Sequence[Judged], examples: Sequence[Example]
) -> tuple[tuple[float, float], ...]:
    """How often the validation part is right by how certain the model is of each example."""
    certain, right = [], []
    for (axes, likely), example in zip(judged, examples, strict=True):
        chosen = settle(axes, candidates(likely, config.thresholds.cell), config.thresholds)
        text = apply_edits(axes.dialogue, edits_of(axes, chosen)).text
        certain.append(certainty(likely, chosen))
        right.append(tokenize(text).keys == tokenize(example.rewrite).keys)
    return calibrate(certain, right)


def tune(judged: Sequence[Judged], examples: Sequence[Example], metric: str) -> tuple[Thresholds, dict[str, float]]:
    """The thresholds under which the validation part scores best by a metric, and all metrics under them."""
    best: tuple[Thresholds, dict[str, float]] | None = None
    for cell in _CELL:
        found = [(axes, candidates(likely, cell)) for axes, likely in judged]
        texts: dict[tuple[int, tuple[int, ...]], str] = {}
        for thresholds in _combinations(cell):
            predictions = []
            for number, (axes, rectangles) in enumerate(found):
                chosen = settle(axes, rectangles, thresholds)
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
