"""Does it pay not to say twice what two turns hold? Committed runs on the parts they were chosen by, with and without.

python benchmarks/repeats.py    (UREWRITE_DATA names the corpora)

Writes results/repeats.json. Runs that learned from a part of their validation corpus are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from urewrite.corpora import load_corpus
from urewrite.dialogue import Example
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import candidates, choose, settle
from urewrite.edits.grid import Axes
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
    with atomic_writer(HERE / "results" / "repeats.json") as stream:
        json.dump(rows, stream, indent=2)
        stream.write("\n")


def compared(model: Model, judged: Sequence[Judged], examples: list[Example]) -> dict[str, dict[str, float]]:
    thresholds = model.config.thresholds
    return {
        "with repeats": metrics(judged, examples, lambda _, found: choose(found, thresholds), thresholds.cell),
        "without": metrics(judged, examples, lambda axes, found: settle(axes, found, thresholds), thresholds.cell),
    }


def metrics(
    judged: Sequence[Judged],
    examples: list[Example],
    regions: Callable[[Axes, list[Rectangle]], list[Rectangle]],
    cell: float,
) -> dict[str, float]:
    texts = [
        apply_edits(axes.dialogue, edits_of(axes, regions(axes, candidates(likely, cell)))).text
        for axes, likely in judged
    ]
    found = score(examples, texts).metrics
    return {name: round(found[name], 2) for name in SHOWN}


if __name__ == "__main__":
    main()
