"""Training runs: their results beside the paper's, and what each change is worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.tables.layout import is_measured, results, table

SHORT = {
    "em": "EM",
    **{f"bleu{n}": f"B{n}" for n in (1, 2, 4)},
    **{f"rouge{n}": f"R{n}" for n in (1, 2, "L")},
    **{f"f{n}": f"F{n}" for n in (1, 2, 3)},
}
THRESHOLDS = ("cell", "region", "lone", "further", "joining")
RUNS_COMMAND = "python benchmarks/results_table.py"


def spread(measured: dict[str, Any]) -> str:
    deviation = measured["deviation"]
    return f"{measured['mean']:.2f}" + (f" ± {deviation:.2f}" if deviation is not None else "")


def seeds_of(row: dict[str, Any]) -> str:
    listed = ", ".join(map(str, row["seeds"]))
    return listed if len(row["seeds"]) == 1 else f"{listed} (n = {len(row['seeds'])})"


def epochs_of(row: dict[str, Any]) -> str | None:
    known = sorted({epochs for epochs in row["epochs"] if epochs is not None})
    return "–".join(map(str, dict.fromkeys((known[0], known[-1])))) if known else None


def _learned_before(row: dict[str, Any]) -> list[str]:
    """What a run had from others: the model it went on from, those that taught it, the run that chose for it."""
    start, teachers, chosen_by = row["goes on from"], row["taught by"], row["chosen by"]
    starts = [] if start is None else [f"`{one}`" for one in (start, *(row["averaged with"] or ()))]
    part = "context layer of the trained" if row["its context layer alone"] else "trained"
    said = [f"goes on from the {part} {', '.join(starts)}{' (mean)' * (len(starts) > 1)}"] if starts else []
    said += [] if teachers is None else [f"taught by {', '.join(f'`{one}`' for one in teachers)}"]
    return said + ([] if chosen_by is None else [f"epochs and thresholds chosen by `{chosen_by}`"])


def _in_short(trained_on: Sequence[str]) -> str:
    """The corpora alone; what was made of them is only mentioned."""
    named = dict.fromkeys(line.rpartition(": ")[0] for line in trained_on)
    corpora = [name for name in named if " " not in name]
    return ", ".join(corpora) + (" and examples made of them" if len(corpora) < len(named) else "")


def none_yet(what: str) -> str:
    return f"{what} `{RUNS_COMMAND}` writes the table.\n"


def beside_the_paper(metrics: Sequence[str], described: Sequence[str]) -> list[list[object]]:
    """The rows of every corpus that something was measured on, those of the paper first."""
    found = results("results")
    rows: list[list[object]] = []
    for corpus in dict.fromkeys(row["corpus"] for row in found["test"]):
        for system, figures in found["paper"].get(corpus, {}).items():
            rows.append([f"{system}, paper", corpus.upper(), *[None] * len(described), *map(figures.get, metrics)])
        for row in found["test"]:
            if row["corpus"] == corpus:
                said = {
                    "run": ", ".join(row["folders"]),
                    "trained on": "; ".join([*row["trained on"], *_learned_before(row)]),
                    "trained on, in short": _in_short(row["trained on"]),
                    "epochs": epochs_of(row),
                    "seeds": seeds_of(row),
                }
                figures = [spread(row["metrics"][metric]) for metric in metrics]
                rows.append([row["system"], corpus.upper(), *map(said.get, described), *figures])
    return rows


def test_results() -> str:
    described = ["run", "trained on", "epochs", "seeds"]
    rows = beside_the_paper(list(SHORT), described)
    if not rows:
        return none_yet("No run has been evaluated on a test part yet.")
    return table(["system", "test part", *described, *SHORT.values()], rows, RUNS_COMMAND)


def test_results_short() -> str:
    metrics = ["em", "bleu2", "bleu4", "rouge2", "rougeL", "f1"]
    rows = beside_the_paper(metrics, ["run", "trained on, in short", "epochs", "seeds"])
    if not rows:
        return none_yet("No run has been evaluated on a test part yet.")
    header = ["system", "test part", "run", "trained on", "epochs", "seeds", *(SHORT[metric] for metric in metrics)]
    return table(header, rows, RUNS_COMMAND)


COMPARED = ("em", "f1", "f2", "f3", "bleu2", "rouge2")


def compared(kind: str, none: str, further: Callable[[], list[list[object]]] = list) -> str:
    """Rows with the difference to the baseline above them, and further rows below them."""
    rows: list[list[object]] = []
    above: dict[str, Any] | None = None
    for row in results("results")[kind]:
        if row["changed"] is None or row["baseline"]:
            above = row if row["baseline"] else None
        cells: list[object] = [spread(row["metrics"][metric]) for metric in COMPARED]
        if above is not None and above is not row:
            cells = gained(cells, means(row["metrics"]), means(above["metrics"]))
        changed = ", ".join(f"`{name}: {written(value)}`" for name, value in (row["changed"] or {}).items())
        rows.append([row["run"], row["validation"], changed or None, epochs_of(row), seeds_of(row), *cells])
    if not rows:
        return none_yet(none)
    header = ["run", "validation part", "changed", "epochs", "seeds", *(SHORT[metric] for metric in COMPARED)]
    return table(header, rows + further(), RUNS_COMMAND)


def means(metrics: dict[str, Any]) -> dict[str, float]:
    return {metric: metrics[metric]["mean"] for metric in COMPARED}


def gained(cells: Sequence[object], metrics: dict[str, float], above: dict[str, float]) -> list[object]:
    """Figures with what they are more than those of the row above; what is not known there stays as it is."""
    return [
        f"{cell} ({metrics[metric] - above[metric]:+.2f})" if metric in metrics and metric in above else cell
        for metric, cell in zip(COMPARED, cells, strict=True)
    ]


def without_runs() -> list[list[object]]:
    """What edits nothing, beside the baseline, and the ablations of the paper."""
    found = results("results")
    rows: list[list[object]] = []
    baseline = next((row for row in found["ablations"] if row["baseline"]), None)
    if baseline is not None and is_measured("no_edit"):
        measured = results("no_edit")
        cells = [f"{measured['metrics'][metric]:.2f}" for metric in COMPARED]
        cells_gained = gained(cells, measured["metrics"], means(baseline["metrics"]))
        rows.append(["no edit", measured["validation"], None, None, None, *cells_gained])
    whole = found["paper, ablations"]["RUN"]
    for name, figures in found["paper, ablations"].items():
        known = [figures.get(metric) for metric in COMPARED]
        shown = known if figures is whole else gained(known, figures, whole)
        rows.append([f"{name}, paper", "multi:validation", None, None, None, *shown])
    return rows


def written(value: object) -> str:
    """A setting as it stands in a settings file."""
    return json.dumps(value, ensure_ascii=False).replace('"', "")


def ablations() -> str:
    return compared("ablations", "No ablation has been run yet.", without_runs)


def improvements() -> str:
    return compared("improvements", "No improvement has been run yet.")


def decoding() -> str:
    """What thresholds change, beside decoding the most likely type of each cell."""
    metrics = ["em", "bleu4", "f1", "f3"]
    rows: list[list[object]] = []
    for row in results("results")["decoding"]:
        before, after = row["by cells"], row["by thresholds"]
        changed = [f"{before[name]:.2f} → {after[name]:.2f}" for name in metrics]
        chosen = [_threshold(row["thresholds"].get(name)) for name in THRESHOLDS]
        rows.append([row["run"], row["validation"], *chosen, *changed])
    if not rows:
        return none_yet("No run has chosen thresholds yet.")
    header = ["run", "validation part", *THRESHOLDS, *(SHORT[metric] for metric in metrics)]
    return table(header, rows, RUNS_COMMAND)


def _threshold(value: float | None) -> object:
    """1 is never reached: that threshold is not used."""
    return "–" if value is None or value >= 1 else value


def criteria() -> str:
    """What thresholds chosen by other metrics reach on CANARD, on the part they were chosen by and on the test part."""
    command = "python benchmarks/criteria.py"
    if not is_measured("criteria"):
        return f"None measured yet. `{command}` writes the table.\n"
    metrics = ["em", "bleu1", "bleu2", "bleu4", "rouge1", "rouge2", "rougeL", "f1"]
    found = results("criteria")
    rows: list[list[object]] = []
    for part in ("validation", "test"):
        for row in found:
            counted = row["counted"]
            said = "as shipped" if counted is None else " + ".join(SHORT[name] for name in counted)
            shown = [_threshold(row["thresholds"][name]) for name in THRESHOLDS]
            amount = f"canard:{part} ({row[part]['examples']:,})"
            rows.append([row["model"], amount, said, *shown, *(f"{row[part][name]:.2f}" for name in metrics)])
    header = ["model", "part", "chosen by", *THRESHOLDS, *(SHORT[metric] for metric in metrics)]
    return table(header, rows, command)


def repeats() -> str:
    return _steps("as chosen", "without repeats")


def rivals() -> str:
    return _steps("without repeats", "without rivals")


def joining() -> str:
    return _steps("without rivals", "and joined")


def signs() -> str:
    return _steps("and joined", "without signs alone")


def _steps(before: str, after: str) -> str:
    """What one step of decoding changes."""
    metrics = ["em", "bleu4", "f1", "f3"]
    rows = [
        [
            row["run"],
            row["validation"],
            *(f"{row[before][name]:.2f} → {row[after][name]:.2f}" for name in metrics),
        ]
        for row in results("decoding")
    ]
    header = ["run", "validation part", *(SHORT[metric] for metric in metrics)]
    return table(header, rows, "python benchmarks/decoding.py")


def training_speed() -> str:
    found = results("training_speed")
    shares = found.pop("shares of the time, %")
    rows: list[list[object]] = [[name, value] for name, value in found.items()]
    rows += [[f"share of `{name}`, %", value] for name, value in shares.items()]
    return table(["", ""], rows, "python benchmarks/training_speed.py")


TABLES = (
    test_results,
    test_results_short,
    ablations,
    improvements,
    decoding,
    criteria,
    repeats,
    rivals,
    joining,
    signs,
    training_speed,
)
