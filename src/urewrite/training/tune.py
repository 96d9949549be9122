"""Thresholds by what they make of the validation part, and how sure a model may then be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from urewrite.bundle import ModelConfig
from urewrite.decide import certainty
from urewrite.dialogue import Example
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import Thresholds, candidates, settle
from urewrite.edits.grid import Axes
from urewrite.edits.regions import Rectangle
from urewrite.pipeline import Judged, Pipeline, judge_dialogues
from urewrite.scoring import score
from urewrite.tokens import tokenize
from urewrite.training.calibrate import calibrate
from urewrite.training.criterion import metrics_of

_BESIDE = "bleu4"
CELLS = (0.5, 0.4, 0.3)
_REGION = (0.0, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85)
_LONE = (0.0, 0.5, 0.6, 0.7, 0.8)
_FURTHER = (0.7, 0.8, 0.9, 1.0)
_JOINING = (0.5, 0.4, 0.3, 0.2, 0.1)


def tuned(
    pipeline: Pipeline, examples: Sequence[Example], metric: str, left_alone: Sequence[Example] = ()
) -> tuple[ModelConfig, dict[str, float]]:
    """The model's configuration with thresholds and calibration, and the metrics of the validation part under them.

    Thresholds are chosen by the examples together with those to be `left_alone`: corpora hold few of these, and what
    seldom costs anything there would be edited on little evidence.
    """
    both = [*examples, *left_alone]
    judged = judge_dialogues(pipeline, [example.dialogue for example in both])
    thresholds, _ = tune(judged, both, counted_with(metric))
    there = judged[: len(examples)]
    config = replace(pipeline.config, thresholds=thresholds)
    texts = [_text(one.axes, _chosen(one, thresholds)) for one in there]
    metrics = dict(score(list(examples), texts).metrics)
    return replace(config, calibration=calibration_of(config, there, examples)), metrics


def calibration_of(
    config: ModelConfig, judged: Sequence[Judged], examples: Sequence[Example]
) -> tuple[tuple[float, float], ...]:
    """How often the validation part is right by how certain the model is of each example."""
    certain, right = [], []
    for one, example in zip(judged, examples, strict=True):
        chosen = _chosen(one, config.thresholds)
        certain.append(certainty(one.probabilities, chosen))
        right.append(tokenize(_text(one.axes, chosen)).keys == tokenize(example.rewrite).keys)
    return calibrate(certain, right)


def _chosen(judged: Judged, thresholds: Thresholds) -> list[Rectangle]:
    axes, likely = judged
    return settle(axes, likely, candidates(likely, thresholds.cell), thresholds)


def _text(axes: Axes, chosen: Sequence[Rectangle]) -> str:
    return apply_edits(axes.dialogue, edits_of(axes, chosen)).text


def counted_with(monitor: str) -> tuple[str, ...]:
    """What thresholds are chosen by where weights are chosen by `monitor`.

    By exact match alone many are as good as equal, of which BLEU-4, to which every example adds, tells the better ones.
    """
    return tuple(dict.fromkeys((*metrics_of(monitor), _BESIDE)))


def tune(
    judged: Sequence[Judged], examples: Sequence[Example], counted: Sequence[str], *, cells: Sequence[float] = CELLS
) -> tuple[Thresholds, dict[str, float]]:
    """The thresholds under which the sum of the counted metrics is best on the validation part, and all metrics there.

    `cells` are tried as the probability that a cell needs to be edited, each with all others of a region.
    Those of further spans and of joining words are chosen one after the other, with the rest as it is then.
    """
    found = {cell: [candidates(likely, cell) for _, likely in judged] for cell in cells}
    texts: dict[tuple[int, tuple[Rectangle, ...]], str] = {}

    def under(thresholds: Thresholds) -> dict[str, float]:
        predictions = []
        for number, ((axes, likely), rectangles) in enumerate(zip(judged, found[thresholds.cell], strict=True)):
            chosen = settle(axes, likely, rectangles, thresholds)
            key = number, tuple(chosen)
            if key not in texts:
                texts[key] = _text(axes, chosen)
            predictions.append(texts[key])
        return dict(score(list(examples), predictions).metrics)

    def best_of(given: Iterable[Thresholds]) -> tuple[Thresholds, dict[str, float]]:
        """The first of the best."""
        return max(((one, under(one)) for one in given), key=lambda tried: sum(tried[1][name] for name in counted))

    chosen, _ = best_of(thresholds for cell in cells for thresholds in _combinations(cell))
    chosen, _ = best_of([chosen, *(replace(chosen, further=further) for further in _FURTHER)])
    return best_of([chosen, *(replace(chosen, joining=joining) for joining in _JOINING)])


def _combinations(cell: float) -> Iterator[Thresholds]:
    """Without those that mean the same."""
    for region, lone in product(_REGION, _LONE):
        if lone < region or region == lone == 0:
            yield Thresholds(cell, region, lone)
        elif lone == _LONE[-1]:
            yield Thresholds(cell, region, region)
