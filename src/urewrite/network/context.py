"""The context layer: every word of context and utterance, seen in the light of all the others."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PADDING = 0
"""The word id of positions that are not there."""


class VariationalDropout(nn.Module):
    """Dropout with one mask for all positions of a sequence."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, states: Tensor) -> Tensor:
        """States of shape (batch, length, features)."""
        if not self.training or self.rate == 0:
            return states
        kept = torch.full((states.shape[0], 1, states.shape[2]), 1 - self.rate, device=states.device)
        return states * torch.bernoulli(kept) / (1 - self.rate)


class BiLSTMContext(nn.Module):
    """Word embedding and a bidirectional LSTM over the joint sequence of context and utterance."""

    def __init__(self, vocabulary: int, embedding: int, hidden: int, *, dropout_in: float, dropout_out: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding, padding_idx=PADDING)
        nn.init.xavier_uniform_(self.embedding.weight)
        with torch.no_grad():
            self.embedding.weight[PADDING].zero_()
        self.lstm = nn.LSTM(embedding, hidden, batch_first=True, bidirectional=True)
        self.dropout_in = VariationalDropout(dropout_in)
        self.dropout_out = VariationalDropout(dropout_out)
        self.width = 2 * hidden

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Word ids (batch, length) to states (batch, length, width); states beyond a length are zero."""
        embedded = self.dropout_in(self.embedding(words))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.shape[1])
        dropped: Tensor = self.dropout_out(states)
        return dropped
