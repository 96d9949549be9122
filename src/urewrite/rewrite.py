"""What goes out: the rewritten text, the edits that made it, and where every character of it comes from."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Reason = Literal["rewritten", "self_contained", "low_confidence", "no_history", "never", "error"]
"""Why a text is what it is.

rewritten: edits were made. self_contained: none was found, or a rule says that none is needed. low_confidence: those
found were not sure enough. no_history: there was nothing to copy from. never: rewriting was switched off. error:
something failed inside, the utterance is given back as it is, and the log says what.
"""

GOLD = "gold"
"""In place of a model's name where the grid was derived from a rewrite that was given; see `urewrite.decide.gold`."""


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


class Region(NamedTuple):
    """A rectangle of the grid, rows [top, bottom) and columns [left, right), and whether it became an edit."""

    op: Literal["substitute", "insert"]
    top: int
    bottom: int
    left: int
    right: int
    score: float
    made: bool


@dataclass(frozen=True, slots=True, eq=False)
class GridView:
    """What a model saw and thought: the words down and across, the probabilities (edit types, rows, columns).

    The edit types are none, substitute and insert. `row_turns` names the turn of each row, None for connection words
    and separators.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_turns: tuple[int | None, ...]
    probabilities: NDArray[np.float32]
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rewritten utterance. `str()` is its text; `pieces` cover the text exactly, in order.

    `confidence` is the probability that the text is right, as often as validation data say it is; None where no model
    was asked (a first turn, a greeting, thanks), or one that was not calibrated. `turns_used` tells how many turns of
    the history, the latest ones, were within the model's window. `notes` name what was left out.
    """

    text: str
    utterance: str
    edits: tuple[Edit, ...]
    pieces: tuple[Piece, ...]
    reason: Reason | None = None
    confidence: float | None = None
    turns_used: int | None = None
    notes: tuple[str, ...] = ()
    model: str | None = None
    grid: GridView | None = field(default=None, compare=False, repr=False)

    @property
    def changed(self) -> bool:
        """Whether the text differs from the utterance."""
        return self.text != self.utterance

    def to_record(self) -> dict[str, object]:
        """As JSON has it: everything but the grid."""
        return {
            "text": self.text,
            "utterance": self.utterance,
            "changed": self.changed,
            "reason": self.reason,
            "confidence": self.confidence,
            "edits": [asdict(edit) for edit in self.edits],
            "pieces": [asdict(piece) for piece in self.pieces],
            "turns_used": self.turns_used,
            "notes": list(self.notes),
            "model": self.model,
        }

    def explain(self, *, colour: bool = True) -> str:
        """The text with its edits marked, each edit in words, and the grid if it was kept; for terminals."""
        from urewrite.explain import explain

        return explain(self, colour=colour)

    def to_svg(self) -> str:
        """A picture of the grid with its words, what was edited and what came of it, as an SVG document."""
        from urewrite.picture import grid_svg

        return grid_svg(self)

    def __str__(self) -> str:
        return self.text
