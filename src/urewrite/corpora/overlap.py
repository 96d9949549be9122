"""Training examples that belong to a dialogue of a held-out test part: found, removed or refused.

A training dialogue overlaps when it

- has the dialogue id of a test dialogue, or
- has a rewrite of the test part among its rewrites (the first turn of a history, which stands for itself, is one), or
- is a test dialogue under another id: it has at least two questions in common with one test dialogue, questions that
  no other test dialogue asks. This is not asked of ids given by QuAC, which tell dialogues apart themselves.

A single shared question is no overlap: "Did they win?" is asked everywhere. A shared rewrite always is, however short:
the few harmless dialogues this costs are cheaper than one that is not harmless.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from urewrite.corpora.parts import dialogue_key
from urewrite.dialogue import Dialogue, Example
from urewrite.errors import OverlapError
from urewrite.tokens import tokenize

_QUAC_ID = re.compile(r"C_[0-9a-f]{32}_[01]")
_SHOWN_CASES = 3


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a training part shares with a test part: the keys of its overlapping dialogues by ground.

    A dialogue may stand under several grounds. `examples` counts all examples of these dialogues.
    """

    by_id: frozenset[str]
    by_rewrite: frozenset[str]
    by_questions: frozenset[str]
    examples: int
    shared_rewrites: int

    @property
    def dialogues(self) -> frozenset[str]:
        """The keys of all overlapping dialogues."""
        return self.by_id | self.by_rewrite | self.by_questions


def find_overlap(train: Sequence[Example], test: Sequence[Example]) -> Overlap:
    """Which dialogues of `train` belong to `test` too. Texts are compared by their lower-cased tokens."""
    test_ids = {example.dialogue_id for example in test if example.dialogue_id}
    test_rewrites = {_normal(example.rewrite) for example in test}
    asked_by = _distinctive_questions(test)
    by_id: set[str] = set()
    by_rewrite: set[str] = set()
    questions: defaultdict[str, set[str]] = defaultdict(set)
    shared_rewrites = 0
    for example in train:
        key = dialogue_key(example)
        if example.dialogue_id in test_ids:
            by_id.add(key)
        if _normal(example.rewrite) in test_rewrites:
            by_rewrite.add(key)
            shared_rewrites += 1
        if any(_normal(turn.text) in test_rewrites for turn in example.dialogue.history[:1]):
            by_rewrite.add(key)
        if not _QUAC_ID.fullmatch(example.dialogue_id):
            questions[key].update(_questions(example.dialogue))
    by_questions = {
        key
        for key, asked in questions.items()
        if any(count >= 2 for count in Counter(asked_by[text] for text in asked if text in asked_by).values())
    }
    found = by_id | by_rewrite | by_questions
    return Overlap(
        frozenset(by_id),
        frozenset(by_rewrite),
        frozenset(by_questions),
        sum(dialogue_key(example) in found for example in train),
        shared_rewrites,
    )


def without_overlap(train: Sequence[Example], test: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Part `train` into (kept, removed): every dialogue that overlaps with `test` is removed whole."""
    found = find_overlap(train, test).dialogues
    kept = [example for example in train if dialogue_key(example) not in found]
    removed = [example for example in train if dialogue_key(example) in found]
    return kept, removed


def assert_no_overlap(train: Sequence[Example], test: Sequence[Example]) -> None:
    """Refuse training data that shares dialogues with `test`."""
    overlap = find_overlap(train, test)
    if not overlap.dialogues:
        return
    cases = [f"{key!r:.80}" for key in sorted(overlap.dialogues)[:_SHOWN_CASES]]
    more = len(overlap.dialogues) - len(cases)
    raise OverlapError(
        f"{overlap.examples} training examples in {len(overlap.dialogues)} dialogues overlap with the test part "
        f"({len(overlap.by_id)} dialogues by id, {len(overlap.by_rewrite)} by a rewrite, "
        f"{len(overlap.by_questions)} by their questions): {', '.join(cases)}"
        f"{f' and {more} more' if more else ''}; remove them with urewrite.corpora.without_overlap"
    )


def without_same_dialogues(train: Sequence[Example], held_out: Iterable[Example]) -> list[Example]:
    """Leave out examples whose whole dialogue, history and utterance, is also held out.

    For corpora in which dialogues are short and independent, such as REWRITE and MULTI: a shared reply means nothing
    there, the same dialogue does.
    """
    held = {_said(example.dialogue) for example in held_out}
    return [example for example in train if _said(example.dialogue) not in held]


def _said(dialogue: Dialogue) -> tuple[str, ...]:
    return (*(_normal(turn.text) for turn in dialogue.history), _normal(dialogue.utterance))


def _distinctive_questions(test: Iterable[Example]) -> dict[str, str]:
    """The questions that only one test dialogue asks, with that dialogue."""
    asked_by: dict[str, str | None] = {}
    for example in test:
        key = dialogue_key(example)
        for question in _questions(example.dialogue):
            asked_by[question] = key if asked_by.get(question, key) == key else None
    return {question: key for question, key in asked_by.items() if key is not None}


def _questions(dialogue: Dialogue) -> Iterable[str]:
    """What the user said, in a form fit for comparison."""
    yield _normal(dialogue.utterance)
    for turn in dialogue.history:
        if turn.role == "user":
            yield _normal(turn.text)


@lru_cache(maxsize=1 << 16)  # the turns of a dialogue recur in the history of each of its examples
def _normal(text: str) -> str:
    return " ".join(tokenize(text).keys)
