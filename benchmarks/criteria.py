"""What thresholds chosen by other metrics would reach on CANARD, beside those the bundled English models have.

python benchmarks/criteria.py [--data DIR] [--model en]    (or with UREWRITE_DATA set)

Thresholds are chosen on that part of CANARD's validation part which the models did not learn from, by the sum of the
metrics that are named, and decode both it and the test part. Cells may be edited on less than trainings allow. Writes
results/criteria.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.speed_precision import scored_examples
from benchmarks.speed_subjects import Row, bundled_subject
from tqdm import tqdm

from urewrite.bundle import ModelConfig
from urewrite.decide import Wish, decide, without_network
from urewrite.dialogue import Example
from urewrite.files import atomic_writer
from urewrite.pipeline import Judged, Pipeline, judge_dialogues
from urewrite.rewriter import load_pipeline
from urewrite.scoring import score
from urewrite.training.tune import CELLS, tune

RESULTS = Path(__file__).parent / "results" / "criteria.json"
MODELS = ("en", "en-fast")
CRITERIA = (
    ("em", "bleu4"),
    ("bleu1",),
    ("bleu1", "bleu2", "bleu4", "rouge1", "rouge2", "rougeL"),
)
"""What trainings choose by; what is below the paper's figure; all that the paper gives for CANARD."""
SHOWN = ("em", "bleu1", "bleu2", "bleu4", "rouge1", "rouge2", "rougeL", "f1")
MORE_CELLS = (*CELLS, 0.2, 0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with the corpora (default: UREWRITE_DATA, then the cache)")
    parser.add_argument("--model", action="append", choices=MODELS, help="only this bundled model")
    asked = parser.parse_args()
    rows: list[Row] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else []
    for name in asked.model or MODELS:
        rows = [row for row in rows if row["model"] != name] + measured(name, asked.data)
        with atomic_writer(RESULTS) as stream:
            json.dump(sorted(rows, key=lambda row: MODELS.index(row["model"])), stream, indent=2)
            stream.write("\n")


def measured(name: str, data: Path | None) -> list[Row]:
    """A row for the thresholds a model has, and one for every criterion."""
    subject = bundled_subject(name)
    pipeline = load_pipeline(subject.folder)
    examples = {part: scored_examples(subject, part, data, None) for part in ("validation", "test")}
    judged = {part: judged_with_progress(pipeline, of_part, f"{name} {part}") for part, of_part in examples.items()}
    chosen = {None: pipeline.config.thresholds} | {
        counted: tune(judged["validation"], examples["validation"], counted, cells=MORE_CELLS)[0]
        for counted in tqdm(CRITERIA, desc=f"{name} thresholds", leave=False)
    }
    rows: list[Row] = []
    for counted, thresholds in chosen.items():
        config = replace(pipeline.config, thresholds=thresholds)
        reached = {part: metrics_under(config, judged[part], of_part) for part, of_part in examples.items()}
        rows.append({"model": name, "counted": counted, "thresholds": asdict(thresholds), **reached})
        print(json.dumps(rows[-1]))
    return rows


def judged_with_progress(pipeline: Pipeline, examples: Sequence[Example], shown: str) -> list[Judged]:
    with tqdm(total=len(examples), desc=shown, leave=False, unit="dialogue") as bar:
        return judge_dialogues(pipeline, [example.dialogue for example in examples], follow=bar.update)


def metrics_under(config: ModelConfig, judged: Sequence[Judged], examples: Sequence[Example]) -> Row:
    """Decoded by the path that `urewrite evaluate` takes."""
    wish = Wish()
    texts = [(without_network(config, one.axes, wish) or decide(config, one, wish)).text for one in judged]
    found = score(examples, texts).metrics
    return {"examples": len(examples), **{name: round(found[name], 2) for name in SHOWN}}


if __name__ == "__main__":
    main()
