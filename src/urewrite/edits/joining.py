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
    """The regions, and for each place that gets a span but no connection word the likeliest one from `least` on.

    Regions stay in the order of their first cells.
    """
    lists = axes.lists
    if not lists or not chosen:
        return list(chosen)
    joining: list[Rectangle] = []
    served = {(one.edit_type, one.left) for one in chosen if any(one.top in rows for rows in lists)}
    for one in chosen:
        if (one.edit_type, one.left) in served:
            continue
        served.add((one.edit_type, one.left))
        columns = probabilities[one.edit_type, :, one.left : one.right]
        score, row = max(
            (sum(cells) / len(cells), row)
            for rows in lists
            for row, cells in zip(rows, columns[rows.start : rows.stop].tolist(), strict=True)
        )
        if score >= least:
            joining.append(Rectangle(one.edit_type, row, row + 1, one.left, one.right, score))
    return sorted([*chosen, *joining], key=lambda one: (one.top, one.left)) if joining else list(chosen)
