"""How often a model is right where it is as certain as it says: the table behind `confidence`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STEP = 40
"""Examples a step of the table stands on; fewer would be chance."""


def calibrate(certain: Sequence[float], right: Sequence[bool]) -> tuple[tuple[float, float], ...]:
    """Points (certainty, share that is right), both rising, between which one interpolates.

    Isotonic regression over steps of like certainty: neighbours in the wrong order are pooled until none is left.
    """
    order = np.argsort(np.asarray(certain), kind="stable")
    pools: list[tuple[float, float, int]] = []  # mean certainty, share that is right, amount
    for chunk in np.array_split(order, max(1, len(order) // STEP)):
        pool = (
            float(np.mean([certain[one] for one in chunk])),
            float(np.mean([right[one] for one in chunk])),
            len(chunk),
        )
        while pools and pools[-1][1] >= pool[1]:
            pool = _pooled(pools.pop(), pool)
        pools.append(pool)
    return tuple((round(sure, 4), round(share, 4)) for sure, share, _ in pools)


def _pooled(first: tuple[float, float, int], second: tuple[float, float, int]) -> tuple[float, float, int]:
    amount = first[2] + second[2]
    sure, share = ((first[part] * first[2] + second[part] * second[2]) / amount for part in (0, 1))
    return sure, share, amount
