"""The encoding layer: how each utterance word relates to each context word, as a map of similarities."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from urewrite.network.settings import Similarity


class SimilarityMap(nn.Module):
    """Selected similarities of context states u and utterance states h, one channel each, element-wise one per feature.

    The paper's are `elementwise`, `cosine` and `bilinear`; its authors' code also used `dot` and `linear`. `match` says
    whether the two words are the same. With a `bottleneck` all channels are at once projected to that many: the
    element-wise ones are then never written out, which is most of the memory of the wide map.
    """

    def __init__(self, width: int, similarities: Sequence[Similarity], bottleneck: int | None) -> None:
        super().__init__()
        self.similarities = tuple(similarities)
        self.bilinear = nn.Linear(width, width, bias=False) if "bilinear" in similarities else None
        self.linear_context = nn.Linear(width, 1) if "linear" in similarities else None
        self.linear_utterance = nn.Linear(width, 1, bias=False) if "linear" in similarities else None
        single = len([name for name in similarities if name != "elementwise"])
        channels = single + (width if "elementwise" in similarities else 0)
        self.channels = bottleneck or channels
        self.project_features: nn.Parameter | None = None
        self.project_single: nn.Conv2d | None = None
        if bottleneck:
            bound = channels**-0.5
            if "elementwise" in similarities:
                self.project_features = nn.Parameter(torch.empty(bottleneck, width).uniform_(-bound, bound))
            self.project_single = nn.Conv2d(single, bottleneck, 1) if single else None

    def forward(self, context: Tensor, utterance: Tensor, match: Tensor) -> Tensor:
        """States (batch, rows, width), (batch, columns, width) and matches (batch, rows, columns) to a map.

        The map has shape (batch, channels, rows, columns).
        """
        single = [self._single(name, context, utterance, match) for name in self.similarities if name != "elementwise"]
        maps: list[Tensor] = []
        if "elementwise" in self.similarities:
            maps.append(self._elementwise(context, utterance))
        if single:
            stacked = torch.stack(single, dim=1)
            maps.append(stacked if self.project_single is None else self.project_single(stacked))
        if self.project_single is None and self.project_features is None:
            return torch.cat(maps, dim=1)
        return maps[0] if len(maps) == 1 else maps[0] + maps[1]

    def _elementwise(self, context: Tensor, utterance: Tensor) -> Tensor:
        if self.project_features is None:
            return torch.einsum("bmk,bnk->bkmn", context, utterance)
        batch, columns, width = utterance.shape
        if self.training and context.shape[1] <= self.channels:  # the product of a cell's states is the smaller array
            product = (context.unsqueeze(2) * utterance.unsqueeze(1)) @ self.project_features.T
            return product.permute(0, 3, 1, 2)
        # One matrix product per example, (rows, width) by (width, columns x channels): the channels of a cell then lie
        # side by side in memory, which is how convolutions on a CPU want them.
        weighted = (utterance.unsqueeze(2) * self.project_features).reshape(batch, -1, width)
        product = torch.bmm(context, weighted.transpose(1, 2))
        return product.reshape(batch, -1, columns, self.channels).permute(0, 3, 1, 2)

    def _single(self, name: Similarity, context: Tensor, utterance: Tensor, match: Tensor) -> Tensor:
        if name == "match":
            return match
        if name == "cosine":
            context, utterance = functional.normalize(context, dim=-1), functional.normalize(utterance, dim=-1)
        elif name == "bilinear" and self.bilinear is not None:
            context = self.bilinear(context) * context.shape[-1] ** -0.5
        elif name == "linear" and self.linear_context is not None and self.linear_utterance is not None:
            added: Tensor = self.linear_context(context) + self.linear_utterance(utterance).transpose(1, 2)
            return added
        return context @ utterance.transpose(1, 2)
