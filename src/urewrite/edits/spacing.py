"""Whether a blank belongs between two words that an edit brings together."""

from __future__ import annotations

from typing import NamedTuple

import regex

from urewrite.tokens import Tokens

# Scripts and punctuation that are written without blanks between words.
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\u3000-\u303f\uff00-\uffef]"
)
_HUGS_LEFT = regex.compile(r"[,.;:?!%\)\]\}”…°]|['’](?:s|d|m|ll|re|ve|em)$", regex.IGNORECASE)
_NEGATION = regex.compile(r"n['’]t", regex.IGNORECASE)
_NEGATED = regex.compile(
    r"ai|are|ca|could|dare|did|do|does|had|has|have|is|might|must|need|ought|sha|should|was|were|wo|would",
    regex.IGNORECASE,
)
_HUGS_RIGHT = regex.compile(r"[\(\[\{“‘$£€¥#¿¡]$")
_QUOTES = frozenset("\"'’`")
_JOINERS = frozenset(["-", "--", "–", "—", "/", "&", "~", "_", "@", "+", "="])


class Edge(NamedTuple):
    """A word at the end of a piece of text, in the text it stands in; `listed` marks a connection word."""

    tokens: Tokens
    at: int
    listed: bool = False

    @property
    def word(self) -> str:
        """The word itself."""
        return self.tokens.words[self.at]


def has_gap(tokens: Tokens, index: int) -> bool:
    """Whether something blank stands between a word and the word before it."""
    return 0 < index < len(tokens) and tokens.ends[index - 1] < tokens.starts[index]


def written_apart(left: Edge, right: Edge) -> bool:
    """Whether two words are written with a blank between them: `Beijing today`, but `Kobe's`, `(he` and `北京人`.

    Quotation marks lean on what they enclose, signs such as `-` keep the distance they have in their own text.
    """
    if _is_unspaced(left.word[-1]) or _is_unspaced(right.word[0]):
        return False
    if hugs(left.word, right.word) or _HUGS_RIGHT.search(left.word):
        return False
    if left.word in _QUOTES:
        return not _opens(left)
    if right.word in _QUOTES:
        return not right.listed and _opens(right)
    if left.word in _JOINERS:
        return left.listed or left.at + 1 == len(left.tokens) or has_gap(left.tokens, left.at + 1)
    if right.word in _JOINERS:
        return right.listed or right.at == 0 or has_gap(right.tokens, right.at)
    return True


def melts(left: str, right: str) -> bool:
    """Whether two words written together would be read as one."""
    return left[-1].isalnum() and right[0].isalnum() and not (_is_unspaced(left[-1]) or _is_unspaced(right[0]))


def hugs(left: str, right: str) -> bool:
    """Whether `right` is a clitic or closing punctuation, written without a blank after `left`."""
    if right.isalnum():  # as nearly always
        return False
    if _NEGATION.fullmatch(right):
        return _NEGATED.fullmatch(left) is not None
    return _HUGS_LEFT.match(right) is not None


def _is_unspaced(character: str) -> bool:
    """What `_UNSPACED` says, without asking it for the commonest characters."""
    if character < "\u0e00":  # the first of its scripts is Thai
        return False
    return "\u4e00" <= character <= "\u9fff" or _UNSPACED.match(character) is not None


def _opens(quote: Edge) -> bool:
    """Whether a straight quotation mark opens: nothing, a blank or a bracket stands before it."""
    if quote.at == 0 or has_gap(quote.tokens, quote.at):
        return True
    return _HUGS_RIGHT.search(quote.tokens.words[quote.at - 1]) is not None
