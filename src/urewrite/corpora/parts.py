"""Cutting a list of examples in two without cutting a dialogue."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from urewrite.dialogue import Dialogue, Example
from urewrite.errors import BadInputError


def opening(dialogue: Dialogue) -> str:
    """The first thing said in a dialogue."""
    return dialogue.history[0].text if dialogue.history else dialogue.utterance


def dialogue_key(example: Example) -> str:
    """What examples of one dialogue have in common: its id, or its first turn where no id is known."""
    return example.dialogue_id or opening(example.dialogue)


def split_by_dialogue(examples: Sequence[Example], fraction: float) -> tuple[list[Example], list[Example]]:
    """Hold out about `fraction` of the dialogues: (rest, held out), each in the given order.

    Which side a dialogue falls on depends on its id alone: it is the same in every run and on every machine, whatever
    other dialogues there are.
    """
    if not 0.0 <= fraction <= 1.0:
        raise BadInputError(f"expected a fraction between 0 and 1, found {fraction}")
    rest: list[Example] = []
    held_out: list[Example] = []
    for example in examples:
        digest = hashlib.sha256(dialogue_key(example).encode("utf-8", "surrogatepass")).digest()
        share = int.from_bytes(digest[:6], "big") / 2**48
        (held_out if share < fraction else rest).append(example)
    return rest, held_out
