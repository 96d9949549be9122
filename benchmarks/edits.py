"""Speed of deriving gold grids and of turning grids into text, on real examples.

python benchmarks/edits.py --data DIR    (or with UREWRITE_DATA naming the folder; nothing else should be running)
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from urewrite.corpora import load_corpus
from urewrite.corpora.connection import corpus_connection_words
from urewrite.dialogue import Example
from urewrite.edits.apply import decode
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.edits.supervise import supervise
from urewrite.files import atomic_writer

RESULTS = Path(__file__).parent / "results" / "edits.json"
REPETITIONS = 5


def repeated(work: Callable[[], object]) -> list[float]:
    taken = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return taken


def spread(values: list[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 3),
        "least": round(min(values), 3),
        "most": round(max(values), 3),
    }


def deriving(examples: list[Example], words: ConnectionWords) -> dict[str, object]:
    """Seconds for all gold grids: splitting into words, aligning, searching, checking by decoding."""
    return {
        "examples": len(examples),
        "seconds": spread(repeated(lambda: [supervise(example, words) for example in examples])),
    }


def decoding(examples: list[Example], words: ConnectionWords) -> dict[str, object]:
    """Grids a second: region labelling, rectangles, edits, text and provenance."""
    supervised = [supervise(example, words) for example in examples]
    cells = statistics.mean(item.grid.size for item in supervised)
    taken = repeated(lambda: [decode(item.axes, item.grid) for item in supervised])
    return {
        "grids": len(supervised),
        "mean cells": round(cells),
        "grids a second": spread([len(supervised) / seconds for seconds in taken]),
    }


def laying_out(examples: list[Example], words: ConnectionWords) -> dict[str, object]:
    """Dialogues a second: splitting into words and naming rows and columns."""
    taken = repeated(lambda: [lay_out(example.dialogue, words) for example in examples])
    return {"dialogues a second": spread([len(examples) / seconds for seconds in taken])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with the corpora (default: UREWRITE_DATA, then the cache)")
    mirror = parser.parse_args().data
    results: dict[str, object] = {}
    parts = {"rewrite": ("train", "validation", "test"), "canard": ("test",)}
    for corpus, names in parts.items():
        examples = [example for part in names for example in load_corpus(corpus, part, mirror=mirror)]
        words = corpus_connection_words(corpus, mirror=mirror).words
        test = examples[-2000:]
        results[corpus] = {
            "parts": ", ".join(names),
            "deriving": deriving(examples, words),
            "decoding": decoding(test, words),
            "laying out": laying_out(test, words),
        }
        print(corpus, json.dumps(results[corpus], indent=2))
    with atomic_writer(RESULTS) as stream:
        json.dump(results, stream, indent=2)
        stream.write("\n")


if __name__ == "__main__":
    main()
