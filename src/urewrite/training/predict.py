"""A network in training as the middle of the path prepare, run, decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Probabilities, decode_probabilities
from urewrite.network.inputs import GridBatch
from urewrite.pipeline import Judged, Pipeline, judge_dialogues
from urewrite.prepare import GridArrays
from urewrite.rewrite import Rewrite
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


def predict(
    model: Model, dialogues: Sequence[Dialogue], *, batch_size: int = 64, follow: Follow | None = None
) -> list[Rewrite]:
    """The rewrite of every dialogue, in the given order; `follow` is told how many more are done."""
    thresholds = model.config.thresholds
    found = probabilities_of(model, dialogues, batch_size=batch_size, follow=follow)
    return [decode_probabilities(axes, likely, thresholds) for axes, likely in found]


def probabilities_of(
    model: Model, dialogues: Sequence[Dialogue], *, batch_size: int = 64, follow: Follow | None = None
) -> list[Judged]:
    """The axes of every dialogue and the probabilities of its cells."""
    return judge_dialogues(pipeline_of(model), dialogues, batch_size=batch_size, follow=follow)
