"""Words that a network wants to put into one place twice, from two turns that both hold them."""

from __future__ import annotations

from collections.abc import Sequence

from urewrite.edits.grid import SEPARATOR, Axes
from urewrite.edits.regions import Rectangle


def without_repeats(axes: Axes, found: Sequence[Rectangle]) -> list[Rectangle]:
    """Of regions for one place whose words hold those of another only the better scored one, in the given order.

    A connection word gives way to a span that brings it along, whatever their scores.
    """
    if len(found) < 2:
        return list(found)

    def words(one: Rectangle) -> tuple[str, ...]:
        return tuple(key for key in axes.row_keys[one.top : one.bottom] if key != SEPARATOR)

    kept: list[Rectangle] = []
    for one in sorted(found, key=lambda one: (axes.is_listed(one.top), -one.score)):
        mine = words(one)
        beside = [words(other) for other in kept if other.place == one.place]
        if not any(_holds(theirs, mine) or _holds(mine, theirs) for theirs in beside):
            kept.append(one)
    return [one for one in found if one in kept]


def _holds(long: tuple[str, ...], short: tuple[str, ...]) -> bool:
    size = len(short)
    return any(long[start : start + size] == short for start in range(len(long) - size + 1))
