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
    lists = [
        (source.first_row, source.first_row + len(source.tokens)) for source in axes.sources if source.turn is None
    ]
    if not lists or not chosen:
        return list(chosen)
    joining: list[Rectangle] = []
    served = {(one.edit_type, one.left) for one in chosen if axes.is_listed(one.top)}
    for one in chosen:
        if (one.edit_type, one.left) in served:
            continue
        served.add((one.edit_type, one.left))
        likely = probabilities[one.edit_type, :, one.left : one.right].mean(1)
        row = max((first + int(likely[first:last].argmax()) for first, last in lists), key=lambda row: likely[row])
        if likely[row] >= least:
            joining.append(Rectangle(one.edit_type, row, row + 1, one.left, one.right, float(likely[row])))
    return sorted([*chosen, *joining], key=lambda one: (one.top, one.left))
