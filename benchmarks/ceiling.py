"""What editing can reach on each corpus, and what each decision of the supervision adds to it.

python benchmarks/ceiling.py --data DIR    (or with UREWRITE_DATA naming the folder)
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from urewrite.corpora import load_corpus
from urewrite.corpora.connection import corpus_connection_words
from urewrite.dialogue import Example
from urewrite.edits.apply import decode
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.edits.supervise import aligned_grid, supervise
from urewrite.files import atomic_writer
from urewrite.scoring.ceiling import measure_ceiling
from urewrite.tokens import tokenize

RESULTS = Path(__file__).parent / "results" / "ceiling.json"
PAPER = {"rewrite": 91.0, "multi": 95.3, "task": 87.6, "canard": 42.5}
PAPER_BLEU = {"canard": 72.5}


def aligned_share(examples: Sequence[Example], words: ConnectionWords) -> float:
    """Percent within reach by the paper's procedure alone, without the search."""
    reached = 0
    for example in examples:
        axes = lay_out(example.dialogue, words)
        keys = tokenize(example.rewrite).keys
        reached += tokenize(decode(axes, aligned_grid(axes, keys)).text).keys == keys
    return round(100 * reached / len(examples), 2)


def searched_share(examples: Sequence[Example], words: ConnectionWords) -> float:
    return round(100 * sum(supervise(example, words).exact for example in examples) / len(examples), 2)


def all_trailing(words: ConnectionWords) -> ConnectionWords:
    return ConnectionWords((), tuple(dict.fromkeys(words.trailing + words.leading)))


def missing_words(examples: Sequence[Example], words: ConnectionWords) -> dict[str, object]:
    """Which words rewrites out of reach lack, and how many of these rewrites lack just one."""
    counts: Counter[str] = Counter()
    lacking = lacking_one = 0
    for example in examples:
        axes = lay_out(example.dialogue, words)
        missing = set(tokenize(example.rewrite).keys).difference(axes.row_keys, axes.column_keys)
        counts.update(missing)
        lacking += bool(missing)
        lacking_one += len(missing) == 1
    return {
        "examples": lacking,
        "of these one word only, %": round(100 * lacking_one / lacking, 1) if lacking else None,
        "most often": [word for word, _ in counts.most_common(12)],
    }


def measure(corpus: str, mirror: Path | None) -> dict[str, object]:
    examples = load_corpus(corpus, "test", mirror=mirror)
    lists = {limit: corpus_connection_words(corpus, limit=limit, mirror=mirror) for limit in (0, 5, 20)}
    full = lists[20].words
    found = measure_ceiling(examples, full)
    return {
        "corpus": corpus,
        "part": "test",
        "n": len(examples),
        "words_derived_from": lists[20].part,
        "leading": full.leading,
        "trailing": full.trailing,
        "alignment, no connection words": aligned_share(examples, lists[0].words),
        "alignment, 5 words": aligned_share(examples, lists[5].words),
        "alignment, 20 words, all at the tail": aligned_share(examples, all_trailing(full)),
        "alignment, 20 words": aligned_share(examples, full),
        "alignment and search, no connection words": searched_share(examples, lists[0].words),
        "alignment and search, 5 words": searched_share(examples, lists[5].words),
        "exact": round(found.scores.metrics["em"], 2),
        "bleu4": round(found.scores.metrics["bleu4"], 2),
        "missing word": round(100 * found.obstacles.count("missing word") / len(examples), 2),
        "order": round(100 * found.obstacles.count("order") / len(examples), 2),
        "missing words": missing_words(examples, full),
        "paper exact": PAPER.get(corpus),
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
