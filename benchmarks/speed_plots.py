"""Draw what `speed.py` measured: docs/images/speed-models.png, latency and throughput of every form of every model.

python benchmarks/speed_plots.py    (from results/speed.json, without measuring anything)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

import matplotlib as mpl
import numpy as np
from benchmarks.tables.speed import SPEED_FORMS

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "speed.json"
PLOT = ROOT / "docs" / "images" / "speed-models.png"
BAR = 0.26


def main() -> None:
    draw(json.loads(RESULTS.read_text(encoding="utf-8")), PLOT)


def draw(results: Mapping[str, Any], path: Path) -> None:
    """Both measures beside each other, on scales by tens, since models are unlike; black marks are the targets."""
    figure, (alone, together) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    targets = results["targets"]
    _bars(alone, results["latency"]["rows"], "p50 ms", targets["p50 ms"])
    alone.set(title="One dialogue on one thread, p50", ylabel="ms (less is better)")
    _bars(together, results["throughput"]["rows"], "dialogues a second", targets["dialogues a second"])
    together.set(title="Many dialogues on all cores", ylabel="dialogues a second (more is better)")
    alone.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _bars(panel: Axes, rows: Sequence[Mapping[str, Any]], measure: str, targets: Mapping[str, float]) -> None:
    models = list(dict.fromkeys(row["model"] for row in rows))
    places = np.arange(len(models))
    for number, (kind, label) in enumerate(SPEED_FORMS.items()):
        mine = {row["model"]: row[measure] for row in rows if row["kind"] == kind}
        there = [place for place, model in enumerate(models) if model in mine]
        found = [mine[models[place]] for place in there]
        medians = np.array([one["median"] for one in found])
        beyond = [medians - [one["least"] for one in found], [one["most"] for one in found] - medians]
        across = places[there] + (number - 1) * BAR
        panel.bar(across, medians, BAR, yerr=beyond, capsize=2, label=label, ecolor="grey")
        for place, median in zip(across, medians, strict=True):
            shown = f"{median:,.0f}" if median >= 100 else f"{median:.3g}"
            panel.annotate(shown, (place, median), (0, -14), textcoords="offset points", ha="center", size=7, color="w")
    for place, model in enumerate(models):
        if model in targets:
            panel.hlines(targets[model], place - 1.5 * BAR, place + 1.5 * BAR, colors="black", label="_target")
    panel.set_xticks(places, models)
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    panel.yaxis.set_minor_formatter(lambda value, _: f"{value:,g}" if f"{value:g}"[0] in "25" else "")
    panel.margins(y=0.15)
    panel.grid(axis="y", alpha=0.3)
    panel.set_axisbelow(True)


if __name__ == "__main__":
    main()
