"""RUN, the rewriting U-shaped network: the three layers one after the other."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from urewrite.network.context import BiLSTMContext
from urewrite.network.encoding import SimilarityMap
from urewrite.network.segmentation import FeedForward, UShape
from urewrite.network.settings import NetworkSettings


class GridBatch(NamedTuple):
    """Dialogues of a batch: word ids of context (batch, rows) and utterance (batch, columns), 0 where there is none."""

    context: Tensor
    utterance: Tensor


class RUN(nn.Module):
    """From word ids to the logits of the edit grid."""

    def __init__(self, settings: NetworkSettings, vocabulary: int) -> None:
        super().__init__()
        self.context_layer = BiLSTMContext(
            vocabulary,
            settings.embedding,
            settings.hidden,
            dropout_in=settings.dropout_in,
            dropout_out=settings.dropout_out,
        )
        self.encoding_layer = SimilarityMap(self.context_layer.width, settings.similarities, settings.bottleneck)
        channels = self.encoding_layer.channels
        self.segmentation_layer: UShape | FeedForward
        if settings.segmentation == "u-shape":
            self.segmentation_layer = UShape(
                channels, settings.width, upsampling=settings.upsampling, doubling=settings.doubling
            )
        else:
            self.segmentation_layer = FeedForward(channels, settings.width)
        self.segmentation_layer.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, batch: GridBatch) -> Tensor:
        """Logits of shape (batch, edit types, rows, columns); cells outside an example mean nothing."""
        context, utterance = batch
        rows_there, columns_there = context > 0, utterance > 0
        states = self._joint_states(context, utterance, rows_there, columns_there)
        mask = (rows_there.unsqueeze(2) & columns_there.unsqueeze(1)).unsqueeze(1).to(states[0].dtype)
        match = (context.unsqueeze(2) == utterance.unsqueeze(1)).to(states[0].dtype)
        maps = self.encoding_layer(*states, match).contiguous(memory_format=torch.channels_last)
        logits: Tensor = self.segmentation_layer(maps, mask)
        return logits

    def _joint_states(
        self, context: Tensor, utterance: Tensor, rows_there: Tensor, columns_there: Tensor
    ) -> tuple[Tensor, Tensor]:
        """States of context and utterance words, encoded as one sequence without a gap between the two."""
        batch, rows = context.shape
        columns = utterance.shape[1]
        heights, widths = rows_there.sum(1), columns_there.sum(1)
        joint = context.new_zeros(batch, rows + columns)
        joint[:, :rows] = context
        after = heights.unsqueeze(1) + torch.arange(columns, device=context.device)  # where utterance words go
        joint.scatter_add_(1, after, utterance)
        states = self.context_layer(joint, heights + widths)
        gathered = states.gather(1, after.unsqueeze(2).expand(-1, -1, states.shape[2]))
        return (
            states[:, :rows] * rows_there.unsqueeze(2),
            gathered * columns_there.unsqueeze(2),
        )
