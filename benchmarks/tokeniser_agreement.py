"""How far do the tokens agree with those the published figures were measured on, and how fast are they made?

    python benchmarks/tokeniser_agreement.py --data DIR    (or with UREWRITE_DATA naming the folder)

CANARD: against the test part as tokenised for the paper. REWRITE: against characters and runs of letters and digits,
and, where jieba is installed, against jieba's words with Chinese words taken apart. Prints the figures and writes them
to benchmarks/results/tokeniser_agreement.json.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from urewrite.files import atomic_writer
from urewrite.tokens import tokenize

RESULTS = Path(__file__).parent / "results" / "tokeniser_agreement.json"
REPETITIONS = 3
FIELD_SEPARATOR = "\t\t"
CHINESE_WORD = re.compile("[\u4e00-\u9fa5]+")
CHINESE_SCHEME = re.compile("[\u4e00-\u9fa5]|[A-Za-z0-9]+|\\S")

Words = list[str]


def aligned(ours: Words, theirs: Words) -> Iterator[tuple[Words, Words]]:
    """The shortest pieces of both that spell the same characters; two equal words where the schemes agree."""
    if "".join(ours) != "".join(theirs):
        raise ValueError(f"not two splits of one text: {ours} and {theirs}")
    left, right = iter(ours), iter(theirs)
    for word in left:
        pieces, others = [word], [next(right)]
        surplus = len(word) - len(others[0])
        while surplus:
            if surplus < 0:
                pieces.append(next(left))
                surplus += len(pieces[-1])
            else:
                others.append(next(right))
                surplus -= len(others[-1])
        yield pieces, others


class Agreement:
    """Counts over pairs of splits of the same texts."""

    def __init__(self) -> None:
        self.tokens = self.same_tokens = self.lines = self.same_lines = 0
        self.differences: Counter[tuple[str, str]] = Counter()

    def add(self, ours: Words, theirs: Words) -> None:
        self.tokens += max(len(ours), len(theirs))
        self.lines += 1
        if ours == theirs:
            self.same_tokens += len(ours)
            self.same_lines += 1
            return
        for pieces, others in aligned(ours, theirs):
            if pieces == others:
                self.same_tokens += 1
            else:
                self.differences[" ".join(pieces), " ".join(others)] += 1

    def report(self, name: str, show: int) -> dict[str, object]:
        print(
            f"{name:<36} tokens {self.same_tokens / self.tokens:9.4%} of {self.tokens:>7,}   "
            f"lines {self.same_lines / self.lines:9.4%} of {self.lines:>6,}, {self.lines - self.same_lines} differ"
        )
        for (ours, theirs), count in self.differences.most_common(show):
            print(f"    {count:5}  ours {ours!r}, theirs {theirs!r}")
        return {
            "tokens": self.tokens,
            "token_agreement": round(self.same_tokens / self.tokens, 6),
            "lines": self.lines,
            "line_agreement": round(self.same_lines / self.lines, 6),
            "lines_that_differ": self.lines - self.same_lines,
        }


def canard(data: Path, show: int) -> dict[str, object]:
    entries = json.loads((data / "canard" / "test.json").read_text(encoding="utf-8"))
    lines = (data / "canard" / "tokenised" / "CANARD_test.txt").read_text(encoding="utf-8").splitlines()
    everything, question_and_rewrite, again = Agreement(), Agreement(), Agreement()
    for entry, line in zip(entries, lines, strict=True):
        raw = [*entry["History"], entry["Question"], entry["Rewrite"]]
        for index, (text, field) in enumerate(zip(raw, line.split(FIELD_SEPARATOR), strict=True)):
            ours, theirs = list(tokenize(text).keys), field.split()
            everything.add(ours, theirs)
            if index >= len(raw) - 2:
                question_and_rewrite.add(ours, theirs)
            again.add(list(tokenize(field).words), theirs)
    return {
        "all": everything.report("CANARD, all fields", show),
        "question_and_rewrite": question_and_rewrite.report("CANARD, question and rewrite", show),
        "tokenised_again": again.report("CANARD, tokenised text again", show),
    }


def rewrite(data: Path, show: int) -> dict[str, object]:
    lines = (data / "rewrite" / "corpus.txt").read_text(encoding="utf-8").splitlines()
    figures = {"characters_and_runs": _against(lines, CHINESE_SCHEME.findall).report("REWRITE, characters", show)}
    if find_spec("jieba") is not None:
        figures["jieba"] = _against(lines, _jieba_scheme()).report("REWRITE, jieba taken apart", show)
    return dict(figures)


def _against(lines: list[str], scheme: Callable[[str], Words]) -> Agreement:
    agreement = Agreement()
    for line in lines:
        fields = line.split(FIELD_SEPARATOR)
        ours = [word for field in fields for word in tokenize(field).words]
        agreement.add(ours, [word for field in fields for word in scheme(field)])
    return agreement


def _jieba_scheme() -> Callable[[str], Words]:
    cut: Callable[[str], Words] = import_module("jieba").lcut

    def split(text: str) -> Words:
        words = [word for word in cut(text) if not word.isspace()]
        return [part for word in words for part in (word if CHINESE_WORD.fullmatch(word) else [word])]

    return split


def tokens_per_second(texts: list[str]) -> int:
    """The fastest of several runs, in processor time: what else the machine does must not count."""
    best = 0.0
    for _ in range(REPETITIONS):
        start = time.process_time()
        count = sum(len(tokenize(text)) for text in texts)
        best = max(best, count / (time.process_time() - start))
    return round(best)


def speed(data: Path) -> dict[str, int]:
    chinese = (data / "rewrite" / "corpus.txt").read_text(encoding="utf-8").splitlines()
    entries = json.loads((data / "canard" / "test.json").read_text(encoding="utf-8"))
    english = list(islice((text for entry in entries for text in (*entry["History"], entry["Rewrite"])), 20_000))
    figures = {"chinese": tokens_per_second(chinese), "english": tokens_per_second(english)}
    for language, figure in figures.items():
        print(f"{language:<36} {figure:,} tokens a second")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("UREWRITE_DATA"), help="folder with the corpora")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="list the N most frequent disagreements")
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("name the folder with the corpora: --data DIR, or UREWRITE_DATA in the environment")
    figures = {
        "canard": canard(arguments.data, arguments.show),
        "rewrite": rewrite(arguments.data, arguments.show),
        "tokens_per_second": speed(arguments.data),
    }
    with atomic_writer(RESULTS) as stream:
        json.dump(figures, stream, indent=2)
        stream.write("\n")


if __name__ == "__main__":
    main()
