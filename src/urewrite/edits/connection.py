"""Which words to list as connection words: those that training rewrites add although their dialogues lack them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from urewrite.dialogue import Example
from urewrite.edits.alignment import differing_spans
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.tokens import tokenize

Side = Literal["leading", "trailing"]

MOST_WORDS = 20
"""How many connection words a corpus gets unless told otherwise."""

_LEAST_SHARE = 0.005  # of the rewrites: rarer words are names and topics, and a name must never come from a list
_LEAST_COUNT = 3  # examples that want a word, below which it is chance


def derive_connection_words(examples: Iterable[Example], limit: int = MOST_WORDS) -> ConnectionWords:
    """At most `limit` words, taken one by one: each time the word that brings most examples closest to reach.

    An example counts for a word it lacks with 1/k², where k is the number of listed words it still lacks: so words that
    complete an example come first, and those of a fixed phrase ("in addition to") can still come together. A word leads
    or trails by what its spans show; within a side, words stand in the order in which phrases use them.
    """
    wants, share = _wanted(examples)
    chosen: set[tuple[str, Side]] = set()
    open_wants = [want for want in wants if all(share[word] >= _LEAST_SHARE for word, _ in want)]
    while len(chosen) < limit:
        credit: dict[tuple[str, Side], float] = defaultdict(float)
        count: dict[tuple[str, Side], int] = defaultdict(int)
        for want in open_wants:
            missing = set(want) - chosen
            for entry in missing:
                credit[entry] += 1 / len(missing) ** 2
                count[entry] += 1
        candidates = [entry for entry in credit if count[entry] >= _LEAST_COUNT]
        if not candidates:
            break
        chosen.add(max(candidates, key=lambda entry: (credit[entry], entry)))
    precedence = _precedence(wants)
    return ConnectionWords(
        leading=_in_phrase_order({word for word, side in chosen if side == "leading"}, precedence),
        trailing=_in_phrase_order({word for word, side in chosen if side == "trailing"}, precedence),
    )


def _wanted(examples: Iterable[Example]) -> tuple[list[list[tuple[str, Side]]], dict[str, float]]:
    """The words each example lacks, in order, with the side they need; and how common each word is in rewrites."""
    wants: list[list[tuple[str, Side]]] = []
    occurrences: dict[str, int] = defaultdict(int)
    total = 0
    for example in examples:
        axes = lay_out(example.dialogue)
        rewrite = tokenize(example.rewrite).keys
        context = set(axes.row_keys)
        total += 1
        for key in set(rewrite):
            occurrences[key] += 1
        want: list[tuple[str, Side]] = []
        for gap in differing_spans(axes.column_keys[:-1], rewrite):
            span = rewrite[gap.new_start : gap.new_end]
            known = [position for position, key in enumerate(span) if key in context]
            for position, key in enumerate(span):
                if key not in context:
                    want.append((key, "trailing" if known and position > known[-1] else "leading"))
        if want:
            wants.append(want)
    return wants, {key: count / total for key, count in occurrences.items()}


def _precedence(wants: list[list[tuple[str, Side]]]) -> dict[tuple[str, str], int]:
    """How often the first word of a pair stands before the second among the words an example lacks."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for want in wants:
        for position, (word, _) in enumerate(want):
            for later, _ in want[position + 1 :]:
                counts[word, later] += 1
    return counts


def _in_phrase_order(words: set[str], precedence: dict[tuple[str, str], int]) -> tuple[str, ...]:
    """The words, each time the one that the remaining words least often precede."""
    ordered: list[str] = []
    remaining = set(words)
    while remaining:
        first = min(
            remaining,
            key=lambda word: (
                sum(max(precedence[other, word] - precedence[word, other], 0) for other in remaining),
                word,
            ),
        )
        ordered.append(first)
        remaining.remove(first)
    return tuple(ordered)
