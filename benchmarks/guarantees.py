"""Does any dialogue make a model break a promise? Hostile ones by the hundred thousand.

python benchmarks/guarantees.py [--model NAME|DIR ...] [--dialogues N] [--output FILE]

Writes results/guarantees.json, in which rows of other models are kept, each with the checksum of the graph that was
measured. Fails if a promise was broken, or if the log tells of a failure. The suite does the same with 2,000.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tqdm import tqdm

from urewrite import Rewriter
from urewrite.files import atomic_writer
from urewrite.pretrained import bundled, resolve

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "guarantees.json"
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests")]

from benchmarks.tables.models import graph_checksum  # noqa: E402 - beside this one

from hostile import fuzz  # type: ignore[import-not-found]  # noqa: E402 - beside the tests


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", action="append", help="a bundled model or a folder; all bundled ones by default")
    parser.add_argument("--dialogues", type=int, default=100_000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    output: Path = arguments.output
    known = json.loads(output.read_text(encoding="utf-8")) if output.is_file() else []
    found: dict[str, Any] = {row["model"]: row for row in known}
    measured_now = [measured(model, arguments.dialogues) for model in arguments.model or bundled()]
    found |= {row["model"]: row for row in measured_now}
    with atomic_writer(output) as stream:
        json.dump([found[model] for model in sorted(found)], stream, indent=2)
        stream.write("\n")
    sys.exit(int(any(row["broken"] or row["failures"] or row["reasons"].get("error") for row in measured_now)))


def measured(model: str, amount: int) -> dict[str, Any]:
    folder = resolve(model)
    with tqdm(total=amount, desc=model, unit="dialogue") as bar:
        outcome = fuzz(Rewriter.from_pretrained(folder), amount, random.Random(2026), follow=bar.update)
    failures = Counter(outcome.failures)
    for line in outcome.broken[:20]:
        print(line)
    for failure, times in failures.most_common():
        print(f"{times:,} times: {failure!a}")
    return {
        "model": Path(model).name,
        "graph": graph_checksum(folder),
        "dialogues": amount,
        "broken": len(outcome.broken),
        "failures": dict(failures),
        "reasons": dict(outcome.reasons),
    }


if __name__ == "__main__":
    main()
