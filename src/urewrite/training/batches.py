"""Tight batches of dialogues of like size, the same order for the same seed and epoch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from urewrite.edits.choose import Probabilities
from urewrite.edits.grid import EditType, Grid
from urewrite.network.inputs import GridBatch
from urewrite.prepare import Prepared, by_size, collate

OUTSIDE = -1
"""The label of cells that belong to no example."""


class Labelled(NamedTuple):
    """One dialogue as numbers, with its gold grid, and what a teacher makes of it if there is one."""

    prepared: Prepared
    grid: Grid
    taught: Probabilities | None = None


class LabelledBatch(NamedTuple):
    """A batch with its labels (batch, rows, columns), and which examples they are.

    `taught` are the probabilities of a teacher (batch, edit types, rows, columns), zero outside an example.
    """

    inputs: GridBatch
    labels: Tensor
    positions: tuple[int, ...]
    taught: Tensor | None = None


class Share(NamedTuple):
    """Which of several processes this one is; each takes every `processes`-th example or batch."""

    process: int = 0
    processes: int = 1


def labelled_batch(items: Sequence[Labelled], positions: Sequence[int]) -> LabelledBatch:
    """The tensors of a batch."""
    arrays = collate([item.prepared for item in items])
    labels = np.full(arrays.match.shape, OUTSIDE, dtype=np.int64)
    for index, item in enumerate(items):
        rows, columns = item.grid.shape
        labels[index, :rows, :columns] = item.grid
    return LabelledBatch(
        GridBatch.of(arrays), torch.from_numpy(labels), tuple(positions), _taught(items, arrays.match.shape[1:])
    )


def _taught(items: Sequence[Labelled], size: tuple[int, ...]) -> Tensor | None:
    if items[0].taught is None:
        return None
    taught = np.zeros((len(items), len(EditType), *size), dtype=np.float32)
    for index, item in enumerate(items):
        if item.taught is not None:
            rows, columns = item.grid.shape
            taught[index, :, :rows, :columns] = item.taught
    return torch.from_numpy(taught)


class BucketedBatches:
    """Batches of like sizes for a trainer that takes one step per batch.

    Order and place follow from the seed and the number of steps taken (`steps`): so a resumed training gets just the
    batches that the interrupted one would have got. Several processes share every batch between them, so that a step
    sees the same examples however many there are.
    """

    def __init__(
        self,
        items: Sequence[Labelled],
        batch_size: int,
        *,
        seed: int,
        steps: Callable[[], int],
        share: Callable[[], Share] = Share,
    ) -> None:
        self.items = items
        self.batch_size = batch_size
        self.seed = seed
        self.steps = steps
        self.share = share

    def __len__(self) -> int:
        return -(-len(self.items) // self.batch_size)

    def __iter__(self) -> Iterator[LabelledBatch]:
        epoch, done = divmod(self.steps(), len(self))
        process, processes = self.share()
        for batch in self.order(epoch)[done:]:
            # A last batch may hold fewer examples than there are processes: then some take one twice.
            positions = batch[process::processes] or batch[-1:]
            yield labelled_batch([self.items[position] for position in positions], positions)

    def order(self, epoch: int) -> list[list[int]]:
        """The examples of each batch of an epoch."""
        chance = random.Random(f"{self.seed}/{epoch}")
        # Rows are blurred a little, so that an example does not meet the same neighbours in every epoch.
        order = by_size(
            [item.grid.shape for item in self.items], lambda rows: rows * (1 + 0.05 * chance.uniform(-1, 1))
        )
        batches = [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        chance.shuffle(batches)
        return batches


class OrderedBatches:
    """Every example, in order of size, the batches dealt out among the processes.

    Each process gets as many batches, so that none waits for another in vain: the last may go to several.
    """

    def __init__(self, items: Sequence[Labelled], batch_size: int, *, share: Callable[[], Share] = Share) -> None:
        self.items = items
        self.batch_size = batch_size
        self.share = share

    def __len__(self) -> int:
        return -(-self._batches() // self.share().processes)

    def __iter__(self) -> Iterator[LabelledBatch]:
        order = by_size([item.grid.shape for item in self.items])
        process, processes = self.share()
        for turn in range(len(self)):
            number = min(turn * processes + process, self._batches() - 1)
            positions = order[number * self.batch_size : (number + 1) * self.batch_size]
            yield labelled_batch([self.items[position] for position in positions], positions)

    def _batches(self) -> int:
        return -(-len(self.items) // self.batch_size)
