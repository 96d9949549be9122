"""A network in training as the middle of the path prepare, run, decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Probabilities
from urewrite.network.inputs import GridBatch
from urewrite.pipeline import Judged, Pipeline, judge_dialogues
from urewrite.prepare import GridArrays
from urewrite.training.weights import Model

Follow = Callable[[int], object]


def pipeline_of(model: Model) -> Pipeline:
    """A model that PyTorch computes. The network is left in evaluation mode."""
    network = model.network.eval()

    def run(arrays: GridArrays) -> Probabilities:
        with torch.inference_mode():
            found: Probabilities = network(GridBatch.of(arrays)).softmax(1).numpy()
        return found

    return Pipeline(model.config, model.preparer, run)


def probabilities_of(
    model: Model, dialogues: Sequence[Dialogue], *, batch_size: int = 64, follow: Follow | None = None
) -> list[Judged]:
    """The axes of every dialogue and the probabilities of its cells."""
    return judge_dialogues(pipeline_of(model), dialogues, batch_size=batch_size, follow=follow)
