"""The ablation runs on REWRITE: one part of the network changed at a time, ten epochs each, one seed.

python benchmarks/ablations.py [--only NAME] [--max-minutes N]    (UREWRITE_DATA names the corpora)

Every run goes to runs/ablation-NAME; one that was stopped goes on, a finished one is left alone. Then `python
benchmarks/results_table.py` puts them into a table.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from urewrite.training.report import is_finished

HOME = Path(__file__).parents[1]
CONFIG = HOME / "configs" / "rewrite.yaml"
EPOCHS = 10
RUNS = {
    "baseline": [],
    "one-edit-type": ["data.labels=insertions"],
    "no-u-shape": ["network.segmentation=feed-forward"],
    "no-elementwise": ["network.similarities=[cosine, bilinear]"],
    "no-cosine": ["network.similarities=[elementwise, bilinear]"],
    "no-bilinear": ["network.similarities=[elementwise, cosine]"],
    "connection-words-0": ["data.connection_words=0"],
    "connection-words-20": ["data.connection_words=20"],
    "same-word-channel": ["network.similarities=[elementwise, cosine, bilinear, match]"],
    "aligned-labels": ["data.labels=aligned"],
    "turn-embeddings": ["network.turns=true"],
    "word-dropout": ["network.dropout_words=0.1"],
    "character-vectors": ["start.vectors=zh-words.64d", "network.embedding=64"],
    "weight-averaging": ["optimiser.averaging=0.998"],
    "label-smoothing": ["optimiser.label_smoothing=0.05"],
    "even-class-weights": ["optimiser.class_weights=[1, 1, 1]"],
}
"""What each changes in the baseline, which has what the paper has and none of our additions: those come last."""
BASELINE = [
    "network.similarities=[elementwise, cosine, bilinear]",
    "network.turns=false",
    "network.dropout_words=0",
    "network.embedding=100",
    "start.vectors=null",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=RUNS, help="one of the runs")
    parser.add_argument("--max-minutes", type=float, help="stop after so many minutes, to go on another time")
    arguments = parser.parse_args()
    deadline = None if arguments.max_minutes is None else time.monotonic() + 60 * arguments.max_minutes
    for name, changes in RUNS.items():
        if arguments.only not in (None, name):
            continue
        if is_finished(HOME / "runs" / f"ablation-{name}"):
            continue
        command = [sys.executable, "-m", "urewrite", "train", str(CONFIG), "--folder", f"runs/ablation-{name}"]
        fixed = [f"name=ablation-{name}", f"optimiser.epochs={EPOCHS}", f"optimiser.patience={EPOCHS}"]
        for change in (*fixed, *BASELINE, *changes):
            command += ["--set", change]
        if deadline is not None:
            left = (deadline - time.monotonic()) / 60
            if left <= 0:
                break
            command += ["--max-minutes", f"{left:.1f}"]
        subprocess.run(command, cwd=HOME, check=True)


if __name__ == "__main__":
    main()
