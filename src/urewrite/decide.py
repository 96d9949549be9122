"""Decode: which edits to make of a judged grid, why, and how sure we are of the outcome."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isnan, nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from urewrite.bundle import ModelConfig
from urewrite.dialogue import refuse_no_list
from urewrite.edits.apply import apply_edits, edits_of
from urewrite.edits.choose import Probabilities, Thresholds, candidates, settle
from urewrite.edits.grid import SEPARATOR, Axes, EditType
from urewrite.edits.regions import Rectangle, find_rectangles
from urewrite.edits.supervise import Supervision
from urewrite.errors import BadInputError
from urewrite.pipeline import Judged
from urewrite.pleasantries import is_pleasantry
from urewrite.rewrite import GOLD, GridView, Reason, Region, Rewrite
from urewrite.tokens import tokenize

Mode = Literal["auto", "always", "never"]
MOST_WORDS = 200
"""An utterance of more words is no follow-up; it is left as it is, whatever the model would make of it."""

_PROTECTED = "an edit that was found would have replaced protected words, and was left out"
_LEAST = 1e-6
"""A probability no cell falls below when it is judged, so that one cell cannot outweigh all others."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller asks for at a call.

    `threshold` is the least score a region needs to become an edit, in place of the model's own; `protect` holds words
    that are never edited away, in lower case.
    """

    mode: Mode = "auto"
    threshold: float | None = None
    protect: frozenset[str] = frozenset()
    keep_grid: bool = False

    def thresholds(self, own: Thresholds) -> Thresholds:
        """Those of the model, or what the caller wants instead."""
        if self.mode == "always":
            return replace(own, region=0.0, lone=0.0, further=0.0)
        return own if self.threshold is None else replace(own, region=self.threshold, lone=self.threshold)


def without_network(config: ModelConfig, axes: Axes, wish: Wish) -> Rewrite | None:
    """The answer for a dialogue that needs no network; None for all others, which `decide` is for."""
    words, used = len(axes.utterance), turns_used(axes)
    polite = wish.mode == "auto" and is_pleasantry(axes.column_keys[:-1])
    if wish.mode != "never" and used and 0 < words <= MOST_WORDS and not polite:
        return None
    reason: Reason = "never" if wish.mode == "never" else "self_contained" if used else "no_history"
    said = list(notes(axes))
    if words > MOST_WORDS:
        said.append(f"the utterance has {words:,} words; one of more than {MOST_WORDS} is left alone")
    unchanged = apply_edits(axes.dialogue, ())
    return replace(unchanged, reason=reason, turns_used=used, notes=tuple(said), model=config.name)


def decide(config: ModelConfig, judged: Judged, wish: Wish) -> Rewrite:
    """The rewrite of a dialogue."""
    axes, probabilities = judged
    thresholds = wish.thresholds(config.thresholds)
    found = candidates(probabilities, thresholds.cell)
    allowed = _without_protected(axes, found, wish.protect)
    chosen = settle(axes, probabilities, allowed, thresholds)
    made = apply_edits(axes.dialogue, edits_of(axes, chosen))
    reason: Reason = "rewritten"
    if not made.changed:  # also where words were to be replaced by themselves
        reason = "low_confidence" if allowed and not chosen else "self_contained"
        if chosen:
            made, chosen = apply_edits(axes.dialogue, ()), []
    return Rewrite(
        made.text,
        made.utterance,
        made.edits,
        made.pieces,
        reason=reason,
        confidence=calibrated(config, certainty(probabilities, chosen)),
        turns_used=turns_used(axes),
        notes=notes(axes) if len(allowed) == len(found) else (*notes(axes), _PROTECTED),
        model=config.name,
        grid=_LaterView(axes, probabilities, found, chosen) if wish.keep_grid else None,
    )


def gold(supervision: Supervision) -> Rewrite:
    """What a gold grid stands for, with that grid, so that it can be explained and drawn as that of a model can."""
    axes, grid = supervision.axes, supervision.grid
    rectangles = find_rectangles(grid)
    likely = np.stack([grid == edit_type for edit_type in EditType]).astype(np.float32)
    result = apply_edits(axes.dialogue, edits_of(axes, rectangles))
    return replace(result, model=GOLD, grid=_LaterView(axes, likely, rectangles, rectangles))


def certainty(probabilities: Probabilities, chosen: Sequence[Rectangle]) -> float:
    """The logarithm of the probability that all cells are just as they were decided, as if each were for itself.

    They are not, so this is no probability yet: `calibrated` makes it one.
    """
    likely = probabilities[EditType.NONE].copy()
    for one in chosen:
        box = slice(one.top, one.bottom), slice(one.left, one.right)
        likely[box] = probabilities[one.edit_type][box]
    return float(np.add.reduce(np.log(np.maximum(likely, _LEAST)), axis=None))


def calibrated(config: ModelConfig, certain: float) -> float | None:
    """How often validation data were right where the model was as certain; None for a model that was not calibrated."""
    if not config.calibration:
        return None
    return _on_curve(config.calibration, certain)


def _on_curve(points: Sequence[tuple[float, float]], at: float) -> float:
    """As `np.interp`, whose setting up would take longer than all of this."""
    if at <= points[0][0]:
        return points[0][1]
    if not at < points[-1][0]:
        return nan if isnan(at) else points[-1][1]
    following = bisect_right(points, (at, inf))
    (left, low), (right, high) = points[following - 1], points[following]
    return (high - low) / (right - left) * (at - left) + low


def turns_used(axes: Axes) -> int:
    """How many turns of the history have rows."""
    return len({source.turn for source in axes.sources if source.turn is not None})


def notes(axes: Axes) -> tuple[str, ...]:
    """What of a dialogue the model does not see."""
    said = list(axes.dialogue.skipped)
    seen = [(source.turn, source.tokens) for source in axes.sources if source.turn is not None]  # in their order
    if seen:
        first, tokens = seen[0]
        if any(turn.text.strip() for turn in axes.dialogue.history[:first]):
            what = f"the first {first:,} turns of the history do" if first > 1 else "the first turn of the history does"
            said.append(f"{what} not fit the model's window")
        if len(seen) == 1 and len(tokens) and tokens.text[tokens.ends[-1] :].strip():
            said.append(f"of turn {first + 1} only the first {len(tokens):,} words fit the model's window")
    return tuple(said)


def _with_others(found: list[Rectangle], chosen: list[Rectangle]) -> list[Rectangle]:
    """All regions that were found, and connection words that were chosen although they were none."""
    return [*found, *(one for one in chosen if one not in found)]


def _without_protected(axes: Axes, found: list[Rectangle], words: frozenset[str]) -> list[Rectangle]:
    if not words:
        return found
    return [
        one
        for one in found
        if one.edit_type != EditType.SUBSTITUTE or words.isdisjoint(axes.column_keys[one.left : one.right])
    ]


def protected(words: Sequence[str]) -> frozenset[str]:
    """Every token of the words a caller wants to stay."""
    refuse_no_list(words, "words", field="protect")
    keys: set[str] = set()
    for position, word in enumerate(words):
        if not isinstance(word, str):
            raise BadInputError(f"expected text, found {type(word).__name__}", field=f"protect[{position}]")
        keys.update(tokenize(word).keys)
    return frozenset(keys)


class _LaterView(GridView):
    """A view that is put together when it is first looked at: most callers never do."""

    def __init__(
        self, axes: Axes, probabilities: Probabilities, found: list[Rectangle], chosen: list[Rectangle]
    ) -> None:
        self.__dict__["_given"] = axes, probabilities, found, chosen

    @cached_property
    def _whole(self) -> GridView:
        axes, probabilities, found, chosen = self.__dict__["_given"]
        return _view(axes, probabilities, _with_others(found, chosen), chosen)

    @property
    def rows(self) -> tuple[str, ...]:
        return self._whole.rows

    @property
    def columns(self) -> tuple[str, ...]:
        return self._whole.columns

    @property
    def row_turns(self) -> tuple[int | None, ...]:
        return self._whole.row_turns

    @property
    def probabilities(self) -> NDArray[np.float32]:
        return self._whole.probabilities

    @property
    def regions(self) -> tuple[Region, ...]:
        return self._whole.regions

    def __reduce__(self) -> tuple[object, ...]:
        whole = self._whole
        return GridView, (whole.rows, whole.columns, whole.row_turns, whole.probabilities, whole.regions)


def _view(axes: Axes, probabilities: Probabilities, found: list[Rectangle], chosen: list[Rectangle]) -> GridView:
    turns: list[int | None] = []
    words: list[str] = []
    for source in axes.sources:
        if words:
            turns.append(None)
            words.append(SEPARATOR)
        turns += [source.turn] * len(source.tokens)
        words += source.tokens.words
    return GridView(
        tuple(words),
        (*axes.utterance.words, axes.column_keys[-1]),
        tuple(turns),
        np.ascontiguousarray(probabilities, dtype=np.float32),
        tuple(
            Region(
                "substitute" if one.edit_type == EditType.SUBSTITUTE else "insert",
                one.top,
                one.bottom,
                one.left,
                one.right,
                one.score,
                one in chosen,
            )
            for one in found
        ),
    )
