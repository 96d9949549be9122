"""What stood beside each bundled model: another encoder, fewer layers, more units, floats. Quality, size, latency.

python benchmarks/candidates.py [--only MODEL] [--data DIR]  (or with UREWRITE_DATA set; nothing else should be running)

Candidates are the weights of runs/, written as 8-bit graphs, and the bundled models with their weights as floats. A run
whose weights are not there is left out, and said: its settings, or `python benchmarks/ablations.py`, make them again.
Quality is that on the validation part of REWRITE or CANARD. Writes results/candidates.json. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.speed_contest import Contestant, medians_of, time_alone
from benchmarks.speed_precision import folder_size, quality, scored_examples
from benchmarks.speed_subjects import Row, Subject, bundled_subject, dialogues_of, spread

from urewrite.bundle import WEIGHTS, read_config
from urewrite.corpora import load_corpus
from urewrite.files import atomic_writer
from urewrite.rewriter import load_pipeline
from urewrite.training.export import export
from urewrite.training.report import METRICS_FILE
from urewrite.training.weights import load_model

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "runs"
RESULTS = ROOT / "benchmarks" / "results" / "candidates.json"
OTHERS = {
    "zh": {
        "improvement-baseline-encoder": "RoFormer-small, a short training",
        "improvement-bge-small": "bge-small, the same training",
        "improvement-half-the-layers": "3 of RoFormer-small's 6 layers, the same training",
        "rewrite-encoder-taught-longer": "RoFormer-small, REWRITE alone",
    },
    "zh-fast": {"rewrite-lexicon": "200 units per direction, REWRITE alone"},
    "en": {"pruned-half-the-layers-of-en": "3 of its 6 layers, trained on, taught by the whole"},
    "en-fast": {"pruned-fewer-units-of-en-fast": "100 of its 150 units per direction, trained on, taught by the whole"},
}
"""Runs that a bundled model was or might have been made from, and what they are."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model in one of its forms that stood for choice."""

    model: str
    what: str
    run: str
    form: str
    subject: Subject


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=OTHERS, action="append", help="one of the models; the rows of others stay")
    parser.add_argument("--data", type=Path, help="folder with the corpora (default: UREWRITE_DATA, then the cache)")
    parser.add_argument("--examples", type=int, default=100, help="dialogues of each test part to time")
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is timed")
    parser.add_argument("--scored", type=int, help="examples to judge quality by (default: all)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        models = asked.only or list(OTHERS)
        there = [one for model in models for one in candidates_for(model, Path(scratch))]
        corpora = dict.fromkeys(one.subject.corpus for one in there)
        timed = {name: dialogues_of(load_corpus(name, "test", mirror=asked.data), asked.examples) for name in corpora}
        entered = [
            Contestant(one.subject, one.form, load_pipeline(one.subject.folder, threads=1), timed[one.subject.corpus])
            for one in there
        ]
        time_alone(entered, asked.rounds)
        rows = [measured(one, contestant, asked) for one, contestant in zip(there, entered, strict=True)]
    kept = json.loads(asked.output.read_text(encoding="utf-8"))["rows"] if asked.output.is_file() else []
    rows += [row for row in kept if row["model"] not in models]
    rows.sort(key=lambda row: list(OTHERS).index(row["model"]))
    with atomic_writer(asked.output) as stream:
        json.dump({"rounds": asked.rounds, "dialogues": asked.examples, "rows": rows}, stream, indent=2)
        stream.write("\n")


def candidates_for(model: str, scratch: Path) -> Iterator[Candidate]:
    """The bundled model, the same in floats, and what else there was for its place."""
    shipped = bundled_subject(model)
    yield Candidate(model, "as shipped", model, "8 bits", shipped)
    whole = scratch / f"{model}-float"
    export(load_model(shipped.folder), whole, eight_bit=False)
    yield Candidate(model, "the same with float weights", model, "float32", _elsewhere(shipped, whole))
    for run, what in OTHERS[model].items():
        if not (RUNS / run / WEIGHTS).is_file():
            print(f"{run} is left out: its weights are not there")
            continue
        small = scratch / run
        export(load_model(RUNS / run), small, eight_bit=True)
        yield Candidate(model, what, run, "8 bits", _elsewhere(shipped, small))


def _elsewhere(subject: Subject, folder: Path) -> Subject:
    return Subject(folder.name, str(folder), folder, subject.language, None, False)


def measured(one: Candidate, contestant: Contestant, asked: argparse.Namespace) -> Row:
    examples = scored_examples(one.subject, "validation", asked.data, asked.scored)
    print(f"quality: {one.model}, {one.what}")
    metrics = json.loads((RUNS / one.run / METRICS_FILE).read_text(encoding="utf-8"))
    return {
        "model": one.model,
        "candidate": one.what,
        "run": one.run,
        "form": one.form,
        "folder MB": round(folder_size(one.subject.folder) / 1e6, 2),
        "p50 ms": spread([1000 * value for value in medians_of(contestant)]),
        "corpus": one.subject.corpus,
        "validation": quality(one.subject.folder, examples),
        "learned from": learned_from(read_config(one.subject.folder).trained_on),
        "epochs": len(metrics["epochs"]),
    }


def learned_from(lines: tuple[str, ...]) -> int:
    """How many examples the lines of `ModelConfig.trained_on` tell of; those of a model it goes on from count too."""
    counts = (re.search(r": ([\d,]+)", line) for line in lines)
    return sum(int(found[1].replace(",", "")) for found in counts if found)


if __name__ == "__main__":
    main()
