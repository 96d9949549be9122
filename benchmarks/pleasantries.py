"""Is it right to leave greetings, thanks and farewells alone by rule? How many of those in the corpora need rewriting.

python benchmarks/pleasantries.py    (UREWRITE_DATA names the corpora)

Counts them in the training and validation parts that are at hand and writes results/pleasantries.json.
"""

from __future__ import annotations

import json
from pathlib import Path

from urewrite.corpora import CORPORA, load_corpus
from urewrite.errors import DataUnavailableError
from urewrite.files import atomic_writer
from urewrite.pleasantries import is_pleasantry
from urewrite.tokens import tokenize

RESULTS = Path(__file__).parent / "results" / "pleasantries.json"


def main() -> None:
    rows: list[dict[str, object]] = []
    for corpus in CORPORA:
        for part in ("train", "validation"):
            try:
                examples = load_corpus(corpus, part)
            except DataUnavailableError as error:
                print(f"{corpus} {part} is left out: {error}")
                continue
            pairs = [(tokenize(one.dialogue.utterance).keys, tokenize(one.rewrite).keys) for one in examples]
            polite = [(utterance, rewrite) for utterance, rewrite in pairs if is_pleasantry(utterance)]
            rewritten = sum(utterance != rewrite for utterance, rewrite in polite)
            rows.append(
                {
                    "corpus": corpus,
                    "part": part,
                    "examples": len(pairs),
                    "pleasantries": len(polite),
                    "need rewriting": rewritten,
                }
            )
            print(rows[-1])
    with atomic_writer(RESULTS) as stream:
        json.dump(rows, stream, indent=1)
        stream.write("\n")


if __name__ == "__main__":
    main()
