"""Connection words that join what is copied to the utterance: `the phone number of Meghna`.

Whether such a word belongs there is a question only once something is copied to its place, but the network judges its
cell by itself, and so unsure as it is of the copy. Beside a span that is copied it therefore needs less to be taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from urewrite.edits.grid import Axes
from urewrite.edits.regions import Rectangle


def with_joining_words(
    axes: Axes, probabilities: NDArray[np.floating], chosen: Sequence[Rectangle], least: float
) -> list[Rectangle]:
    """The regions, then for each place that gets a span but no connection word the likeliest one from `least` on."""
    if not axes.lists:
        return list(chosen)
    joining: list[Rectangle] = []
    served = {one.place for one in chosen if axes.is_listed(one.top)}
    for one in chosen:
        if one.place in served:
            continue
        served.add(one.place)
        score, row = _likeliest(axes, probabilities[one.edit_type, :, one.left : one.right])
        if score >= least:
            joining.append(Rectangle(one.edit_type, row, row + 1, one.left, one.right, score))
    return [*chosen, *joining]


def _likeliest(axes: Axes, columns: NDArray[np.floating]) -> tuple[float, int]:
    """The best mean of a connection word's cells in these columns, and its row."""
    best = -1.0, -1
    for rows in axes.lists:
        cells = columns[rows.start : rows.stop].tolist()
        scores = [sum(one) / len(one) for one in cells]
        score = max(scores)
        if score > best[0]:
            best = score, rows[scores.index(score)]
    return best
