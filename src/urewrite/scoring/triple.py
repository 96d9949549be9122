"""What every metric looks at: the words of utterance, reference and prediction as they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from urewrite.dialogue import Example
from urewrite.errors import BadInputError
from urewrite.tokens import tokenize

Keys = tuple[str, ...]
"""The lower-cased words of one text."""


class Triple(NamedTuple):
    """One example as the metrics see it."""

    utterance: Keys
    reference: Keys
    prediction: Keys


def triples_of(examples: Sequence[Example], predictions: Sequence[str]) -> list[Triple]:
    """Pair each example with its prediction; every distinct text is split into words once."""
    if len(examples) != len(predictions):
        raise BadInputError(
            f"{len(predictions):,} predictions for {len(examples):,} examples: give one per example, in their order"
        )
    known: dict[str, Keys] = {}

    def keys(text: str) -> Keys:
        found = known.get(text)
        if found is None:
            found = known[text] = tokenize(text).keys
        return found

    return [
        Triple(keys(example.dialogue.utterance), keys(example.rewrite), keys(prediction))
        for example, prediction in zip(examples, predictions, strict=True)
    ]


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All runs of n words, from left to right; none if there are fewer words."""
    return list(zip(*[words[start:] for start in range(n)], strict=False))
