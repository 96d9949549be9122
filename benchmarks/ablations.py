"""The ablations, and what each of our additions is worth: one change to a baseline at a time, one seed.

python benchmarks/ablations.py [--only NAME] [--max-minutes N]    (UREWRITE_DATA names the corpora)

Every run goes to runs/NAME; one that was stopped goes on, a finished one is left alone. The row of the paper that edits
nothing needs no run: it goes to results/no_edit.json. Then `python benchmarks/results_table.py` puts all into tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from urewrite.corpora import load_corpus
from urewrite.files import atomic_writer
from urewrite.scoring import score
from urewrite.training.report import is_finished

HOME = Path(__file__).parents[1]
ABLATIONS = {
    "baseline": [],
    "one-edit-type": ["data.labels=insertions"],
    "no-u-shape": ["network.segmentation=feed-forward"],
    "no-elementwise": ["network.similarities=[cosine, bilinear]"],
    "no-cosine": ["network.similarities=[elementwise, bilinear]"],
    "no-bilinear": ["network.similarities=[elementwise, cosine]"],
    "connection-words-0": ["data.connection_words=0"],
    "connection-words-20": ["data.connection_words=20"],
}
"""What each changes in the baseline, which has what the paper has and none of our additions."""
IMPROVEMENTS = {
    "baseline": [],
    "same-word-channel": ["network.similarities=[elementwise, cosine, bilinear, match]"],
    "aligned-labels": ["data.labels=aligned"],
    "labels-everywhere": ["data.labels=everywhere"],
    "turn-embeddings": ["network.turns=true"],
    "word-dropout": ["network.dropout_words=0.1"],
    "character-vectors": ["start.vectors=zh-words.64d", "network.embedding=64"],
    "weight-averaging": ["optimiser.averaging=0.998"],
    "even-class-weights": ["optimiser.class_weights=[1, 1, 1]"],
    "steep-class-weights": ["optimiser.class_weights=[0.1, 0.5, 0.4]"],
    "teacher": ["teacher.model=runs/rewrite-encoder"],
    "exchanged-copies": ["data.exchanged_names=1"],
}
NO_EDIT = HOME / "benchmarks" / "results" / "no_edit.json"
BASELINE = [
    "network.similarities=[elementwise, cosine, bilinear]",
    "network.turns=false",
    "network.dropout_words=0",
    "network.embedding=100",
    "start.vectors=null",
]


IN_USE = {
    "baseline-in-use": [],
    "in-use-without-word-dropout": ["network.dropout_words=0"],
    "in-use-without-turns": ["network.turns=false"],
    "in-use-connection-words-20": ["data.connection_words=20"],
    "in-use-without-same-word-channel": ["network.similarities=[elementwise, cosine, bilinear]"],
}
"""What is in use for REWRITE, all of it together and with one part at a time changed."""
PATIENCE = "optimiser.patience=10"  # as these have
IN_FULL = {
    "in-full-without-word-dropout": ["network.dropout_words=0", PATIENCE],
    "in-full-without-cosine": ["network.similarities=[elementwise, bilinear, match]", PATIENCE],
}
"""What a short run cannot tell, or tells of a network without our additions; beside the runs rewrite, -2 and -3."""
LEXICON_IN_FULL = {"in-full-exchanged-copies": ["data.exchanged_names=1"]}
"""The same beside rewrite-lexicon, -2 and -3."""
ON_TASK = {
    "baseline-task": ["data.exchanged_names=0"],
    "exchanged-names": [],
    "last-weights": ["data.exchanged_names=0", "optimiser.averaging=0"],
}
"""Whether more names help where there are few examples, and what averaged weights do there."""
FEW = ["data.examples=5000"]
ENCODERS = {
    "baseline-encoder": FEW,
    "bge-small": [*FEW, "network.encoder.model=BAAI/bge-small-zh-v1.5"],
    "half-the-layers": [*FEW, "network.encoder.layers=3"],
}
"""Which small encoder, and how much of it: learning from a part is enough to tell them apart."""
BFLOAT16 = "optimiser.encoder_precision=bfloat16"
ENCODER_IN_FULL = {
    "encoder-exchanged-copies": ["data.exchanged_names=1", BFLOAT16, PATIENCE],
    "encoder-last-weights": ["optimiser.averaging=0", BFLOAT16, PATIENCE],
}
"""What names exchanged in Chinese and averaged weights do where they are in use; beside rewrite-encoder-longer."""
ENGLISH_IN_FULL = {"en-fast-without-turns": ["network.turns=false", PATIENCE]}
"""Beside the bundled en-fast itself."""
PRUNED = ["network={}", "start.vectors=null", "teacher.weight=0.5"]
ENGLISH = {
    "half-the-layers-of-en": [*PRUNED, "start.model=en", "start.layers=3", "teacher.model=en", "data.examples=4000"]
}
ENGLISH_FAST = {
    "fewer-units-of-en-fast": [*PRUNED, "start.model=en-fast", "start.hidden=100", "teacher.model=en-fast"],
}
"""Whether the bundled English models could be smaller: less of each, trained on, and taught by the whole."""
RUNS = {
    **{f"ablation-{name}": ("rewrite", 10, [*BASELINE, *changes]) for name, changes in ABLATIONS.items()},
    **{f"improvement-{name}": ("rewrite", 3, [*BASELINE, *changes]) for name, changes in IMPROVEMENTS.items()},
    **{f"improvement-{name}": ("rewrite", 4, changes) for name, changes in IN_USE.items()},
    **{f"improvement-{name}": ("rewrite", 24, changes) for name, changes in IN_FULL.items()},
    **{
        f"improvement-{name}": ("rewrite-lexicon", 24, [*changes, PATIENCE])
        for name, changes in LEXICON_IN_FULL.items()
    },
    **{f"improvement-{name}": ("task", 10, changes) for name, changes in ON_TASK.items()},
    **{f"improvement-{name}": ("rewrite-encoder", 2, changes) for name, changes in ENCODERS.items()},
    **{f"improvement-{name}": ("rewrite-encoder-longer", 4, changes) for name, changes in ENCODER_IN_FULL.items()},
    **{f"improvement-{name}": ("en-fast", 4, changes) for name, changes in ENGLISH_IN_FULL.items()},
    **{f"pruned-{name}": ("en", 2, changes) for name, changes in ENGLISH.items()},
    **{f"pruned-{name}": ("en-fast", 1, changes) for name, changes in ENGLISH_FAST.items()},
}
"""The settings file, the epochs and the changes of each run."""


def measure_no_edit() -> None:
    """What the utterances themselves score."""
    examples = load_corpus("rewrite", "validation")
    metrics = score(examples, [example.dialogue.utterance for example in examples]).metrics
    with atomic_writer(NO_EDIT) as stream:
        json.dump({"validation": "rewrite:validation", "metrics": metrics}, stream, indent=2)
        stream.write("\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=RUNS, help="one of the runs")
    parser.add_argument("--max-minutes", type=float, help="stop after so many minutes, to go on another time")
    arguments = parser.parse_args()
    deadline = None if arguments.max_minutes is None else time.monotonic() + 60 * arguments.max_minutes
    measure_no_edit()
    for name, (config, epochs, changes) in RUNS.items():
        if arguments.only not in (None, name) or is_finished(HOME / "runs" / name):
            continue
        command = [sys.executable, "-m", "urewrite", "train", f"configs/{config}.yaml", "--folder", f"runs/{name}"]
        fixed = [f"name={name}", f"optimiser.epochs={epochs}", f"optimiser.patience={epochs}"]
        for change in (*fixed, *changes):
            command += ["--set", change]
        if deadline is not None:
            left = (deadline - time.monotonic()) / 60
            if left <= 0:
                break
            command += ["--max-minutes", f"{left:.1f}"]
        subprocess.run(command, cwd=HOME, check=True)


if __name__ == "__main__":
    main()
