"""How time and memory of a rewrite grow with the history, each size in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
from benchmarks.speed_subjects import Row, Subject, significant, spread

from urewrite.dialogue import Example
from urewrite.tokens import tokenize

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

ONCE = Path(__file__).with_name("speed_once.py")
LIFTED = 4000
"""Rows of a window that no history of ours fills."""

OWN, WIDE = "own", "lifted"


def growth(
    subjects: Sequence[Subject], examples: Mapping[str, Sequence[Example]], sizes: Sequence[int], rounds: int
) -> Row:
    """Time and memory over the tokens of the history, with the model's own window and, where that cuts, without it."""
    rows: list[Row] = []
    for subject in subjects:
        utterance = _typical_utterance(examples[subject.corpus])
        for size in sizes:
            history = history_of(examples[subject.corpus], size)
            own = _repeated(subject, history, utterance, None, rounds)
            rows.append({"model": subject.name, "tokens": size, "window": OWN, "turns": len(history), **own})
            if own["turns used"] < len(history):
                wide = _repeated(subject, history, utterance, LIFTED, rounds)
                rows.append({"model": subject.name, "tokens": size, "window": WIDE, "turns": len(history), **wide})
        print(f"growth: {subject.name}")
    names = dict.fromkeys(subject.name for subject in subjects)
    return {"threads": 1, "rounds": rounds, "rows": rows, "exponents": exponents_of(names, rows)}


def history_of(examples: Sequence[Example], size: int) -> list[str]:
    """Real turns that have just so many tokens together; the earliest one is cut to fit."""
    turns: list[str] = []
    left = size
    for text in dict.fromkeys(turn.text for example in examples for turn in example.dialogue.history):
        tokens = tokenize(text)
        if not len(tokens):
            continue
        turns.append(text[: tokens.ends[min(left, len(tokens)) - 1]])
        left -= min(left, len(tokens))
        if not left:
            return turns[::-1]
    raise SystemExit(f"the corpus has less than {size:,} tokens")


def whole(model: str, rows: Sequence[Row]) -> list[Row]:
    """The rows of a model in which nothing was left out, by cells."""
    mine = [row for row in rows if row["model"] == model and row["fits"] and row["turns used"] == row["turns"]]
    return sorted(mine, key=lambda row: int(row["cells"]))


def exponents_of(models: Iterable[str], rows: Sequence[Row]) -> list[Row]:
    """Those of every model within its own window, and then up to where it reads if that is lifted."""
    return [
        exponents(model, window, series)
        for model in models
        for window, series in (
            ("own", [row for row in whole(model, rows) if row["window"] == "own"]),
            ("lifted", whole(model, rows)),
        )
    ]


def exponents(model: str, window: str, series: Sequence[Row]) -> Row:
    """With which power of the cells time and memory grow, over all sizes and in the steepest step; 1 is linear."""
    row: Row = {"model": model, "window": window, "sizes": len(series)}
    for measure in ("ms", "added MB"):
        points = [
            (np.log(one["cells"]), np.log(one[measure]["median"])) for one in series if one[measure]["median"] > 0
        ]
        if len(points) > 1:
            cells, values = zip(*points, strict=True)
            row[measure] = {
                "fitted": significant(float(np.polyfit(cells, values, 1)[0])),
                "steepest": significant(
                    max(float((end[1] - start[1]) / (end[0] - start[0])) for start, end in pairwise(points))
                ),
            }
    return row


def draw(rows: Sequence[Row], path: Path) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for panel, measure, label in zip(panels, ("ms", "added MB"), ("ms a rewrite", "MB added by it"), strict=True):
        _draw_panel(panel, rows, measure)
        panel.set(xscale="log", yscale="log", xlabel="cells of the grid", ylabel=label)
    panels[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_panel(panel: Axes, rows: Sequence[Row], measure: str) -> None:
    shown: list[tuple[float, float]] = []
    for model in dict.fromkeys(row["model"] for row in rows):
        series = [row for row in whole(model, rows) if row[measure]["median"] > 0]
        points = [(row["cells"], row[measure]["median"]) for row in series]
        if points:
            shown += points
            panel.plot(*zip(*points, strict=True), marker="o", label=model)
    if shown:
        cells = np.array([min(point[0] for point in shown), max(point[0] for point in shown)], dtype=float)
        top = max(shown, key=lambda point: point[1])
        panel.plot(cells, cells * top[1] / top[0], color="grey", linestyle="--", label="linear")


def _repeated(subject: Subject, history: Sequence[str], utterance: str, most_rows: int | None, rounds: int) -> Row:
    asked = {
        "folder": str(subject.folder),
        "most_rows": most_rows,
        "history": history,
        "utterance": utterance,
    }
    found = [_once(asked) for _ in range(rounds)]
    measures = [measure for measure in ("ms", "peak MB", "added MB") if measure in found[0]]
    return found[0] | {measure: spread([one[measure] for one in found]) for measure in measures}


def _once(asked: Row) -> Row:
    done = subprocess.run(
        [sys.executable, str(ONCE)], input=json.dumps(asked), stdout=subprocess.PIPE, text=True, check=True
    )
    found: Row = json.loads(done.stdout)
    return found


def _typical_utterance(examples: Sequence[Example]) -> str:
    """One of median length."""
    utterances = sorted((example.dialogue.utterance for example in examples), key=lambda text: len(tokenize(text)))
    return utterances[len(utterances) // 2]
