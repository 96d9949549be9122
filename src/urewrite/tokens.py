r"""Text to tokens with character offsets: CJK by character, the rest by word; nothing of the text is ever lost.

Blank, and so allowed to lie between tokens, are white space, control characters (NUL included) and the characters
Unicode calls default-ignorable: zero-width spaces, direction marks, byte-order marks, soft hyphens, Hangul fillers,
stray variation selectors. Such a character is part of a token only where it holds one together: a joiner inside a
word or an emoji, a variation selector after its base.

One rule set serves all languages:

* Han, Hiragana, Katakana and Bopomofo by character; Thai, Lao, Khmer and Myanmar by grapheme cluster; an emoji with its
  modifiers, or a flag, is one token; every other script by word, marks included.
* English as spaCy's English tokeniser: ``ca|n't``, ``Kobe|'s``, ``can|not``, ``do|nt``, ``well|-|known``, ``$|5``,
  ``10|%``, ``10|am``, ``1999|-|2000``; whole are ``U.S.``, ``Dr.``, ``J.``, ``1,000.50``, ``12:30``, ``9/11``, ``...``,
  ``R&B``, ``O'Brien``, addresses of the web and of mail. Forms that are words themselves (``id``, ``well``) stay whole.
* Identifiers are whole: ``iPhone-X100``, ``RTX-4090``, ``A1-B2``, ``15-year``, ``snake_case``, ``foo.py``, ``v2.0.1``,
  ``C++``, ``C#``, ``@user``, ``-5``. A hyphen splits only between two letters or two digits, and not there
  either before letters that run into a digit or after digits that follow a letter (``x86-64``).
  A number keeps its unit (``60kg``, ``5G``), since it cannot be told from a product code.
  ``#tag`` is ``#|tag``.

The words of ordinary text joined by blanks, in lower case too, give the same words again; no promise for odd text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from string import ascii_letters

import regex

from urewrite.token_exceptions import ABBREVIATIONS, CUTS

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\u30FC\uFF70\uFF9E\uFF9F"
_WITHOUT_BLANKS = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# The Hangul fillers count as letters but show nothing.
_NOT_IN_WORDS = rf"[{_CJK}{_WITHOUT_BLANKS}\u3164\uFFA0]"
# ASCII comes first in each class only because the engine tests the members in order.
_LETTER = rf"[A-Za-z[\p{{L}}--{_NOT_IN_WORDS}]]"
_LETTER_OR_MARK = rf"[A-Za-z[[\p{{L}}\p{{M}}]--{_NOT_IN_WORDS}]]"
# Superscripts, subscripts and fractions belong to words (m², H₂O, 2½), circled numbers do not.
_WORD = (
    r"[A-Za-z0-9[[\p{L}\p{M}\p{Nd}\p{Nl}\u00B2\u00B3\u00B9\u00BC-\u00BE\u2070-\u209C\u2150-\u2189]"
    rf"--{_NOT_IN_WORDS}]]"
)
_CLITIC = rf"(?i:[sdm]|ll|re|ve)(?!{_WORD})"
# Characters a web address is made of; it ends in one that is not sentence punctuation.
_ADDRESS = r"[!#-;=?-~]*[0-9A-Za-z/=&#_~-]"

# No alternative may scan far without also consuming what it scanned: that keeps the time linear in the text.
_TOKEN = rf"""(?=[!-~[^\p{{White_Space}}\p{{Cc}}\p{{Default_Ignorable_Code_Point}}]])(?:
      [\u4E00-\u9FFF]\p{{M}}*+
    # The commonest English tokens, for speed alone: without these two lines the tokens would be the same.
    | (?>[A-Za-z]+|[0-9]+)(?=[,?!)]?(?:[ ]|\Z))
    | [,?!;"()](?![^\x00-\x7F])
    | [{_CJK}][\p{{M}}\uFF9E\uFF9F]*+
    | (?i:https?://|ftp://|www\.){_ADDRESS}
    | (?<![0-9A-Za-z.%+-])[0-9A-Za-z][0-9A-Za-z._%+-]{{0,63}}+
      (?:
        @[0-9A-Za-z-]{{1,63}}+(?:\.[0-9A-Za-z-]{{1,63}}+){{1,8}}+
      | (?<=\.(?i:com|org|net|edu|gov|io|cn|uk))(?:/{_ADDRESS})?
      )
    | (?:(?=[A-Za-z]{{2,6}}+\.)(?:{"|".join(ABBREVIATIONS)})\.|(?i:Ph\.D\.)|(?:{_LETTER}\p{{M}}*+\.)++)(?!{_WORD})
    | (?i:and/or|w/o)(?!{_WORD})
    | (?i:n['’]t)(?!{_WORD})
    | {_LETTER_OR_MARK}+(?=(?i:n['’]t)(?!{_WORD}))
    | (?i:(?:[dg]o|hav|lov|noth|nuth|someth)in|ol)['’](?!{_WORD})
    | \p{{Nd}}++(?:[.,:]\p{{Nd}}++)*+(?=(?i:[ap]m|[ap]\.m\.?)(?!{_WORD}))
    | (?i:US\$|[CF]\#(?!{_WORD})|C\+\+)
    | (?:@|(?<!\S)[+\-−.](?=\p{{Nd}}))?{_WORD}++
      (?:
        (?:
          _++ | [&@] | ['’](?!{_CLITIC})
        | (?<!\p{{Ll}})\. | \.(?!\p{{Lu}})
        | (?<=\p{{Nd}})(?:[,:/](?=\p{{Nd}})|[-‐‑](?!\p{{Nd}})|(?<={_LETTER}\p{{Nd}}[\p{{Nd}}-]{{0,12}})[-‐‑])
        | (?<!\p{{Nd}})[-‐‑](?:(?=\p{{Nd}})|(?={_LETTER_OR_MARK}++\p{{Nd}}))
        | (?<={_LETTER_OR_MARK})(?:\*++|[$`´+])(?={_LETTER_OR_MARK})
        | [\u00AD\u200C\u200D\u2060]++
        ){_WORD}++
      )*+
    | ['’](?:{_CLITIC}|(?i:cause|cos)(?!{_WORD}))
    | \.\.++ | --++
    # A flag by hand: the engine's \X looks back over the whole run of flags each time.
    | \p{{Regional_Indicator}}{{1,2}}+\p{{M}}*+
    | (?=[\p{{Extended_Pictographic}}{_WITHOUT_BLANKS}])\X
    | .\p{{M}}*+
    )"""


@cache
def _pattern() -> regex.Pattern[str]:
    """Compiled when first needed, which takes longer than a rewrite does."""
    return regex.compile(_TOKEN, regex.VERBOSE | regex.VERSION1)


_ALL_TOKENS = re.compile("[\u4e00-\u9fff，。？！、；：]+")
"""Texts whose every character is a token: Han with the signs that go with it."""
_AFTER_WORDS = frozenset(",?!)")
_WITH_DOT = frozenset((*ABBREVIATIONS, *ascii_letters))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of `text`: token i is `text[starts[i]:ends[i]]`; what lies between tokens is blank."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    def first(self, amount: int) -> Tokens:
        """Only the first so many tokens of the same text."""
        return Tokens(self.text, self.words[:amount], self.starts[:amount], self.ends[:amount])

    @property
    def keys(self) -> tuple[str, ...]:
        """The form in which words are compared and scored: lower case."""
        if self.text == self.text.lower():  # as Chinese is, for one
            return self.words
        return tuple([word.lower() for word in self.words])


def tokenize(text: str) -> Tokens:
    """Split any text, in time linear in its length; the same text always gives the same tokens."""
    if _ALL_TOKENS.fullmatch(text):  # most Chinese utterances, and much faster
        size = len(text)
        return Tokens(text, tuple(text), tuple(range(size)), tuple(range(1, size + 1)))
    words, starts, ends = _between_blanks(text) if text.isascii() else _matched(text, 0, len(text))
    if not CUTS.keys().isdisjoint(words):
        words, starts, ends = _cut(words, starts)
    return Tokens(text, tuple(words), tuple(starts), tuple(ends))


_Found = tuple[list[str], list[int], list[int]]
"""Words, where they start, and where they end."""


def _matched(text: str, start: int, end: int) -> _Found:
    """What the pattern finds in a part of a text."""
    spans = [match.span() for match in _pattern().finditer(text, start, end)]
    return [text[first:last] for first, last in spans], [first for first, _ in spans], [last for _, last in spans]


def _between_blanks(text: str) -> _Found:
    """The same in ASCII, where most words stand between blanks and are told without asking the pattern."""
    words: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = 0
    for chunk in text.split(" "):
        end = start + len(chunk)
        if chunk.isalpha() or chunk.isdigit():
            words.append(chunk)
            starts.append(start)
            ends.append(end)
        elif chunk:
            word, mark = chunk[:-1], chunk[-1]
            if (word.isalpha() or word.isdigit()) and (mark in _AFTER_WORDS or (mark == "." and word not in _WITH_DOT)):
                words += (word, mark)
                starts += (start, end - 1)
                ends += (end - 1, end)
            else:
                more = _matched(text, start, end)
                words += more[0]
                starts += more[1]
                ends += more[2]
        start = end + 1
    return words, starts, ends


def _cut(words: list[str], starts: list[int]) -> _Found:
    """Cut the words in two that are written as one."""
    parts: list[str] = []
    places: list[int] = []
    for word, start in zip(words, starts, strict=True):
        cut = CUTS.get(word, len(word))
        parts.append(word[:cut])
        places.append(start)
        if cut < len(word):
            parts.append(word[cut:])
            places.append(start + cut)
    return parts, places, [place + len(part) for place, part in zip(places, parts, strict=True)]
