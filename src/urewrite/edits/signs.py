"""Punctuation by itself: `Why was this done,` says no more than the question did.

Where a network is unsure of the words for a place, the comma or full stop beside them may be all that is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from urewrite.edits.grid import SEPARATOR, Axes
from urewrite.edits.regions import Rectangle

_SIGNS = regex.compile(r"\p{P}+")


def without_signs_alone(axes: Axes, found: Sequence[Rectangle]) -> list[Rectangle]:
    """Without the regions of a place to which nothing but punctuation would be copied."""
    saying = {one.place for one in found if not _is_signs(axes, one)}
    return [one for one in found if one.place in saying]


def _is_signs(axes: Axes, one: Rectangle) -> bool:
    for key in axes.row_keys[one.top : one.bottom]:
        if key.isalnum() or not (key == SEPARATOR or _SIGNS.fullmatch(key)):  # most words are told without the pattern
            return False
    return True
