"""How large are the corpora and how long their texts, beside the paper's table?

    python benchmarks/corpus_stats.py --data DIR

Prints the table and writes it to benchmarks/results/corpus_stats.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from urewrite.corpora import CORPORA
from urewrite.corpora.stats import PAPER, Lengths, measure_corpus
from urewrite.files import atomic_writer

RESULTS = Path(__file__).parent / "results" / "corpus_stats.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the corpora; UREWRITE_DATA or the cache without it")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    print(f"{'corpus':<8} {'part':<10} {'examples':>18} {'context':>8} {'utterance':>9} {'rewrite':>8}   in characters")
    for corpus in CORPORA:
        for part, statistics in measure_corpus(corpus, mirror=arguments.data, notify=_say):
            rows.append({"corpus": corpus, "part": part, **statistics.to_record()})
            in_characters = _columns(statistics.characters)
            print(f"{corpus:<8} {part:<10} {statistics.examples:>18,} {_columns(statistics.tokens)}   {in_characters}")
        if corpus in PAPER:
            paper = PAPER[corpus]
            rows.append({"corpus": corpus, "part": "paper", "n": paper.sizes, "tokens": paper.lengths.to_record()})
            print(f"{corpus:<8} {'paper':<10} {' / '.join(paper.sizes):>18} {_columns(paper.lengths)}")
    with atomic_writer(RESULTS) as stream:
        json.dump(rows, stream, indent=2)
        stream.write("\n")


def _columns(lengths: Lengths) -> str:
    return f"{lengths.context:8.1f} {lengths.utterance:9.1f} {lengths.rewrite:8.1f}"


def _say(message: str) -> None:
    print(message, file=sys.stderr)


if __name__ == "__main__":
    main()
