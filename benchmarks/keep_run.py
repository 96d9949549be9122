"""Put a finished run into runs/: its small files, and its weights with 16 bits a number.

python benchmarks/keep_run.py FOLDER [--without-weights]

Loading turns the weights into 32 bits again. Evaluate the kept run, not the original: the figures are then those of the
weights that are there.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from safetensors.torch import load_file

from urewrite.bundle import CARD, CONFIG, LEXICON, TOKENIZER, VOCABULARY, WEIGHTS
from urewrite.training.report import CURVES, METRICS_FILE
from urewrite.training.weights import write_weights

RUNS = Path(__file__).parents[1] / "runs"
KEPT = (CARD, CONFIG, TOKENIZER, VOCABULARY, LEXICON, CURVES, METRICS_FILE, "settings.yaml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="the folder of a finished run")
    parser.add_argument("--without-weights", action="store_true", help="only the small files")
    arguments = parser.parse_args()
    name = json.loads((arguments.folder / CONFIG).read_text(encoding="utf-8"))["name"]
    kept = RUNS / name
    kept.mkdir(parents=True, exist_ok=True)
    for file in KEPT:
        if (arguments.folder / file).is_file():
            shutil.copyfile(arguments.folder / file, kept / file)
    if not arguments.without_weights:
        weights = load_file(arguments.folder / WEIGHTS)
        halved = {key: tensor.half() if tensor.is_floating_point() else tensor for key, tensor in weights.items()}
        write_weights(kept / WEIGHTS, halved)
    print(kept)


if __name__ == "__main__":
    main()
