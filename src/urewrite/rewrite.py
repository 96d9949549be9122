"""What goes out: the rewritten text, the edits that made it, and where every character of it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Edit:
    """One copied span put into the utterance; all offsets are in characters of the texts as they were given.

    `utterance[start:end]` gives way to `before + text + after`. `text` is `history[source_turn][source_start:
    source_end]`, or a connection word when `source_turn` is None; `before` and `after` hold at most a separator blank.
    Edits of one place share `start` and `end` and follow one another in the output.
    """

    op: Literal["substitute", "insert"]
    start: int
    end: int
    text: str
    source_turn: int | None
    source_start: int
    source_end: int
    before: str = ""
    after: str = ""
    score: float = 1.0


class Origin(str, Enum):
    """Where a piece of the output comes from."""

    UTTERANCE = "utterance"
    HISTORY = "history"
    CONNECTION = "connection"
    SEPARATOR = "separator"


@dataclass(frozen=True, slots=True)
class Piece:
    """Output characters [start, end) and their origin; the source offsets are None for separator blanks.

    For `CONNECTION` the offsets are those within the word; `source_turn` is set for `HISTORY` only.
    """

    start: int
    end: int
    origin: Origin
    source_start: int | None = None
    source_end: int | None = None
    source_turn: int | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewritten utterance. `str()` is its text; `pieces` cover the text exactly, in order."""

    text: str
    utterance: str
    edits: tuple[Edit, ...]
    pieces: tuple[Piece, ...]

    @property
    def changed(self) -> bool:
        """Whether the text differs from the utterance."""
        return self.text != self.utterance

    def __str__(self) -> str:
        return self.text
