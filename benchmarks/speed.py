"""How fast the bundled models are: latency, throughput, against PyTorch and float32, growth, shares, cold start.

python benchmarks/speed.py --data DIR    (or with UREWRITE_DATA set; nothing else should be running)
python benchmarks/speed.py --model zh-fast --float zh-fast=DIR --only latency --examples 100 --output try.json

Chinese models are measured on REWRITE test, English ones on CANARD test. Writes results/speed.json after each part and
draws docs/images/speed-growth.png and, as `speed_plots.py` does, speed-models.png. `--float` names the folder of a
model's float graph, which `urewrite export RUN --output DIR` makes of its run; without it the weights of the shipped
graph are unpacked, and the quality of float32 is that of these. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.speed_contest import latency, throughput
from benchmarks.speed_growth import draw, growth
from benchmarks.speed_path import shares, start
from benchmarks.speed_plots import PLOT as MODELS_PLOT
from benchmarks.speed_plots import draw as draw_models
from benchmarks.speed_precision import precision
from benchmarks.speed_subjects import Row, Subject, dialogues_of, subjects_of

from urewrite.corpora import load_corpus
from urewrite.dialogue import Example
from urewrite.files import atomic_writer
from urewrite.pretrained import bundled

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "speed.json"
PLOT = ROOT / "docs" / "images" / "speed-growth.png"
VECTORS = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8")
"""Those that 8-bit and float products gain most from."""
SIZES = (10, 30, 100, 300, 1000, 2000)
PARTS = ("latency", "throughput", "precision", "growth", "shares", "start")
BY_THEMSELVES = ("precision", "growth")
"""Parts whose rows are not compared with those of other models."""
TARGETS: Row = {
    "p50 ms": {"zh-fast": 3, "zh": 12, "en-fast": 10, "en": 40},
    "dialogues a second": {"zh-fast": 500},
    "share of the peak %": 40,
    "lost EM": 0.3,
    "exponent": 1,
    "tokenising and decoding %": 15,
    "urewrite rewrite, seconds": 1.0,
    "import, seconds": 0.3,
}
AUTHORS: Row = {"p50 ms": {"rewrite": 38}, "dialogues a second": {"rewrite": 24}}
"""The code of the paper's authors, on this machine."""


def main() -> None:
    asked = arguments()
    models = asked.model or bundled()
    if not models:
        raise SystemExit("no model is bundled: name a folder with --model")
    results: Row = json.loads(asked.output.read_text(encoding="utf-8")) if asked.output.is_file() else {}
    results |= {"machine": machine(), "targets": TARGETS, "authors": AUTHORS}
    if results["machine"]["load at the start"] > 0.5:
        print(f"warning: something else is running (load {results['machine']['load at the start']})")
    with tempfile.TemporaryDirectory() as scratch:
        subjects = subjects_of(models, dict(asked.float), Path(scratch))
        for part, measure in measures(subjects, asked).items():
            if part in asked.only:
                found = measure()
                results[part] = with_others(results.get(part), found) if part in BY_THEMSELVES else found
                with atomic_writer(asked.output) as stream:
                    json.dump(results, stream, indent=2)
                    stream.write("\n")
    if "growth" in asked.only:
        draw(results["growth"]["rows"], asked.plot)
    if {"latency", "throughput"} <= results.keys() and asked.output == RESULTS:
        draw_models(results, MODELS_PLOT)


def with_others(before: Row | None, found: Row) -> Row:
    """What was found, and the rows there were of other models."""
    measured = {row["model"] for row in found["rows"]}
    others = [row for row in (before or {}).get("rows", ()) if row["model"] not in measured]
    return {**found, "rows": sorted([*others, *found["rows"]], key=lambda row: str(row["model"]))}


def measures(subjects: Sequence[Subject], asked: argparse.Namespace) -> dict[str, Callable[[], Row]]:
    """What each part does."""
    examples: Mapping[str, Sequence[Example]] = {
        corpus: load_corpus(corpus, "test", mirror=asked.data)
        for corpus in dict.fromkeys(subject.corpus for subject in subjects)
    }
    alone, together = (
        {corpus: dialogues_of(found, amount) for corpus, found in examples.items()}
        for amount in (asked.examples, asked.together)
    )
    return {
        "latency": lambda: latency(subjects, alone, asked.rounds),
        "throughput": lambda: throughput(subjects, together, asked.rounds),
        "precision": lambda: precision(subjects, asked.data, asked.scored),
        "growth": lambda: growth(subjects, examples, asked.sizes, asked.rounds),
        "shares": lambda: shares(subjects, alone, together, asked.rounds),
        "start": lambda: start(subjects, asked.rounds),
    }


def machine() -> Row:
    import numpy as np
    import onnxruntime

    versions: dict[str, Any] = {"numpy": np.__version__, "onnxruntime": onnxruntime.__version__}
    try:
        import torch

        versions["torch"] = str(torch.__version__)
    except ImportError:
        pass
    return {
        "processor": _of_processor("model name"),
        "vector instructions": ", ".join(word for word in VECTORS if word in _of_processor("flags").split())
        or "unknown",
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **versions,
        "load at the start": round(os.getloadavg()[0], 2),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", action="append", help="a bundled model or a folder; all bundled ones by default")
    parser.add_argument(
        "--float", action="append", default=[], type=named_folder, metavar="NAME=DIR", help="the float graph of a model"
    )
    parser.add_argument("--data", type=Path, help="folder with the corpora (default: UREWRITE_DATA, then the cache)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="measure these parts, keep the others")
    parser.add_argument("--examples", type=int, default=500, help="dialogues of each test part to time one by one")
    parser.add_argument("--together", type=int, default=2000, help="dialogues of each test part to time together")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is timed")
    parser.add_argument("--scored", type=int, help="examples to judge quality by (default: all)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="tokens of the histories that grow")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--plot", type=Path, default=PLOT)
    return parser.parse_args()


def named_folder(given: str) -> tuple[str, Path]:
    name, equals, folder = given.partition("=")
    if not equals or not Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"expected NAME=DIR with a folder that exists, found {given!r}")
    return name, Path(folder)


def _of_processor(key: str) -> str:
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.is_file() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "unknown")


if __name__ == "__main__":
    main()
