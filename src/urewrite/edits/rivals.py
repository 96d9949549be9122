"""Spans that compete for one place: `the address` of which of two restaurants?

Where a network hesitates between spans of several turns, each may be likely enough to be copied, and all of them in a
row are right more seldom than the one that most speaks for.
"""

from __future__ import annotations

from collections.abc import Sequence

from urewrite.edits.grid import Axes, EditType
from urewrite.edits.regions import Rectangle


def without_rivals(axes: Axes, found: Sequence[Rectangle], least: float) -> list[Rectangle]:
    """Of the spans for one place the weightiest, and others from a score of `least` on; connection words all stay."""
    if len(found) < 2:
        return list(found)
    spans = [one for one in found if not axes.is_listed(one.top)]
    first: dict[tuple[EditType, int], Rectangle] = {}
    for one in spans:
        if one.place not in first or _weight(one) > _weight(first[one.place]):
            first[one.place] = one
    if len(first) == len(spans):
        return list(found)
    dropped = {one for one in spans if one.score < least and one != first[one.place]}
    return [one for one in found if one not in dropped]


def _weight(one: Rectangle) -> float:
    """A long span needs more that speaks for it, so of two that are equally likely it is the better guess."""
    return one.score * (one.bottom - one.top)
