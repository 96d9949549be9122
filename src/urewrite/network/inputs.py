"""What a network takes: the arrays of a batch as tensors."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from urewrite.prepare.arrays import GridArrays


class GridBatch(NamedTuple):
    """What `GridArrays` holds, in the same shapes."""

    ids: Tensor
    owners: Tensor | None
    heights: Tensor
    widths: Tensor
    match: Tensor
    terms: Tensor | None = None

    @classmethod
    def of(cls, arrays: GridArrays) -> GridBatch:
        """Tensors that share the memory of the arrays."""
        return cls(
            torch.from_numpy(arrays.ids),
            None if arrays.owners is None else torch.from_numpy(arrays.owners),
            torch.from_numpy(arrays.heights),
            torch.from_numpy(arrays.widths),
            torch.from_numpy(arrays.match),
            None if arrays.terms is None else torch.from_numpy(arrays.terms),
        )
