"""From rectangles to places: which columns give way to which spans of the context.

Decisions, where the paper is silent:

* Spans for one place follow one another in row order, that is in the order of the dialogue.
* An insertion stands before a substitution that begins at its column; inside a substituted range it moves to its start.
  Of an insertion wider than one column the left edge counts.
* Of substitutions whose ranges overlap without being equal the better scored one stays (then the wider, then the
  upper one).
* A rectangle across `[S]` gives one span per turn; over connection words one span per word.
* Sentence-final punctuation at the end of a copied span is dropped unless the span ends the whole output.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from urewrite.edits.grid import Axes, EditType
from urewrite.edits.regions import Rectangle
from urewrite.tokens import Tokens

SENTENCE_END = frozenset([".", "?", "!", "...", "…", "。", "？", "！", "．", "｡"])


class Span(NamedTuple):
    """Tokens first..last (inclusive) of a turn, or one connection word when `turn` is None."""

    tokens: Tokens
    turn: int | None
    first: int
    last: int
    score: float

    @property
    def first_word(self) -> str:
        """The word that meets what stands before the span."""
        return self.tokens.words[self.first]

    @property
    def last_word(self) -> str:
        """The word that meets what stands after the span."""
        return self.tokens.words[self.last]


class Place(NamedTuple):
    """Columns [left, right) that give way to spans; left = right is an insertion before column `left`."""

    left: int
    right: int
    spans: tuple[Span, ...]

    @property
    def is_insertion(self) -> bool:
        """Whether nothing of the utterance is replaced."""
        return self.left == self.right


def places_of(axes: Axes, rectangles: Sequence[Rectangle]) -> list[Place]:
    """Places that do not overlap, in the order of the output, each with at least one span."""
    end_column = len(axes.column_keys) - 1
    boxes = _settled_substitutions(rectangles, end_column)
    for box in rectangles:
        if box.edit_type is EditType.INSERT:
            column = next((kept.left for kept in boxes if kept.left < box.left < kept.right), box.left)
            boxes.append(box._replace(left=column, right=column))
    boxes.sort(key=lambda box: (box.left, box.right, box.top))
    places = [
        Place(left, right, tuple([span for box in group for span in _spans(axes, box)]))
        for (left, right), group in groupby(boxes, key=lambda box: (box.left, box.right))
    ]
    return _without_loose_ends(places, end_column)


def _settled_substitutions(rectangles: Sequence[Rectangle], end_column: int) -> list[Rectangle]:
    """Substitutions whose column ranges are equal or apart; `[E]` is no word, so no range includes it."""
    candidates = [
        box._replace(right=min(box.right, end_column))
        for box in rectangles
        if box.edit_type is EditType.SUBSTITUTE and box.left < end_column
    ]
    candidates.sort(key=lambda box: (-box.score, box.left - box.right, box.top))
    settled: list[Rectangle] = []
    for box in candidates:
        if all(
            (box.left, box.right) == (kept.left, kept.right) or box.right <= kept.left or kept.right <= box.left
            for kept in settled
        ):
            settled.append(box)
    return settled


def _spans(axes: Axes, box: Rectangle) -> list[Span]:
    spans: list[Span] = []
    for source in axes.sources:
        first = max(box.top - source.first_row, 0)
        last = min(box.bottom - source.first_row, len(source.tokens)) - 1
        if first > last:
            continue
        if source.turn is None:
            spans.extend(Span(source.tokens, None, word, word, box.score) for word in range(first, last + 1))
        else:
            spans.append(Span(source.tokens, source.turn, first, last, box.score))
    return spans


def _without_loose_ends(places: list[Place], end_column: int) -> list[Place]:
    """Drop sentence-final punctuation within the output, and the places that consist of nothing else."""
    kept: list[Place] = []
    for place in reversed(places):
        ends_output = not kept and place.right == end_column
        spans: list[Span] = []
        for span in reversed(place.spans):
            last = span.last
            if span.turn is not None and (spans or not ends_output):
                while last >= span.first and span.tokens.words[last] in SENTENCE_END:
                    last -= 1
            if last >= span.first:
                spans.append(span._replace(last=last))
        if spans:
            kept.append(Place(place.left, place.right, tuple(spans[::-1])))
    return kept[::-1]
