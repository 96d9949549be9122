"""What each prediction missed, in words a person can act on.

The verdict compares words, whatever their case. Words of the reference that the prediction lacks are *missing*; words
the prediction has beyond the reference are *surplus*. Where a missing or surplus word belongs is read off the alignment
of utterance and reference, so that a fault carries the name of the edit that was not made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from urewrite.dialogue import Example
from urewrite.edits.alignment import differing_spans
from urewrite.scoring.triple import Triple, triples_of
from urewrite.tokens import tokenize

FAULTS: dict[str, str] = {
    "exact": "the prediction is the reference",
    "insert": "words the reference inserts are missing",
    "substitute": "words put in place of others are missing, or words replaced or removed are still there",
    "order": "the words of the reference, in another order",
    "over-rewriting": "words are added or removed that the reference neither adds nor removes",
    "not-reachable": "the reference holds words found neither in the utterance nor in the history",
}
"""Every category with its meaning, in the order in which they are reported."""


class Verdict(NamedTuple):
    """The faults of one prediction, at least one, in the order of `FAULTS`; `exact` stands alone."""

    faults: tuple[str, ...]
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()


def judge(examples: Sequence[Example], predictions: Sequence[str]) -> list[Verdict]:
    """The verdict on one prediction per example, in the same order."""
    return judge_triples(triples_of(examples, predictions), examples)


def judge_triples(triples: Sequence[Triple], examples: Sequence[Example]) -> list[Verdict]:
    """The same for texts that are already split into words; the examples provide the histories."""
    words_of_turn: dict[str, frozenset[str]] = {}

    def reachable(example: Example, words: set[str]) -> bool:
        for turn in example.dialogue.history:
            if not words:
                break
            if turn.text not in words_of_turn:
                words_of_turn[turn.text] = frozenset(tokenize(turn.text).keys)
            words = words - words_of_turn[turn.text]
        return not words

    verdicts: list[Verdict] = []
    for triple, example in zip(triples, examples, strict=True):
        if triple.prediction == triple.reference:
            verdicts.append(Verdict(("exact",)))
            continue
        missing, surplus, found = _compared(triple)
        if not reachable(example, set(triple.reference).difference(triple.utterance)):
            found.add("not-reachable")
        verdicts.append(Verdict(tuple(name for name in FAULTS if name in found), missing, surplus))
    return verdicts


def count_faults(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many predictions show each category; one may show several."""
    counts = Counter(name for verdict in verdicts for name in verdict.faults)
    return {name: counts[name] for name in FAULTS}


def _compared(triple: Triple) -> tuple[tuple[str, ...], tuple[str, ...], set[str]]:
    """Missing words, surplus words and the faults they amount to, for a prediction that is not the reference."""
    expected, predicted = Counter(triple.reference), Counter(triple.prediction)
    missing, surplus = expected - predicted, predicted - expected
    if not missing and not surplus:
        return (), (), {"order"}
    found: set[str] = set()
    added: set[str] = set()
    removed: set[str] = set()
    for gap in differing_spans(triple.utterance, triple.reference):
        new_words = triple.reference[gap.new_start : gap.new_end]
        if any(word in missing for word in new_words):
            found.add("insert" if gap.old_start == gap.old_end else "substitute")
        added.update(new_words)
        removed.update(triple.utterance[gap.old_start : gap.old_end])
    if any(word in removed for word in surplus):
        found.add("substitute")
    if any(word not in added for word in missing) or any(word not in removed for word in surplus):
        found.add("over-rewriting")
    return tuple(missing.elements()), tuple(surplus.elements()), found
