"""What pays in decoding: one span for a place, connection words that join it, and nothing said twice.

python benchmarks/decoding.py    (UREWRITE_DATA names the corpora)

Decodes the validation parts that committed runs were chosen by, adding one after the other. Writes
results/decoding.json. Runs that learned from a part of their validation corpus are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from urewrite.corpora import load_corpus
from urewrite.dialogue import Example
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import Thresholds, candidates, choose, settle
from urewrite.edits.regions import Rectangle
from urewrite.files import atomic_writer
from urewrite.pipeline import Judged, judge_dialogues
from urewrite.scoring import score
from urewrite.training.data import validation_sources
from urewrite.training.predict import pipeline_of
from urewrite.training.settings import load_settings
from urewrite.training.weights import Model, load_model

HERE = Path(__file__).parent
RUNS = HERE.parent / "runs"
SHOWN = ("em", "bleu4", "f1", "f3")
Decoding: TypeAlias = Callable[[Judged, list[Rectangle]], list[Rectangle]]
"""Which regions become edits."""


def main() -> None:
    rows = []
    for path in sorted(RUNS.glob("*/model.safetensors")):
        data = load_settings(path.parent / "settings.yaml").data
        sources = validation_sources(data)
        if len(sources) != 1 or sources[0] in data.corpus:
            continue
        corpus, _, part = sources[0].partition(":")
        examples = load_corpus(corpus, part)
        model = load_model(path.parent)
        judged = judge_dialogues(pipeline_of(model), [example.dialogue for example in examples])
        rows.append({"run": path.parent.name, "validation": sources[0], **compared(model, judged, examples)})
        print(json.dumps(rows[-1]))
    with atomic_writer(HERE / "results" / "decoding.json") as stream:
        json.dump(rows, stream, indent=2)
        stream.write("\n")


def compared(model: Model, judged: Sequence[Judged], examples: list[Example]) -> dict[str, dict[str, float]]:
    own = model.config.thresholds
    plain = replace(own, further=0.0, joining=1.0)
    ways: dict[str, Decoding] = {
        "as chosen": lambda _, found: choose(found, own),
        "without repeats": _settling(plain),
        "without rivals": _settling(replace(plain, further=own.further)),
        "and joined": _settling(own),
    }
    return {name: metrics(judged, examples, way, own.cell) for name, way in ways.items()}


def _settling(thresholds: Thresholds) -> Decoding:
    return lambda one, found: settle(one.axes, one.probabilities, found, thresholds)


def metrics(judged: Sequence[Judged], examples: list[Example], decoding: Decoding, cell: float) -> dict[str, float]:
    texts = [
        apply_edits(one.axes.dialogue, edits_of(one.axes, decoding(one, candidates(one.probabilities, cell)))).text
        for one in judged
    ]
    found = score(examples, texts).metrics
    return {name: round(found[name], 2) for name in SHOWN}


if __name__ == "__main__":
    main()
