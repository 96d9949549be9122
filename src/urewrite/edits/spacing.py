"""Whether a blank belongs between two words that an edit brings together."""

from __future__ import annotations

import regex

# Scripts and punctuation that are written without blanks between words.
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u3000-\u303f\uff00-\uffef]"
)
_HUGS_LEFT = regex.compile(
    r"[,.;:?!%\)\]\}\u2019\u201d\u2026°]|n['’]t\b|['’](?:s|d|m|ll|re|ve|em)\b|['’]$", regex.IGNORECASE
)
_HUGS_RIGHT = regex.compile(r"[\(\[\{\u2018\u201c$£€¥#¿¡]$")
_JOINERS = frozenset("-/–—_&@~")


def needs_blank(left: str, right: str) -> bool:
    """Whether two words are written apart: `Beijing today`, but `Kobe's`, `(he` and `北京人`."""
    if not left or not right or left[-1].isspace() or right[0].isspace():
        return False
    if _UNSPACED.match(left[-1]) or _UNSPACED.match(right[0]):
        return False
    return not (_HUGS_LEFT.match(right) or _HUGS_RIGHT.search(left))


def hugs_left(word: str) -> bool:
    """Whether the word is written without a blank before it whatever that is: a clitic or closing punctuation."""
    return _HUGS_LEFT.match(word) is not None


def joins(word: str) -> bool:
    """Whether the word is a sign such as `-` or `/` that may stand with or without blanks around it."""
    return word in _JOINERS
