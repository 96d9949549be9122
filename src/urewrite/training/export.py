"""A trained network as a graph for ONNX Runtime, whole or with 8-bit weights."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from urewrite import bundle
from urewrite.bundle import write_checksums, write_model
from urewrite.dialogue import Dialogue
from urewrite.errors import TrainingError
from urewrite.files import atomic_writer, replacing
from urewrite.network.inputs import GridBatch
from urewrite.network.run import RUN
from urewrite.pipeline import Pipeline, judge_dialogues
from urewrite.prepare import collate
from urewrite.session import OUTPUT, GraphRun
from urewrite.training.eight_bits import write_small_graph
from urewrite.training.graph_weights import note_weights
from urewrite.training.predict import pipeline_of
from urewrite.training.report import card_to_hand_on
from urewrite.training.weights import Model, write_weights

_OPSET = 17
_CLOSE = 1e-4
_TRIED = (
    Dialogue.of(["How is the weather in Beijing today?", "Beijing is cloudy today."], "Why is it always like this?"),
    Dialogue.of(["北京今天天气怎么样"], "为什么总是这样"),
    Dialogue.of(["a", "b c d e f g h i j k l m n o p q r s t u v w x y z"], "Why?"),
)
"""Dialogues of unlike sizes, on which a graph must agree with its network."""


class _Probabilities(nn.Module):
    """A network with its inputs one by one and its output as probabilities, as a graph has them."""

    def __init__(self, network: RUN, names: tuple[str, ...]) -> None:
        super().__init__()
        self.network = network
        self.names = names

    def forward(self, *given: Tensor) -> Tensor:
        named: dict[str, Any] = dict.fromkeys(GridBatch._fields)
        named.update(zip(self.names, given, strict=True))
        found: Tensor = self.network(GridBatch(**named)).softmax(1)
        return found


def write_graph(model: Model, path: Path) -> None:
    """Write the graph of a network, and check that it computes the same."""
    network = model.network.eval()
    pipeline = pipeline_of(model)
    batch = GridBatch.of(collate([model.preparer.prepare(pipeline.lay_out(dialogue)) for dialogue in _TRIED]))
    names = tuple(name for name in GridBatch._fields if getattr(batch, name) is not None)
    axes = {
        "ids": {0: "batch", 1: "length"},
        "owners": {0: "batch", 1: "length"},
        "heights": {0: "batch"},
        "widths": {0: "batch"},
        "match": {0: "batch", 1: "rows", 2: "columns"},
        "terms": {0: "batch", 1: "length"},
        OUTPUT: {0: "batch", 2: "rows", 3: "columns"},
    }
    with replacing(path) as temporary:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # on what tracing may miss: that is checked below
            torch.onnx.export(
                _Probabilities(network, names).eval(),
                tuple(getattr(batch, name) for name in names),
                str(temporary),
                input_names=list(names),
                output_names=[OUTPUT],
                dynamic_axes={name: axes[name] for name in (*names, OUTPUT)},
                opset_version=_OPSET,
                dynamo=False,
            )
        _check(pipeline, replace(pipeline, run=GraphRun(temporary)))


def export(model: Model, folder: Path, *, eight_bit: bool, name: str | None = None, card: Path | None = None) -> None:
    """A folder to hand on: the graph, what is needed to run it and to go on training, the card, and checksums.

    Weights that the graph holds are not written a second time; see `graph_weights`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    config = model.config if name is None else replace(model.config, name=name)
    for other in (bundle.VOCABULARY, bundle.LEXICON, bundle.TOKENIZER):  # of another model that was here before
        (folder / other).unlink(missing_ok=True)
    write_model(folder, config, model.preparer)
    weights = model.network.state_dict()
    with tempfile.TemporaryDirectory() as temporary:
        whole = Path(temporary) / bundle.GRAPH
        write_graph(model, whole)
        noted = note_weights(whole, weights)
        if eight_bit:
            write_small_graph(whole, folder / bundle.GRAPH)
        else:
            with replacing(folder / bundle.GRAPH) as written:
                shutil.copyfile(whole, written)
    write_weights(folder / bundle.WEIGHTS, {key: tensor for key, tensor in weights.items() if key not in noted})
    if card is not None and card.is_file():
        with atomic_writer(folder / bundle.CARD) as stream:
            stream.write(card_to_hand_on(card.read_text(encoding="utf-8")))
    write_checksums(folder)


def _check(network: Pipeline, graph: Pipeline) -> None:
    for size in (1, len(_TRIED)):
        expected, found = (judge_dialogues(one, _TRIED, batch_size=size) for one in (network, graph))
        for first, second in zip(expected, found, strict=True):
            apart = float(np.abs(first.probabilities - second.probabilities).max())
            if not apart < _CLOSE:
                raise TrainingError(f"the exported graph computes something else: probabilities differ by {apart:.2g}")
