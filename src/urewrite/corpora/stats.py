"""Sizes and average lengths of the corpora, beside the paper's table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from urewrite.corpora.catalogue import Context, available_parts
from urewrite.corpora.lines import Rejects
from urewrite.dialogue import Example
from urewrite.tokens import tokenize


@dataclass(frozen=True, slots=True)
class Lengths:
    """Average lengths: the whole history (without separators), the utterance, the rewrite."""

    context: float
    utterance: float
    rewrite: float

    def to_record(self) -> dict[str, float]:
        """Rounded to two decimals."""
        return {
            "context": round(self.context, 2),
            "utterance": round(self.utterance, 2),
            "rewrite": round(self.rewrite, 2),
        }


@dataclass(frozen=True, slots=True)
class Statistics:
    """The size of a part and its average lengths, in tokens and in characters."""

    examples: int
    dialogues: int
    turns: float
    tokens: Lengths
    characters: Lengths

    def to_record(self) -> dict[str, object]:
        """The form printed as JSON."""
        return {
            "n": self.examples,
            "dialogues": self.dialogues,
            "turns": round(self.turns, 2),
            "tokens": self.tokens.to_record(),
            "characters": self.characters.to_record(),
        }


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A column of the paper's table of datasets: sizes in its parts (train, development, test) and average lengths."""

    sizes: tuple[str, str, str]
    lengths: Lengths


PAPER: dict[str, PaperRow] = {
    "multi": PaperRow(("194K", "5K", "5K"), Lengths(25.8, 8.6, 12.4)),
    "rewrite": PaperRow(("18K", "2K", "NA"), Lengths(17.7, 6.5, 10.5)),
    "task": PaperRow(("2.2K", "0.5K", "NA"), Lengths(52.6, 9.4, 11.3)),
    "canard": PaperRow(("32K", "4K", "6K"), Lengths(85.4, 7.5, 11.6)),
}
"""For REWRITE and TASK our train and validation parts together are the paper's train part, and our test its
development part, on which it reports."""


def measure_corpus(
    corpus: str,
    *,
    mirror: Path | None = None,
    rejects: Rejects | None = None,
    context: Context = "full",
    notify: Callable[[str], None],
) -> list[tuple[str, Statistics]]:
    """The statistics of each part that is on this machine, and of them all together under the name `all`."""
    found = available_parts(corpus, mirror=mirror, rejects=rejects, context=context, notify=notify)
    parts = [(part, measure(examples)) for part, examples in found]
    return [*parts, ("all", together([statistics for _, statistics in parts]))]


def together(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of several parts that share no dialogue, taken as one."""
    total = sum(part.examples for part in parts)

    def average(values: Iterable[float]) -> float:
        return sum(part.examples * value for part, value in zip(parts, values, strict=True)) / total

    def lengths(values: Sequence[Lengths]) -> Lengths:
        return Lengths(
            average(value.context for value in values),
            average(value.utterance for value in values),
            average(value.rewrite for value in values),
        )

    return Statistics(
        total,
        sum(part.dialogues for part in parts),
        average(part.turns for part in parts),
        lengths([part.tokens for part in parts]),
        lengths([part.characters for part in parts]),
    )


def measure(examples: Sequence[Example]) -> Statistics:
    """Measure the examples of a part (at least one)."""

    @lru_cache(maxsize=4096)  # the turns of a dialogue recur in the history of each of its examples
    def tokens_in(text: str) -> int:
        return len(tokenize(text))

    count = len(examples)
    return Statistics(
        examples=count,
        dialogues=len({example.dialogue_id for example in examples}),
        turns=sum(len(example.dialogue.history) for example in examples) / count,
        tokens=Lengths(
            sum(tokens_in(turn.text) for example in examples for turn in example.dialogue.history) / count,
            sum(tokens_in(example.dialogue.utterance) for example in examples) / count,
            sum(tokens_in(example.rewrite) for example in examples) / count,
        ),
        characters=Lengths(
            sum(len(turn.text) for example in examples for turn in example.dialogue.history) / count,
            sum(len(example.dialogue.utterance) for example in examples) / count,
            sum(len(example.rewrite) for example in examples) / count,
        ),
    )
