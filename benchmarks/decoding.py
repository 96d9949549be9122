"""What pays in decoding: one span for a place, connection words that join it, nothing said twice, no signs alone.

python benchmarks/decoding.py [NAME ...]    (UREWRITE_DATA names the corpora)

Decodes the validation parts that committed runs were chosen by, adding one after the other, with the thresholds they
have: all runs, or those that are named beside what is known of others. Writes results/decoding.json. Runs without
weights are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.committed_runs import examples_of, pipeline_of_run, settings_of, with_weights

from urewrite.dialogue import Example
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import Thresholds, candidates, choose, put_together, settle
from urewrite.edits.regions import Rectangle
from urewrite.files import atomic_writer
from urewrite.pipeline import Judged, judge_dialogues
from urewrite.scoring import score
from urewrite.training.data import validation_sources

RESULTS = Path(__file__).parent / "results" / "decoding.json"
SHOWN = ("em", "bleu4", "f1", "f3")
Decoding: TypeAlias = Callable[[Judged, list[Rectangle]], list[Rectangle]]
"""Which regions become edits."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", nargs="*", help="a folder of runs/ with weights (default: all)")
    named = parser.parse_args().name
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if named and RESULTS.is_file() else []
    rows = [row for row in known if row["run"] not in named]
    for name in named or with_weights():
        settings, pipeline = settings_of(name), pipeline_of_run(name)
        examples = examples_of(settings).validation
        judged = judge_dialogues(pipeline, [example.dialogue for example in examples])
        sources = ", ".join(validation_sources(settings.data))
        rows.append({"run": name, "validation": sources, **compared(pipeline.config.thresholds, judged, examples)})
        print(json.dumps(rows[-1]))
    with atomic_writer(RESULTS) as stream:
        json.dump(sorted(rows, key=lambda row: str(row["run"])), stream, indent=2)
        stream.write("\n")


def compared(own: Thresholds, judged: Sequence[Judged], examples: list[Example]) -> dict[str, dict[str, float]]:
    plain = replace(own, further=0.0, joining=1.0)
    ways: dict[str, Decoding] = {
        "as chosen": lambda _, found: choose(found, own),
        "without repeats": _settling(plain),
        "without rivals": _settling(replace(plain, further=own.further)),
        "and joined": _settling(own),
        "without signs alone": lambda one, found: settle(one.axes, one.probabilities, found, own),
    }
    return {name: metrics(judged, examples, way, own.cell) for name, way in ways.items()}


def _settling(thresholds: Thresholds) -> Decoding:
    return lambda one, found: put_together(one.axes, one.probabilities, found, thresholds)


def metrics(judged: Sequence[Judged], examples: list[Example], decoding: Decoding, cell: float) -> dict[str, float]:
    texts = [
        apply_edits(one.axes.dialogue, edits_of(one.axes, decoding(one, candidates(one.probabilities, cell)))).text
        for one in judged
    ]
    found = score(examples, texts).metrics
    return {name: round(found[name], 2) for name in SHOWN}


if __name__ == "__main__":
    main()
