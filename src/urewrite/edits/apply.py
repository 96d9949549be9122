"""From rectangles to edits to text (section 4.2, second stage), on the characters of the original texts.

All offsets are those of the utterance as given, so no edit shifts another: the same as applying them right to left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from urewrite.dialogue import Dialogue
from urewrite.edits.grid import Axes, Grid
from urewrite.edits.places import Place, places_of
from urewrite.edits.regions import Rectangle, find_rectangles
from urewrite.edits.spacing import Edge, has_gap, hugs, melts, written_apart
from urewrite.errors import BadInputError
from urewrite.rewrite import Edit, Origin, Piece, Rewrite
from urewrite.tokens import Tokens


def decode(axes: Axes, grid: Grid, probabilities: NDArray[np.floating] | None = None) -> Rewrite:
    """The rewrite that a grid stands for; with `probabilities` (edit types, rows, columns) edits carry scores."""
    return apply_edits(axes.dialogue, edits_of(axes, find_rectangles(grid, probabilities)))


def edits_of(axes: Axes, rectangles: Sequence[Rectangle]) -> tuple[Edit, ...]:
    """The edits of a set of rectangles, in the order of the output."""
    if not rectangles:
        return ()
    places = places_of(axes, rectangles)
    edits: list[Edit] = []
    for index, place in enumerate(places):
        before = places[index - 1] if index and places[index - 1].right == place.left else None
        after = places[index + 1] if index + 1 < len(places) and places[index + 1].left == place.right else None
        edits.extend(_edits_at(axes.utterance, place, before, after))
    return tuple(edits)


def apply_edits(dialogue: Dialogue, edits: Sequence[Edit]) -> Rewrite:
    """Put edits into the utterance; without edits, or if nothing would be left, the text is the utterance itself."""
    utterance = dialogue.utterance
    texts: list[str] = []
    pieces: list[Piece] = []
    position = 0

    def emit(text: str, origin: Origin, start: int | None = None, turn: int | None = None) -> None:
        nonlocal position
        if text:
            end = None if start is None else start + len(text)
            pieces.append(Piece(position, position + len(text), origin, start, end, turn))
            texts.append(text)
            position += len(text)

    cursor = 0
    previous: tuple[int, int] | None = None
    for edit in edits:
        if previous != (edit.start, edit.end) and not cursor <= edit.start <= edit.end <= len(utterance):
            raise BadInputError(f"an edit at {edit.start}..{edit.end} overlaps another or leaves the utterance")
        emit(utterance[cursor : edit.start], Origin.UTTERANCE, cursor)
        emit(edit.before, Origin.SEPARATOR)
        if edit.source_turn is None:
            emit(edit.text, Origin.CONNECTION, edit.source_start)
        else:
            emit(edit.text, Origin.HISTORY, edit.source_start, edit.source_turn)
        emit(edit.after, Origin.SEPARATOR)
        cursor = edit.end
        previous = (edit.start, edit.end)
    emit(utterance[cursor:], Origin.UTTERANCE, cursor)
    text = "".join(texts)
    if not text.strip():
        return apply_edits(dialogue, ())
    return Rewrite(text, utterance, tuple(edits), tuple(pieces))


def _edits_at(utterance: Tokens, place: Place, before: Place | None, after: Place | None) -> list[Edit]:
    """The edits of one place with the blanks it needs; `before` and `after` are places that touch it.

    Where the utterance has a blank, that blank serves; between two touching places the left one brings it. Where the
    utterance has none, what is substituted has none either, unless words would melt.
    """
    first, last = place.spans[0].first_edge, place.spans[-1].last_edge
    gap_before = gap_after = False
    if place.is_insertion:
        leans_left = _leans_left(utterance, place, after)
        if leans_left:
            start = end = utterance.ends[place.left - 1]
        else:  # an utterance may be without words
            start = end = utterance.starts[place.left] if len(utterance) else len(utterance.text)
        if has_gap(utterance, place.left):
            gap_before, gap_after = not leans_left, leans_left
    else:
        start, end = utterance.starts[place.left], utterance.ends[place.right - 1]
        if has_gap(utterance, place.left):
            gap_before = before is None or not before.is_insertion or _leans_left(utterance, before, place)
        if has_gap(utterance, place.right):
            gap_after = after is None or not after.is_insertion or not _leans_left(utterance, after, None)
        if gap_before and hugs(utterance.words[place.left - 1], first.word):
            start = utterance.ends[place.left - 1]
    blank_before = blank_after = False
    if before is None and place.left and not gap_before:
        blank_before = _blank(Edge(utterance, place.left - 1), first, touching=not place.is_insertion)
    following = _edge_after(utterance, place, after)
    if following is not None and not gap_after:
        blank_after = _blank(last, following, touching=not place.is_insertion and after is None)
    op: Literal["insert", "substitute"] = "insert" if place.is_insertion else "substitute"
    edits: list[Edit] = []
    for index, span in enumerate(place.spans):
        source_start, source_end = span.tokens.starts[span.first], span.tokens.ends[span.last]
        text = span.tokens.text[source_start:source_end]
        if span.turn is None:
            source_start, source_end = 0, len(text)
        blank = blank_after
        if index + 1 < len(place.spans):
            blank = written_apart(span.last_edge, place.spans[index + 1].first_edge)
        edits.append(
            Edit(
                op,
                start,
                end,
                text,
                span.turn,
                source_start,
                source_end,
                " " if blank_before and index == 0 else "",
                " " if blank else "",
                span.score,
            )
        )
    return edits


def _blank(left: Edge, right: Edge, *, touching: bool) -> bool:
    """Whether to bring a blank; words that touched what was there before still do, unless they would melt."""
    return written_apart(left, right) and (not touching or melts(left.word, right.word))


def _leans_left(utterance: Tokens, place: Place, after: Place | None) -> bool:
    """Whether an insertion goes to the end of the word before it, leaving the utterance's blank behind it.

    So `Kobe email` takes `'s` as `Kobe's email`, and `Who is he ?` takes `today` as `Who is he today ?`.
    """
    if place.left == 0:
        return False
    if not has_gap(utterance, place.left) or hugs(utterance.words[place.left - 1], place.spans[0].first_edge.word):
        return True
    following = _edge_after(utterance, place, after)
    return following is not None and hugs(place.spans[-1].last_edge.word, following.word)


def _edge_after(utterance: Tokens, place: Place, after: Place | None) -> Edge | None:
    """The word that follows a place in the output, if any does."""
    if after is not None:
        return after.spans[0].first_edge
    return Edge(utterance, place.right) if place.right < len(utterance) else None
