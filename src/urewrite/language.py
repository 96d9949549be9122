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
_MADE_FOR = 0.1
"""The least share of what a model learned from that makes it a model of a language."""


def language_of(dialogue: Dialogue) -> Language:
    """Chinese if the utterance holds at least as many Han characters as words in Latin letters, else English.

    So a Chinese question about an English product is Chinese, and an English one about 北京 is English. An utterance
    without letters is taken for what its history is, the latest turns first.
    """
    for text in (dialogue.utterance, *(turn.text for turn in reversed(dialogue.history))):
        start = text[:_LOOKED_AT]
        han, latin = len(_HAN.findall(start)), len(_WORDS.findall(start))
        if han or latin:
            return "zh" if han >= latin else "en"
    return "en"


def languages_of(dialogues: Iterable[Dialogue]) -> tuple[Language, ...]:
    """The languages that a good part of all dialogues is in."""
    counts = Counter(map(language_of, dialogues))
    return tuple(sorted(one for one, count in counts.items() if count >= _MADE_FOR * counts.total()))
