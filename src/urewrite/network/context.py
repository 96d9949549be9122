"""The context layer: every word of context and utterance, seen in the light of all the others.

Both kinds take a batch and give the states of the joint sequence, one per word: (batch, words, width).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from urewrite.edits.grid import ConnectionWords
from urewrite.network.inputs import GridBatch
from urewrite.network.lexicon import TermVectors
from urewrite.prepare.arrays import NOWHERE, PADDING
from urewrite.prepare.vocabulary import SEPARATOR_ID, SPECIAL_IDS, UNKNOWN

if TYPE_CHECKING:
    from transformers import PreTrainedModel


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


class BiLSTM(nn.Module):
    """A bidirectional LSTM over sequences of their own lengths; states beyond a length are zero."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True, bidirectional=True)
        self.width = 2 * hidden

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """States (batch, length, features) to states (batch, length, width).

        Padding stands behind a sequence, so that reading forwards never meets it; for the other direction each
        sequence is turned round where it stands. That is the same as packed sequences, for which PyTorch has only a
        slow loop on CPUs.
        """
        length = states.shape[1]
        position = torch.arange(length, device=states.device).unsqueeze(0)
        there = position < lengths.unsqueeze(1)
        turned = torch.where(there, lengths.unsqueeze(1) - 1 - position, position).unsqueeze(2)
        forwards = self._read(states, 0)
        backwards = self._read(states.gather(1, turned.expand(-1, -1, states.shape[2])), 1)
        backwards = backwards.gather(1, turned.expand(-1, -1, backwards.shape[2]))
        return torch.cat([forwards, backwards], dim=2) * there.unsqueeze(2)

    def _read(self, states: Tensor, direction: int) -> Tensor:
        weights: list[Tensor] = list(self.lstm.all_weights[direction])
        start = states.new_zeros(1, states.shape[0], self.lstm.hidden_size)
        seen: Tensor = torch.lstm(states, [start, start], weights, True, 1, 0.0, self.training, False, True)[0]
        return seen


class WordDropout(nn.Module):
    """Words that are made unknown, each wherever it stands in its dialogue: what is copied seldom depends on them."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, ids: Tensor, vocabulary: int) -> Tensor:
        """Ids of shape (batch, length)."""
        if not self.training or self.rate == 0:
            return ids
        dropped = torch.rand(ids.shape[0], vocabulary, device=ids.device).lt(self.rate)
        dropped[:, list(SPECIAL_IDS)] = False
        return torch.where(dropped.gather(1, ids), UNKNOWN, ids)


class TurnEmbedding(nn.Module):
    """Which turn a word is part of: the utterance, the turn before it, the one before that, and so on."""

    MOST = 6

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(self.MOST, width))

    def forward(self, batch: GridBatch) -> Tensor:
        """A batch whose ids are words."""
        position = torch.arange(batch.ids.shape[1], device=batch.ids.device).unsqueeze(0)
        of_context = position < batch.heights.unsqueeze(1)
        separators = ((batch.ids == SEPARATOR_ID) & of_context).long()
        follow = separators.sum(1, keepdim=True) - separators.cumsum(1)
        turn = torch.where(of_context, (follow + 1).clamp_max(self.MOST - 1), 0)
        return nn.functional.embedding(turn, self.weight)


class WordContext(nn.Module):
    """The paper's own: word embedding and a BiLSTM."""

    def __init__(
        self,
        vocabulary: int,
        embedding: int,
        hidden: int,
        *,
        turns: bool,
        lexicon: int | None,
        dropout_words: float,
        dropout_in: float,
        dropout_out: float,
    ) -> None:
        super().__init__()
        self.dropout_words = WordDropout(dropout_words)
        self.turns = TurnEmbedding(embedding) if turns else None
        self.embedding = nn.Embedding(vocabulary, embedding, padding_idx=PADDING)
        nn.init.xavier_uniform_(self.embedding.weight)
        with torch.no_grad():
            self.embedding.weight[PADDING].zero_()
        self.terms = None if lexicon is None else TermVectors(lexicon, embedding, dropout_words)
        self.bilstm = BiLSTM(embedding + (0 if self.terms is None else self.terms.width), hidden)
        self.dropout_in = VariationalDropout(dropout_in)
        self.dropout_out = VariationalDropout(dropout_out)
        self.width = self.bilstm.width

    def forward(self, batch: GridBatch) -> Tensor:
        """A batch whose ids are words."""
        embedded = self.embedding(self.dropout_words(batch.ids, self.embedding.num_embeddings))
        if self.turns is not None:
            embedded = embedded + self.turns(batch)
        if self.terms is not None:
            if batch.terms is None:
                raise ValueError("a network with a lexicon needs the terms of words")
            embedded = torch.cat([embedded, self.terms(batch.terms)], dim=2)
        embedded = self.dropout_in(embedded)
        states: Tensor = self.dropout_out(self.bilstm(embedded, batch.heights + batch.widths))
        return states


class EncoderContext(nn.Module):
    """A pretrained encoder over word pieces, a learned mix of its layers, pooled to words; a BiLSTM may follow.

    Middle layers know more about our task than the last one does, hence the mix. Connection words, which are the same
    in every dialogue, are not read by the encoder: each has a learned vector.
    """

    def __init__(
        self,
        encoder: PreTrainedModel,
        *,
        layer_mix: bool,
        hidden: int | None,
        dropout_in: float,
        dropout_out: float,
        connection_words: ConnectionWords,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.leading, self.trailing = len(connection_words.leading), len(connection_words.trailing)
        layers = int(encoder.config.num_hidden_layers)
        features = int(encoder.config.hidden_size)
        self.mix = nn.Parameter(torch.zeros(layers + 1)) if layer_mix else None
        self.bilstm = BiLSTM(features, hidden) if hidden else None
        self.dropout_in = VariationalDropout(dropout_in)
        self.dropout_out = VariationalDropout(dropout_out)
        self.width = self.bilstm.width if self.bilstm is not None else features
        self.connection = nn.Embedding(1 + len(connection_words), self.width, padding_idx=0)
        self.has_types = int(getattr(encoder.config, "type_vocab_size", 0) or 0) > 1
        self._computes_in = torch.float32

    def forward(self, batch: GridBatch) -> Tensor:
        """A batch whose ids are word pieces."""
        if batch.owners is None:
            raise ValueError("an encoder needs word pieces with their owners")
        there = batch.owners != NOWHERE
        types = {}
        if self.has_types:  # the second kind: pieces of the utterance
            types["token_type_ids"] = (batch.owners >= batch.heights.unsqueeze(1)).long()
        with self._products(batch.ids.device.type):
            given = self.encoder(
                input_ids=batch.ids, attention_mask=there.long(), output_hidden_states=self.mix is not None, **types
            )
        if self.mix is None:
            states = given.last_hidden_state
        else:
            weights = self.mix.softmax(0)
            states = sum(weight * layer for weight, layer in zip(weights, given.hidden_states, strict=True))
        lengths = batch.heights + batch.widths
        words = pool(states.to(self.connection.weight.dtype), batch.owners, batch.match.shape[1] + batch.match.shape[2])
        if self.bilstm is not None:
            words = self.bilstm(self.dropout_in(words), lengths)
        known: Tensor = self.dropout_out(words + self.connection(self._connection_words(batch)))
        return known

    @contextmanager
    def computing_in(self, precision: torch.dtype) -> Iterator[None]:
        """For a while let the encoder compute products with fewer bits; weights and states keep theirs."""
        self._computes_in = precision
        try:
            yield
        finally:
            self._computes_in = torch.float32

    def _products(self, device: str) -> AbstractContextManager[object]:
        if self._computes_in == torch.float32:
            return nullcontext()
        return torch.autocast(device, dtype=self._computes_in)

    def _connection_words(self, batch: GridBatch) -> Tensor:
        """Which connection word stands where, counted from 1; 0 where there is none: (batch, words)."""
        position = torch.arange(batch.match.shape[1] + batch.match.shape[2], device=batch.ids.device).unsqueeze(0)
        after = position - (batch.heights.unsqueeze(1) - self.trailing)
        leading = torch.where(position < self.leading, position + 1, 0)
        return torch.where((after >= 0) & (after < self.trailing), self.leading + 1 + after, leading)


def pool(states: Tensor, owners: Tensor, words: int) -> Tensor:
    """The mean of each word's pieces: (batch, pieces, features) to (batch, words, features), zero without pieces."""
    numbers = torch.arange(words, device=owners.device).view(1, -1, 1)
    owned = (owners.unsqueeze(1) == numbers).to(states.dtype)
    return (owned @ states) / owned.sum(2, keepdim=True).clamp_min(1)
