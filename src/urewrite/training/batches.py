"""Examples to tensors: tight batches of dialogues of like size, the same order for the same seed and epoch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from urewrite.edits.grid import Axes, Grid
from urewrite.network.run import GridBatch
from urewrite.network.segmentation import MULTIPLE
from urewrite.training.vocabulary import Vocabulary

OUTSIDE = -1
"""The label of cells that belong to no example."""


class Prepared(NamedTuple):
    """One dialogue as word ids, with its gold grid where there is one."""

    context: list[int]
    utterance: list[int]
    grid: Grid


class LabelledBatch(NamedTuple):
    """A batch of grids with their labels (batch, rows, columns), and which examples they are."""

    inputs: GridBatch
    labels: Tensor
    positions: tuple[int, ...]


def prepare(axes: Axes, grid: Grid, vocabulary: Vocabulary) -> Prepared:
    """The ids of a dialogue's rows and columns."""
    return Prepared(vocabulary.ids(axes.row_keys), vocabulary.ids(axes.column_keys), grid)


def collate(items: Sequence[Prepared], positions: Sequence[int]) -> LabelledBatch:
    """Pad to the largest of the batch, and from there to what the U-shape can halve twice."""
    rows = _padded(max(len(item.context) for item in items))
    columns = _padded(max(len(item.utterance) for item in items))
    context = np.zeros((len(items), rows), dtype=np.int64)
    utterance = np.zeros((len(items), columns), dtype=np.int64)
    labels = np.full((len(items), rows, columns), OUTSIDE, dtype=np.int64)
    for index, item in enumerate(items):
        height, width = len(item.context), len(item.utterance)
        context[index, :height] = item.context
        utterance[index, :width] = item.utterance
        labels[index, :height, :width] = item.grid
    return LabelledBatch(
        GridBatch(torch.from_numpy(context), torch.from_numpy(utterance)), torch.from_numpy(labels), tuple(positions)
    )


def _padded(size: int) -> int:
    return max(MULTIPLE, -(-size // MULTIPLE) * MULTIPLE)


class BucketedBatches:
    """Batches of like sizes for a trainer that takes one step per batch.

    Order and place follow from the seed and the number of steps taken (`steps`): so a resumed training gets just the
    batches that the interrupted one would have got. Without `steps` every pass is the same, in order of size.
    """

    def __init__(
        self, items: Sequence[Prepared], batch_size: int, *, seed: int = 0, steps: Callable[[], int] | None = None
    ) -> None:
        self.items = items
        self.batch_size = batch_size
        self.seed = seed
        self.steps = steps

    def __len__(self) -> int:
        return -(-len(self.items) // self.batch_size)

    def __iter__(self) -> Iterator[LabelledBatch]:
        epoch, done = divmod(self.steps(), len(self)) if self.steps else (None, 0)
        for positions in self.order(epoch)[done:]:
            yield collate([self.items[position] for position in positions], positions)

    def order(self, epoch: int | None) -> list[list[int]]:
        """The examples of each batch of an epoch; None stands for the unshuffled order."""
        chance = random.Random(f"{self.seed}/{epoch}")
        # Columns as padded, then rows: these are blurred a little, so that an epoch does not meet the same neighbours.
        blur = 0.0 if epoch is None else 0.05
        sizes = [
            (_padded(len(item.utterance)), len(item.context) * (1 + blur * chance.uniform(-1, 1)))
            for item in self.items
        ]
        order = sorted(range(len(self.items)), key=sizes.__getitem__)
        batches = [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        if epoch is not None:
            chance.shuffle(batches)
        return batches
