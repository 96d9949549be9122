"""The M x N grid of section 3: context words down, utterance words and `[E]` across, an edit type in every cell."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from urewrite.dialogue import Dialogue
from urewrite.tokens import Tokens, tokenize

SEPARATOR = "[S]"
"""Row between two turns. Upper case, so it never equals a word's key; nothing is ever copied from it."""

END = "[E]"
"""Last column, so that an insertion can follow the whole utterance."""

Grid: TypeAlias = NDArray[np.int8]
"""Edit types, shape (rows, columns) of its `Axes`."""


class EditType(IntEnum):
    """What a cell says of its context word and its utterance word."""

    NONE = 0
    SUBSTITUTE = 1
    INSERT = 2


@dataclass(frozen=True, slots=True)
class ConnectionWords:
    """Words that may be inserted although the dialogue lacks them.

    Spans copied to one place come out in row order, so where a connection word stands decides what it can join:
    `leading` words stand above the first turn (of, in, about: before what is copied), `trailing` ones below the last
    ('s, 的: after it). A word that does both may be in both.
    """

    leading: tuple[str, ...] = ()
    trailing: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.leading) + len(self.trailing)


@dataclass(frozen=True, slots=True)
class Source:
    """A run of rows with one origin. `turn` is its place in the history, None for connection words."""

    tokens: Tokens
    turn: int | None
    first_row: int


@dataclass(frozen=True, slots=True)
class Axes:
    """The rows and columns of a dialogue's grid and where each of them comes from."""

    dialogue: Dialogue
    utterance: Tokens
    sources: tuple[Source, ...]
    row_keys: tuple[str, ...]
    column_keys: tuple[str, ...]
    lists: tuple[range, ...] = ()
    """The rows of connection words."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, `[E]` included."""
        return len(self.row_keys), len(self.column_keys)

    def is_listed(self, row: int) -> bool:
        """Whether a row is a connection word."""
        return any(row in rows for rows in self.lists)

    def empty_grid(self) -> Grid:
        """The grid that changes nothing."""
        return np.zeros(self.shape, dtype=np.int8)


def lay_out(
    dialogue: Dialogue, connection_words: ConnectionWords | None = None, *, most_rows: int | None = None
) -> Axes:
    """The axes of a dialogue: leading connection words, the turns in order, trailing ones, `[S]` between all.

    With `most_rows` only so many rows are laid out: the earliest turns are left out, and of a last turn that is too
    long by itself the end is.
    """
    utterance = tokenize(dialogue.utterance)
    parts: list[tuple[Tokens, int | None]] = []
    words = connection_words or ConnectionWords()
    if words.leading:
        parts.append((_listed(words.leading), None))
    room = None
    if most_rows is not None:
        room = most_rows - sum(len(listed) + 1 for listed in (words.leading, words.trailing) if listed)
    parts.extend(_latest(dialogue, room))
    if words.trailing:
        parts.append((_listed(words.trailing), None))
    sources: list[Source] = []
    lists: list[range] = []
    row_keys: list[str] = []
    for tokens, turn in parts:
        if not tokens.words:
            continue
        if row_keys:
            row_keys.append(SEPARATOR)
        sources.append(Source(tokens, turn, len(row_keys)))
        if turn is None:
            lists.append(range(len(row_keys), len(row_keys) + len(tokens)))
        row_keys.extend(tokens.keys)
    return Axes(dialogue, utterance, tuple(sources), tuple(row_keys), (*utterance.keys, END), tuple(lists))


def _latest(dialogue: Dialogue, room: int | None) -> list[tuple[Tokens, int]]:
    """The last turns that fit, with a separator each; one turn is kept whatever its length, cut to what fits.

    Turns before those are not even looked at, so that a long history costs no more than one that fits.
    """
    kept: list[tuple[Tokens, int]] = []
    for position in range(len(dialogue.history) - 1, -1, -1):
        if room is not None and room <= 0 and kept:
            break
        tokens = tokenize(dialogue.history[position].text)
        if not len(tokens):  # has no rows
            continue
        if room is not None:
            if len(tokens) > room:
                if not kept:
                    kept.append((tokens.first(max(room, 0)), position))
                break
            room -= len(tokens) + 1
        kept.append((tokens, position))
    return kept[::-1]


@lru_cache(maxsize=64)
def _listed(words: tuple[str, ...]) -> Tokens:
    """Connection words as a pseudo-turn in which each word is one token whatever it looks like."""
    starts: list[int] = []
    position = 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    return Tokens(
        " ".join(words),
        tuple(words),
        tuple(starts),
        tuple([start + len(word) for start, word in zip(starts, words, strict=True)]),
    )
