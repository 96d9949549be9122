"""Networks and batches for tests."""

from __future__ import annotations

import numpy as np
import torch

from urewrite.dialogue import Dialogue
from urewrite.edits.grid import Axes, lay_out
from urewrite.network.context import WordContext
from urewrite.network.inputs import GridBatch
from urewrite.network.run import RUN
from urewrite.network.segmentation import MaskedNormReLU
from urewrite.prepare import Lexicon, Preparer, collate
from urewrite.prepare.arrays import NOWHERE, PADDING

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LEXICON = Lexicon(
    [*LETTERS, *(f"{a}{b}" for a in LETTERS for b in LETTERS), *(f"{a}{b}c" for a in "aeiou" for b in LETTERS)]
)
SMALL = {"embedding": 12, "hidden": 8, "width": 8, "bottleneck": 8}
WITHOUT_WORDS = "\u200b"


def letters_dialogue(rows: int, columns: int, seed: int) -> Axes:
    """A dialogue of random letters whose grid has just this size."""
    chance = np.random.default_rng(seed)
    history, utterance = (" ".join(chance.choice(list(LETTERS), size)) for size in (rows, columns - 1))
    axes = lay_out(Dialogue.of([history], utterance or WITHOUT_WORDS))
    assert axes.shape == (rows, columns)
    return axes


def batch_of(preparer: Preparer, *dialogues: Axes) -> GridBatch:
    return GridBatch.of(collate([preparer.prepare(axes) for axes in dialogues]))


def padded_to(batch: GridBatch, rows: int, columns: int, more: int = 0) -> GridBatch:
    """The same batch with more padding: a grid of this size, a joint sequence of so many more positions."""
    amount, *shape = batch.match.shape
    assert shape[0] <= rows
    assert shape[1] <= columns
    match = torch.zeros(amount, rows, columns)
    match[:, : shape[0], : shape[1]] = batch.match
    pad = torch.nn.functional.pad
    owners = None if batch.owners is None else pad(batch.owners, (0, more), value=NOWHERE)
    terms = None if batch.terms is None else pad(batch.terms, (0, 0, 0, more))
    return GridBatch(pad(batch.ids, (0, more), value=PADDING), owners, batch.heights, batch.widths, match, terms)


def training_step(network: RUN, batch: GridBatch) -> tuple[dict[str, torch.Tensor], ...]:
    """Loss, gradients and running statistics of a step, in double precision."""
    network.double()
    logits = network(batch._replace(match=batch.match.double()))
    labels = torch.full((len(logits), *logits.shape[2:]), -1)
    for example, (rows, columns) in enumerate(zip(batch.heights, batch.widths, strict=True)):
        labels[example, :rows, :columns] = example % logits.shape[1]
    loss = torch.nn.functional.cross_entropy(logits, labels, ignore_index=-1)
    loss.backward()
    gradients = {name: found.grad for name, found in network.named_parameters() if found.grad is not None}
    return {"loss": loss.detach()}, gradients, dict(network.named_buffers())


def settled(network: RUN) -> RUN:
    """With embedding and statistics as after training, so that every word makes a difference to the logits."""
    with torch.no_grad():
        if isinstance(network.context_layer, WordContext):
            network.context_layer.embedding.weight[1:].normal_()
            if network.context_layer.terms is not None:
                network.context_layer.terms.vectors[1:].normal_()
        for module in network.modules():
            if isinstance(module, MaskedNormReLU):
                module.mean.uniform_(-0.5, 0.5)
                module.variance.uniform_(0.1, 0.4)
                module.bias.uniform_(-0.5, 0.5)
    return network
