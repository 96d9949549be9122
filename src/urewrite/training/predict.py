"""What a trained network makes of dialogues: prepare, run, decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Probabilities, decode_probabilities
from urewrite.edits.grid import Axes, lay_out
from urewrite.network.inputs import GridBatch
from urewrite.prepare import by_size, collate
from urewrite.rewrite import Rewrite
from urewrite.training.weights import Model

Follow = Callable[[int], object]


def predict(
    model: Model, dialogues: Sequence[Dialogue], *, batch_size: int = 64, follow: Follow | None = None
) -> list[Rewrite]:
    """The rewrite of every dialogue, in the given order; `follow` is told after every batch how many were in it."""
    thresholds = model.config.thresholds
    found = probabilities_of(model, dialogues, batch_size=batch_size, follow=follow)
    return [decode_probabilities(axes, likely, thresholds) for axes, likely in found]


def probabilities_of(
    model: Model, dialogues: Sequence[Dialogue], *, batch_size: int = 64, follow: Follow | None = None
) -> list[tuple[Axes, Probabilities]]:
    """The axes of every dialogue and the probabilities of its cells. The network is left in evaluation mode.

    Dialogues of like size share a batch, so that little is computed for padding.
    """
    words, most_rows = model.config.connection_words, model.config.most_rows
    axes = [lay_out(dialogue, words, most_rows=most_rows) for dialogue in dialogues]
    prepared = [model.preparer.prepare(one) for one in axes]
    order = by_size([one.shape for one in axes])
    network = model.network.eval()
    found: dict[int, Probabilities] = {}
    for start in range(0, len(order), batch_size):
        positions = order[start : start + batch_size]
        with torch.inference_mode():
            batch = GridBatch.of(collate([prepared[position] for position in positions]))
            probabilities = network(batch).softmax(1).numpy()
        for position, likely in zip(positions, probabilities, strict=True):
            rows, columns = axes[position].shape
            found[position] = likely[:, :rows, :columns].copy()
        if follow is not None:
            follow(len(positions))
    return [(axes[position], found[position]) for position in range(len(axes))]
