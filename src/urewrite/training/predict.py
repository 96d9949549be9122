"""What a trained network makes of dialogues: the same path as its validation, from grid to text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from urewrite.dialogue import Dialogue
from urewrite.edits.apply import decode
from urewrite.edits.grid import lay_out
from urewrite.network.inputs import GridBatch
from urewrite.prepare import collate
from urewrite.prepare.arrays import padded
from urewrite.rewrite import Rewrite
from urewrite.training.weights import Model


def predict(
    model: Model,
    dialogues: Sequence[Dialogue],
    *,
    batch_size: int = 64,
    follow: Callable[[int], object] | None = None,
) -> list[Rewrite]:
    """The rewrite of every dialogue, in the given order, its edits scored by the probabilities of their cells.

    Dialogues of like size share a batch, so that little is computed for padding; `follow` is told after every batch
    how many were in it. The network is left in evaluation mode.
    """
    words, most_rows = model.config.connection_words, model.config.most_rows
    axes = [lay_out(dialogue, words, most_rows=most_rows) for dialogue in dialogues]
    prepared = [model.preparer.prepare(one) for one in axes]
    sizes = [(padded(columns), rows) for rows, columns in (one.shape for one in axes)]
    order = sorted(range(len(axes)), key=sizes.__getitem__)
    network = model.network.eval()
    rewrites: dict[int, Rewrite] = {}
    for start in range(0, len(order), batch_size):
        positions = order[start : start + batch_size]
        with torch.inference_mode():
            logits = network(GridBatch.of(collate([prepared[position] for position in positions])))
            probabilities = logits.softmax(1).numpy()
            grids = logits.argmax(1).to(torch.int8).numpy()
        for position, grid, likely in zip(positions, grids, probabilities, strict=True):
            rows, columns = axes[position].shape
            inside = np.ascontiguousarray(grid[:rows, :columns])
            rewrites[position] = decode(axes[position], inside, likely[:, :rows, :columns])
        if follow is not None:
            follow(len(positions))
    return [rewrites[position] for position in range(len(axes))]
