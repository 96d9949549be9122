"""What is known of words beside characters: the term of a lexicon that a character is part of, and its place in it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from urewrite.prepare.lexicon import NO_TERM, PLACES

_OF_PLACES = 8
_GROUPS = 4096
"""Terms are dropped by group: a draw for each would take longer than all else here, and few of a group ever meet."""


class TermVectors(nn.Module):
    """A vector that is not trained for each term, and a learned one for the place in it.

    Since vectors stay as they were pretrained, a term that no training dialogue holds tells as much as others.
    """

    def __init__(self, terms: int, width: int, dropout: float) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.zeros(1 + terms, width), requires_grad=False)
        self.places = nn.Embedding(PLACES, _OF_PLACES)
        self.dropout = dropout
        self.width = width + _OF_PLACES

    def forward(self, terms: Tensor) -> Tensor:
        """Numbers and places (batch, length, 2) to features (batch, length, width)."""
        numbers, places = terms[..., 0], terms[..., 1]
        if self.training and self.dropout:
            dropped = torch.rand(len(numbers), _GROUPS, device=numbers.device).lt(self.dropout)
            numbers = torch.where(dropped.gather(1, numbers % _GROUPS), NO_TERM, numbers)
        return torch.cat([nn.functional.embedding(numbers, self.vectors), self.places(places)], dim=2)
