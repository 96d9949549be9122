"""Which language a dialogue is in, by the script it is written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

import regex

from urewrite.dialogue import Dialogue

Language = Literal["en", "zh"]

_HAN = regex.compile(r"\p{Han}")
_WORDS = regex.compile(r"\p{Latin}+")
_LOOKED_AT = 2000
"""Characters of a turn that are enough to tell."""
_TELLING = 3
"""Words in Latin letters that are no name alone."""
_MADE_FOR = 0.1
"""The least share of what a model learned from that makes it a model of a language."""


def language_of(dialogue: Dialogue) -> Language:
    """Chinese if the utterance holds at least as many Han characters as words in Latin letters, English if it has none.

    What lies between, `那 iPhone 15 Pro Max 呢` or `How far is 北京 from here?`, is taken for what its history is, the
    latest turns first, and so are one or two words, `OK` or a name, and what has no letters.
    """
    han, latin = _counts(dialogue.utterance)
    if han and han >= latin:
        return "zh"
    if not han and latin >= _TELLING:
        return "en"
    for turn in reversed(dialogue.history):
        there = _counts(turn.text)
        if any(there):
            return "zh" if there[0] >= there[1] else "en"
    return "en"


def _counts(text: str) -> tuple[int, int]:
    """Han characters, and words in Latin letters."""
    start = text[:_LOOKED_AT]
    return len(_HAN.findall(start)), len(_WORDS.findall(start))


def languages_of(dialogues: Iterable[Dialogue]) -> tuple[Language, ...]:
    """The languages that a good part of all dialogues is in."""
    counts = Counter(map(language_of, dialogues))
    return tuple(sorted(one for one, count in counts.items() if count >= _MADE_FOR * counts.total()))
