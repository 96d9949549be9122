"""What the committed runs reach: test parts beside the paper's figures, ablations, improvements.

    python benchmarks/results_table.py

Reads every folder of runs/ as `urewrite train` leaves it, with what was measured of it by

    urewrite evaluate --model runs/NAME --corpus CORPUS --part PART --output runs/NAME/evaluation-CORPUS-PART.json

Runs that differ only in their seed are one row. An ablation has no row among the test parts. A run called ablation-* or
improvement-* is set beside the run called ablation-baseline* or improvement-baseline*, or without one beside a run of
neither kind: of those that went on from the same model for as many epochs, chosen by the same validation part, the one
from which the fewest settings differ. So is, among the improvements, a run called after one of neither kind that is as
long, as rewrite-lean after rewrite, whatever it went on from.
Writes benchmarks/results/results.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from urewrite.files import atomic_writer
from urewrite.network.settings import NetworkSettings
from urewrite.training.report import METRICS_FILE, encoder_name, shown_sources
from urewrite.training.settings import past_settings

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "runs"
RESULTS = ROOT / "benchmarks" / "results" / "results.json"
METRICS = ("em", "bleu1", "bleu2", "bleu4", "rouge1", "rouge2", "rougeL", "f1", "f2", "f3")
KINDS = ("ablation", "improvement")
IRRELEVANT = ("name", "seed", "checkpoint_minutes")
"""Settings that may differ within a row."""
PATHS = ("network.encoder.model", "start.vectors", "start.model", "start.averaged_with", "teacher.model", "refit")
"""Settings that may name a place on one machine."""

# Liu et al., Incomplete Utterance Rewriting as Semantic Segmentation, EMNLP 2020; what is not here is not there.
PAPER: dict[str, dict[str, dict[str, float]]] = {
    "rewrite": {
        "RUN": {"em": 53.8, "bleu2": 86.1, "bleu4": 79.4, "rouge2": 85.1, "rougeL": 89.5},
        "RUN + BERT": {"em": 66.4, "bleu2": 91.4, "bleu4": 86.2, "rouge2": 90.4, "rougeL": 93.5},
    },
    "multi": {
        "RUN": {"bleu1": 91.1, "bleu2": 88.0, "rouge1": 91.0, "rouge2": 83.3, "f1": 60.3, "f2": 47.7, "f3": 39.3},
        "RUN + BERT": {
            "bleu1": 92.3,
            "bleu2": 89.6,
            "rouge1": 92.4,
            "rouge2": 85.1,
            "f1": 68.6,
            "f2": 56.0,
            "f3": 47.7,
        },
    },
    "canard": {
        "RUN": {"bleu1": 70.5, "bleu2": 61.2, "bleu4": 49.1, "rouge1": 79.1, "rouge2": 61.2, "rougeL": 74.7},
    },
    "task": {"RUN": {"em": 69.2, "bleu4": 85.6, "f1": 70.6}},
}
PAPER_ABLATIONS: dict[str, dict[str, float]] = {
    "RUN": {"f1": 60.3, "f2": 47.8, "f3": 39.4, "bleu2": 87.9, "rouge2": 83.2},
    "without edits": {"f1": 0.0, "f2": 0.0, "f3": 0.0, "bleu2": 77.4, "rouge2": 75.6},
    "without U-shape": {"f1": 55.2, "f2": 41.4, "f3": 33.1, "bleu2": 86.1, "rouge2": 82.5},
    "without element-wise similarity": {"f1": 60.4, "f2": 47.1, "f3": 38.3, "bleu2": 86.8, "rouge2": 82.6},
    "without cosine similarity": {"f1": 62.3, "f2": 48.4, "f3": 39.2, "bleu2": 85.3, "rouge2": 82.3},
    "without bilinear similarity": {"f1": 61.6, "f2": 48.0, "f3": 39.0, "bleu2": 85.8, "rouge2": 82.6},
}
"""Its ablations, on the validation part of MULTI; the first is what the others are compared with."""
CORPORA = (*PAPER, "qrecc")
"""In the order of the table."""


@dataclass(frozen=True)
class Run:
    """A run folder."""

    folder: str
    name: str
    seed: int
    system: str
    trained_on: tuple[str, ...]
    epochs: int | None
    settings: Mapping[str, Any]
    validation: str | None
    best: Mapping[str, float] | None
    tuned: Mapping[str, float] | None
    thresholds: Mapping[str, float]
    evaluations: Mapping[tuple[str, str | None], Mapping[str, Any]]

    @property
    def kind(self) -> str | None:
        return next((kind for kind in KINDS if self.name.startswith(f"{kind}-")), None)

    @property
    def is_baseline(self) -> bool:
        return self.kind is None or self.name.startswith(f"{self.kind}-baseline")

    def is_as_long(self, other: Run) -> bool:
        """Whether both were trained for as many epochs, and chosen by the same part."""
        epochs = "optimiser.epochs"
        return self.validation == other.validation and self.settings[epochs] == other.settings[epochs]

    def is_comparable(self, other: Run) -> bool:
        """Whether both went on from the same model too."""
        start = "start.model"
        return self.is_as_long(other) and self.settings.get(start) == other.settings.get(start)

    def is_called_after(self, other: Run) -> bool:
        """Whether the name says that this is another with something changed."""
        return self.kind is None and self.name.startswith(f"{other.name}-")

    def validated(self, kind: str) -> Mapping[str, float] | None:
        """The metrics on the part the run was chosen by: evaluated, or else as they were when the run chose.

        Of a part that was also learned from, an evaluation tells nothing; of several parts there is none. Improvements
        are judged as models are used, with thresholds.
        """
        if kind == "improvement":
            return self.tuned
        if self.validation is None or ", " in self.validation or self.validation in self.settings["data.corpus"]:
            return self.best
        corpus, _, part = self.validation.partition(":")
        evaluation = self.evaluations.get((corpus, part or None))
        return self.best if evaluation is None else evaluation["metrics"]


def read_runs(folder: Path) -> list[Run]:
    return [run for path in sorted(folder.glob("*/config.json")) for run in read_run(path.parent)]


def system_of(network: Mapping[str, Any]) -> str:
    """RUN, with what it has been told beside the training part."""
    if network.get("encoder") is not None:
        return f"RUN + {encoder_name(network['encoder']['model'])}"
    return "RUN" if network.get("lexicon") is None else "RUN + lexicon"


def read_run(folder: Path) -> Iterator[Run]:
    """The run of a folder, if it tells how it was trained. Its network is the model's; settings once told defaults."""
    if not (folder / "settings.yaml").is_file():
        return
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    settings = past_settings(folder / "settings.yaml")  # with what was not yet known then
    settings["network"] = NetworkSettings.model_validate(config["network"]).model_dump(mode="json")
    log = folder / METRICS_FILE
    metrics = json.loads(log.read_text(encoding="utf-8")) if log.is_file() else {}
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("evaluation-*.json"))]
    yield Run(
        folder=folder.name,
        name=settings["name"],
        seed=settings["seed"],
        system=system_of(config["network"]),
        trained_on=tuple(shown_sources(config["trained_on"])),
        epochs=len(metrics["epochs"]) if metrics else None,
        settings=flat({name: value for name, value in settings.items() if name not in IRRELEVANT}),
        validation=metrics.get("validation"),
        best=metrics.get("best"),
        tuned=metrics.get("tuned"),
        thresholds=config.get("thresholds", {}),
        evaluations={(one["corpus"], one["part"]): one for one in found},
    )


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names; places on a machine without the way there."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = shown(value) if value and prefix + name in PATHS else value
    return found


def shown(value: str | Sequence[str]) -> str | list[str]:
    """One place or several, as others may read them."""
    return encoder_name(value) if isinstance(value, str) else [encoder_name(one) for one in value]


def groups(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs that differ only in their seed, together and by seed."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        key = json.dumps([run.kind, run.settings, run.trained_on], sort_keys=True)
        found.setdefault(key, []).append(run)
    return [sorted(group, key=lambda run: run.seed) for group in found.values()]


def summary(runs: Sequence[Run], measured: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """What a row says of its runs."""
    return {
        "run": runs[0].name,
        "folders": [run.folder for run in runs],
        "system": runs[0].system,
        "goes on from": runs[0].settings.get("start.model"),
        "its context layer alone": runs[0].settings.get("start.only_context"),
        "averaged with": runs[0].settings.get("start.averaged_with"),
        "taught by": runs[0].settings.get("teacher.model"),
        "chosen by": runs[0].settings.get("refit"),
        "trained on": runs[0].trained_on,
        "epochs": [run.epochs for run in runs],
        "seeds": [run.seed for run in runs],
        "metrics": {
            name: {
                "mean": round(mean(values), 2),
                "deviation": round(stdev(values), 2) if len(values) > 1 else None,
            }
            for name, values in ((name, [one[name] for one in measured]) for name in METRICS)
        },
    }


def test_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for group in groups([run for run in runs if run.kind != "ablation"]):
        for corpus in dict.fromkeys(corpus for run in group for corpus, part in run.evaluations if part == "test"):
            there = [run for run in group if (corpus, "test") in run.evaluations]
            found = [run.evaluations[corpus, "test"] for run in there]
            row = summary(there, [one["metrics"] for one in found])
            rows.append({"corpus": corpus, "n": found[0]["n"], **row})
    return sorted(rows, key=lambda row: (CORPORA.index(row["corpus"]), row["system"], row["run"]))


def compared_rows(runs: Sequence[Run], kind: str) -> list[dict[str, Any]]:
    """Every baseline with the rows that are set beside it."""
    found = groups([run for run in runs if run.validated(kind) is not None])
    of_kind = [group for group in found if group[0].kind == kind]
    baselines = [group for group in found if group[0].is_baseline and group[0].kind in (kind, None)]
    baselines.sort(key=lambda group: group[0].kind is None)
    variants = [(group, nearest(group[0], baselines)) for group in of_kind if not group[0].is_baseline]
    if kind == "improvement":
        variants += [(group, near) for group in found if (near := called_after(group[0], baselines)) is not None]
    rows: list[dict[str, Any]] = []
    for position, baseline in enumerate(baselines):
        beside = [group for group, near in variants if near == position]
        rows += [compared_row(group, kind, baseline[0]) for group in ([baseline, *beside] if beside else [])]
    return rows + [compared_row(group, kind, None) for group, near in variants if near is None]


def nearest(run: Run, baselines: Sequence[Sequence[Run]]) -> int | None:
    """Which baseline the fewest settings of a run differ from: as long a training, chosen by the same part.

    One that was made to be a baseline comes before all others.
    """

    def distance(position: int) -> tuple[bool, int]:
        first = baselines[position][0]
        return first.kind is None, len(changes(first, run))

    there = [
        position
        for position, (first, *_) in enumerate(baselines)
        if first.is_comparable(run) and changes(first, run)  # one with the same settings tells nothing
    ]
    return min(there, key=distance, default=None)


def called_after(run: Run, baselines: Sequence[Sequence[Run]]) -> int | None:
    """Which run of neither kind, as long as it, a run is called after: the one with the longest name."""
    there = [
        position
        for position, (first, *_) in enumerate(baselines)
        if first.kind is None and run.is_called_after(first) and first.is_as_long(run)
    ]
    return max(there, key=lambda position: len(baselines[position][0].name), default=None)


def compared_row(group: Sequence[Run], kind: str, baseline: Run | None) -> dict[str, Any]:
    return {
        "validation": group[0].validation,
        "baseline": group[0] is baseline,
        "changed": None if baseline is None else changes(baseline, group[0]),
        **summary(group, [found for run in group if (found := run.validated(kind)) is not None]),
    }


def changes(baseline: Run, run: Run) -> dict[str, Any]:
    """The settings of a run that are others than those of its baseline."""
    names = dict.fromkeys((*run.settings, *baseline.settings))
    return {name: run.settings.get(name) for name in names if run.settings.get(name) != baseline.settings.get(name)}


def decoding_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What the thresholds of a run change on the part they were chosen by."""
    return [
        {
            "run": run.name,
            "validation": run.validation,
            "thresholds": run.thresholds,
            "by cells": {name: round(run.best[name], 2) for name in METRICS},
            "by thresholds": {name: round(run.tuned[name], 2) for name in METRICS},
        }
        for run in runs
        if run.best is not None and run.tuned is not None
    ]


def collect(folder: Path) -> dict[str, Any]:
    """Everything the tables show, from a folder of runs; one that is not there has none."""
    runs = read_runs(folder)
    return {
        "paper": PAPER,
        "paper, ablations": PAPER_ABLATIONS,
        "test": test_rows(runs),
        "decoding": decoding_rows(runs),
        **{f"{kind}s": compared_rows(runs, kind) for kind in KINDS},
    }


def main() -> None:
    found = collect(RUNS)
    print(json.dumps({name: len(rows) for name, rows in found.items() if not name.startswith("paper")}))
    with atomic_writer(RESULTS) as stream:
        json.dump(found, stream, ensure_ascii=False, indent=2)
        stream.write("\n")


if __name__ == "__main__":
    main()
