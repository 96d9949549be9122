"""What 8 bits cost beside the float weights as they were trained, which bundled models of 8 bits no longer hold.

    python benchmarks/rounding.py --data DIR                       (or with UREWRITE_DATA set)
    python benchmarks/rounding.py --float zh=DIR --model zh        (DIR: `urewrite export RUN --output DIR`)

`--float` measures a model's float graph, and keeps its quality and thresholds in results/rounding.json. The shipped
graph is measured under the thresholds that the float graph had, so that nothing but the bits differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.speed import named_folder
from benchmarks.speed_precision import quality, scored_examples
from benchmarks.speed_subjects import Row, bundled_subject

from urewrite.bundle import read_config
from urewrite.edits.choose import Thresholds
from urewrite.files import atomic_writer

RESULTS = Path(__file__).parent / "results" / "rounding.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with the corpora (default: UREWRITE_DATA, then the cache)")
    parser.add_argument("--model", action="append", help="only this bundled model")
    parser.add_argument(
        "--float", action="append", default=[], type=named_folder, metavar="NAME=DIR", help="the float graph of a model"
    )
    asked = parser.parse_args()
    results: Row = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    for name, folder in asked.float:
        results[name] = {"thresholds": asdict(read_config(folder).thresholds), "float": folder}
    for name, row in results.items():
        if asked.model is not None and name not in asked.model:
            continue
        subject, thresholds = bundled_subject(name), Thresholds(**row["thresholds"])
        graphs = {"shipped": subject.folder} | ({"trained": row.pop("float")} if "float" in row else {})
        row["corpus"] = subject.corpus
        for part in ("validation", "test"):
            examples = scored_examples(subject, part, asked.data, None)
            for which, folder in graphs.items():
                row.setdefault(which, {})[part] = quality(folder, examples, thresholds)
        print(f"{name}: {row}")
        with atomic_writer(RESULTS) as stream:
            json.dump({name: row for name, row in results.items() if "float" not in row}, stream, indent=2)
            stream.write("\n")


if __name__ == "__main__":
    main()
