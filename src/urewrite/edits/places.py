"""From rectangles to places: which columns give way to which spans of the context.

Decisions, where the paper is silent:

* A rectangle that copies nothing (only `[S]`, or nothing but punctuation that would be dropped) is as if it were not
  there.
* A rectangle across `[S]` gives one span per turn; over connection words one span per word.
* Of substitutions whose ranges overlap without being equal the better scored one stays (then the wider, then the
  upper one).
* Spans for one place follow one another in row order, that is in the order of the dialogue.
* An insertion stands before a substitution that begins at its column; inside a substituted range it moves to its start.
  Of an insertion wider than one column the left edge counts.
* Sentence-final punctuation at the end of a copied span is dropped unless the span ends the whole output.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from urewrite.edits.grid import Axes, EditType
from urewrite.edits.regions import Rectangle
from urewrite.edits.spacing import Edge
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
    def first_edge(self) -> Edge:
        """The word that meets what stands before the span."""
        return Edge(self.tokens, self.first, self.turn is None)

    @property
    def last_edge(self) -> Edge:
        """The word that meets what stands after the span."""
        return Edge(self.tokens, self.last, self.turn is None)


class Place(NamedTuple):
    """Columns [left, right) that give way to spans; left = right is an insertion before column `left`."""

    left: int
    right: int
    spans: tuple[Span, ...]

    @property
    def is_insertion(self) -> bool:
        """Whether nothing of the utterance is replaced."""
        return self.left == self.right


_Copy = tuple[int, int, int, tuple[Span, ...]]
"""The columns [left, right) that give way, the first row of what is copied there, and its spans, at least one."""


def places_of(axes: Axes, rectangles: Sequence[Rectangle]) -> list[Place]:
    """Places that do not overlap, in the order of the output, each with at least one span."""
    end_column = len(axes.column_keys) - 1
    substitutions: list[tuple[Rectangle, tuple[Span, ...]]] = []
    insertions: list[tuple[Rectangle, tuple[Span, ...]]] = []
    for box in rectangles:
        spans = _spans(axes, box)
        if not all(map(_dropped, spans)) or _may_end_output(box, end_column):
            (substitutions if box.edit_type is EditType.SUBSTITUTE else insertions).append((box, spans))
    settled = _settled_substitutions(substitutions, end_column)
    for box, spans in insertions:
        column = next((left for left, right, _, _ in settled if left < box.left < right), box.left)
        settled.append((column, column, box.top, spans))
    if len(settled) == 1:  # the commonest
        ((left, right, _, spans),) = settled
        return _without_loose_ends([Place(left, right, spans)], end_column)
    settled.sort(key=itemgetter(0, 1, 2))
    places = [
        Place(left, right, tuple([span for *_, spans in group for span in spans]))
        for (left, right), group in groupby(settled, key=itemgetter(0, 1))
    ]
    return _without_loose_ends(places, end_column)


def _settled_substitutions(found: list[tuple[Rectangle, tuple[Span, ...]]], end_column: int) -> list[_Copy]:
    """Substitutions whose column ranges are equal or apart; `[E]` is no word, so no range includes it."""
    ranked = [
        (-box.score, box.left - min(box.right, end_column), box.top, number)
        for number, (box, _) in enumerate(found)
        if box.left < end_column
    ]
    settled: list[_Copy] = []
    for *_, number in sorted(ranked):
        box, spans = found[number]
        left, right = box.left, min(box.right, end_column)
        if all((left, right) == kept[:2] or right <= kept[0] or kept[1] <= left for kept in settled):
            settled.append((left, right, box.top, spans))
    return settled


def _spans(axes: Axes, box: Rectangle) -> tuple[Span, ...]:
    spans: list[Span] = []
    for source in axes.sources:
        above, size = source.first_row, len(source.tokens.words)
        if above + size <= box.top:
            continue
        if above >= box.bottom:
            break
        first, last = max(box.top - above, 0), min(box.bottom - above, size) - 1
        if source.turn is None:
            spans.extend(Span(source.tokens, None, word, word, box.score) for word in range(first, last + 1))
        else:
            spans.append(Span(source.tokens, source.turn, first, last, box.score))
    return tuple(spans)


def _dropped(span: Span) -> bool:
    """Whether nothing is left of a span inside the output."""
    return span.turn is not None and all(word in SENTENCE_END for word in span.tokens.words[span.first : span.last + 1])


def _may_end_output(box: Rectangle, end_column: int) -> bool:
    return (box.left if box.edit_type is EditType.INSERT else min(box.right, end_column)) == end_column


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
                spans.append(span if last == span.last else span._replace(last=last))
        if spans:
            kept.append(Place(place.left, place.right, tuple(spans[::-1])))
    return kept[::-1]
