"""Text to tokens with character offsets: CJK by character, the rest by word; nothing of the text is ever lost."""

from __future__ import annotations

from dataclasses import dataclass

import regex

_TOKEN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{L}\p{M}\p{N}]+|\S")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of `text`: token i is `text[starts[i]:ends[i]]`; what lies between tokens is blank."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def keys(self) -> tuple[str, ...]:
        """The form in which words are compared and scored: lower case."""
        return tuple([word.lower() for word in self.words])


def tokenize(text: str) -> Tokens:
    """Split a text; the same text always gives the same tokens."""
    spans = [match.span() for match in _TOKEN.finditer(text)]
    return Tokens(
        text,
        tuple([text[start:end] for start, end in spans]),
        tuple([start for start, _ in spans]),
        tuple([end for _, end in spans]),
    )
