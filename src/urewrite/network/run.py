"""RUN, the rewriting U-shaped network: the three layers one after the other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from urewrite.network.context import EncoderContext, WordContext
from urewrite.network.encoding import SimilarityMap
from urewrite.network.inputs import GridBatch
from urewrite.network.segmentation import FeedForward, UShape
from urewrite.network.settings import NetworkSettings


class RUN(nn.Module):
    """From a batch of dialogues to the logits of their edit grids."""

    def __init__(self, settings: NetworkSettings, context_layer: WordContext | EncoderContext) -> None:
        super().__init__()
        self.context_layer = context_layer
        self.encoding_layer = SimilarityMap(context_layer.width, settings.similarities, settings.bottleneck)
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
        rows, columns = batch.match.shape[1:]
        row, column = torch.arange(rows, device=batch.ids.device), torch.arange(columns, device=batch.ids.device)
        rows_there = row < batch.heights.unsqueeze(1)
        columns_there = column < batch.widths.unsqueeze(1)
        states = self._padded(self.context_layer(batch), rows + columns)
        after = (batch.heights.unsqueeze(1) + column).unsqueeze(2).expand(-1, -1, states.shape[2])
        context = states[:, :rows] * rows_there.unsqueeze(2)
        utterance = states.gather(1, after) * columns_there.unsqueeze(2)
        mask = (rows_there.unsqueeze(2) & columns_there.unsqueeze(1)).unsqueeze(1).to(states.dtype)
        maps = self.encoding_layer(context, utterance, batch.match).contiguous(memory_format=torch.channels_last)
        logits: Tensor = self.segmentation_layer(maps, mask)
        return logits

    def computing_in(self, precision: torch.dtype) -> AbstractContextManager[None]:
        """For a while let an encoder compute products with fewer bits; without one nothing changes."""
        layer = self.context_layer
        return layer.computing_in(precision) if isinstance(layer, EncoderContext) else nullcontext()

    @staticmethod
    def _padded(states: Tensor, length: int) -> Tensor:
        """With enough positions behind the joint sequence for every row and column of the padded grid."""
        return nn.functional.pad(states, (0, 0, 0, length - states.shape[1]))


def word_network(settings: NetworkSettings, vocabulary: int) -> RUN:
    """RUN without a pretrained encoder, with a random start."""
    layer = WordContext(
        vocabulary,
        settings.embedding,
        settings.hidden,
        turns=settings.turns,
        lexicon=settings.lexicon,
        dropout_words=settings.dropout_words,
        dropout_in=settings.dropout_in,
        dropout_out=settings.dropout_out,
    )
    return RUN(settings, layer)
