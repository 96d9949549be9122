"""What editing can reach on each corpus, and what each decision of the supervision adds to it.

python benchmarks/ceiling.py --data DIR    (or with UREWRITE_DATA naming the folder)
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from urewrite.corpora import load_corpus
from urewrite.corpora.connection import corpus_connection_words
from urewrite.dialogue import Example
from urewrite.edits.apply import decode
from urewrite.edits.cover import Run, cover
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.edits.regions import find_rectangles
from urewrite.edits.supervise import aligned_grid, supervise
from urewrite.files import atomic_writer
from urewrite.scoring.ceiling import PAPER_BLEU, PAPER_EXACT, measure_ceiling
from urewrite.tokens import tokenize

RESULTS = Path(__file__).parent / "results" / "ceiling.json"


def share(examples: Sequence[Example], words: ConnectionWords, *, search: bool) -> float:
    """Percent within reach, by the paper's procedure alone or with the search after it."""
    reached = sum(supervise(example, words, search=search).exact for example in examples)
    return round(100 * reached / len(examples), 2)


def all_trailing(words: ConnectionWords) -> ConnectionWords:
    return ConnectionWords((), tuple(dict.fromkeys(words.trailing + words.leading)))


def missing_words(examples: Sequence[Example], words: ConnectionWords) -> dict[str, object]:
    """Which words rewrites out of reach lack, and how many of these rewrites lack just one."""
    counts: Counter[str] = Counter()
    lacking = lacking_one = 0
    for example in examples:
        axes = lay_out(example.dialogue, words)
        missing = set(tokenize(example.rewrite).keys).difference(axes.row_keys, axes.column_keys)
        counts.update(sorted(missing))
        lacking += bool(missing)
        lacking_one += len(missing) == 1
    return {
        "examples": lacking,
        "of these one word only, %": round(100 * lacking_one / lacking, 1) if lacking else None,
        "most often": [word for word, _ in counts.most_common(12)],
    }


def greedy_pieces(words: Sequence[str], row_keys: Sequence[str]) -> list[Run]:
    """The alternative of always taking the longest piece at its last occurrence, whatever the order of the rows."""
    runs: list[Run] = []
    position = 0
    while position < len(words):
        for length in range(len(words) - position, 0, -1):
            piece = tuple(words[position : position + length])
            starts = [row for row in range(len(row_keys)) if tuple(row_keys[row : row + length]) == piece]
            if starts:
                runs.append(Run(starts[-1], starts[-1] + length))
                break
        else:
            length = 1
        position += length
    return runs


def first_occurrence(words: Sequence[str], row_keys: Sequence[str]) -> list[Run]:
    """The alternative of taking whole spans where they were first said."""
    length = len(words)
    for start in range(len(row_keys) - length + 1):
        if tuple(row_keys[start : start + length]) == tuple(words):
            return [Run(start, start + length)]
    return cover(words, row_keys)


def occurrence(
    examples: Sequence[Example], words: ConnectionWords, find: Callable[[Sequence[str], Sequence[str]], list[Run]]
) -> dict[str, float]:
    """What a choice of rows reaches, and two hints at how regular its labels are."""
    reached = regions = copied = recent = 0
    for example in examples:
        axes = lay_out(example.dialogue, words)
        keys = tokenize(example.rewrite).keys
        grid = aligned_grid(axes, keys, find)
        reached += tokenize(decode(axes, grid).text).keys == keys
        regions += len(find_rectangles(grid))
        turns = [source for source in axes.sources if source.turn is not None]
        rows = np.flatnonzero(grid.max(axis=1, initial=0))
        for source in turns:
            inside = int(((rows >= source.first_row) & (rows < source.first_row + len(source.tokens))).sum())
            copied += inside
            recent += inside if source is turns[-1] else 0
    return {
        "exact %": round(100 * reached / len(examples), 2),
        "regions a grid": round(regions / len(examples), 3),
        "rows in the last turn %": round(100 * recent / max(copied, 1), 1),
    }


def decisions(corpus: str, mirror: Path | None) -> dict[str, object]:
    """What each decision reaches on the validation part, where decisions are made."""
    examples = load_corpus(corpus, "validation", mirror=mirror)
    lists = {limit: corpus_connection_words(corpus, limit=limit, mirror=mirror).words for limit in (0, 5, 20)}
    full = lists[20]
    return {
        "n": len(examples),
        "alignment, no connection words": share(examples, lists[0], search=False),
        "alignment, 5 words": share(examples, lists[5], search=False),
        "alignment, 20 words, all at the tail": share(examples, all_trailing(full), search=False),
        "alignment, 20 words": share(examples, full, search=False),
        "alignment and search, no connection words": share(examples, lists[0], search=True),
        "alignment and search, 5 words": share(examples, lists[5], search=True),
        "alignment and search, 20 words": share(examples, full, search=True),
        "rows": {
            "in order, last occurrence": occurrence(examples, full, cover),
            "in order, first occurrence": occurrence(examples, full, first_occurrence),
            "longest pieces in any order, last occurrence": occurrence(examples, full, greedy_pieces),
        },
    }


def measure(corpus: str, mirror: Path | None) -> dict[str, object]:
    examples = load_corpus(corpus, "test", mirror=mirror)
    words, derived_from = corpus_connection_words(corpus, mirror=mirror)
    found = measure_ceiling(examples, words)
    return {
        "corpus": corpus,
        "part": "test",
        "n": len(examples),
        "words_derived_from": derived_from,
        "leading": words.leading,
        "trailing": words.trailing,
        "exact": round(found.scores.metrics["em"], 2),
        "bleu4": round(found.scores.metrics["bleu4"], 2),
        "missing word": round(100 * found.obstacles.count("missing word") / len(examples), 2),
        "order": round(100 * found.obstacles.count("order") / len(examples), 2),
        "missing words": missing_words(examples, words),
        "validation": decisions(corpus, mirror),
        "paper exact": PAPER_EXACT.get(corpus),
        "paper bleu": PAPER_BLEU.get(corpus),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with the corpora (default: UREWRITE_DATA, then the cache)")
    mirror = parser.parse_args().data
    rows = []
    for corpus in ("rewrite", "multi", "task", "canard", "qrecc"):
        rows.append(measure(corpus, mirror))
        print(json.dumps(rows[-1], ensure_ascii=False, indent=2))
    with atomic_writer(RESULTS) as stream:
        json.dump(rows, stream, ensure_ascii=False, indent=2)
        stream.write("\n")


if __name__ == "__main__":
    main()
