"""Does any dialogue make a model break a promise? Hostile ones by the hundred thousand.

python benchmarks/guarantees.py [--model NAME|DIR ...] [--dialogues N]

Writes results/guarantees.json, in which rows of other models are kept. The suite does the same with 2,000.
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
from urewrite.guarantees import violations
from urewrite.pretrained import bundled

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "guarantees.json"
sys.path.insert(0, str(HERE.parent / "tests"))

from hostile import hostile_dialogue  # type: ignore[import-not-found]  # noqa: E402 - beside the tests

CHUNK = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", action="append", help="a bundled model or a folder; all bundled ones by default")
    parser.add_argument("--dialogues", type=int, default=100_000)
    arguments = parser.parse_args()
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else []
    found: dict[str, Any] = {row["model"]: row for row in known}
    measured_now = [measured(model, arguments.dialogues) for model in arguments.model or bundled()]
    found |= {row["model"]: row for row in measured_now}
    with atomic_writer(RESULTS) as stream:
        json.dump([found[model] for model in sorted(found)], stream, indent=2)
        stream.write("\n")
    sys.exit(any(row["broken"] or row["reasons"].get("error") for row in measured_now))


def measured(model: str, amount: int) -> dict[str, Any]:
    rewriter = Rewriter.from_pretrained(model)
    words = rewriter.connection_words()
    chance = random.Random(2026)
    reasons: Counter[str] = Counter()
    broken: list[str] = []
    with tqdm(total=amount, desc=model, unit="dialogue") as bar:
        for start in range(0, amount, CHUNK):
            dialogues = [hostile_dialogue(chance) for _ in range(min(CHUNK, amount - start))]
            results = rewriter.rewrite_batch(dialogues, mode="always", follow=bar.update)
            for dialogue, result in zip(dialogues, results, strict=True):
                reasons[str(result.reason)] += 1
                broken += [f"{promise}: {dialogue!r}" for promise in violations(dialogue, result, words)]
    for line in broken[:20]:
        print(line)
    return {"model": Path(model).name, "dialogues": amount, "broken": len(broken), "reasons": dict(reasons)}


if __name__ == "__main__":
    main()
