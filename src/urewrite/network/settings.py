"""What a network is made of; kept with its weights, so it needs nothing but pydantic."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Similarity = Literal["elementwise", "cosine", "bilinear", "dot", "linear", "match"]


class EncoderSettings(BaseModel):
    """A pretrained encoder as the context layer, in the place of word embedding and BiLSTM."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model: str
    """A Hugging Face folder, or a name on the hub."""
    layer_mix: bool = True
    lstm: bool = False
    """Whether a BiLSTM of the size `hidden` follows, as in the authors' code."""
    layers: int | None = Field(None, gt=0)
    """Keep so many of its layers, the first ones; all by default."""
    frozen_layers: int = Field(0, ge=0)
    """Leave the embeddings and so many of its first layers as they are; 0 trains everything."""


class NetworkSettings(BaseModel):
    """The defaults are the paper's where it says them; the bottleneck and its width are for speed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    encoder: EncoderSettings | None = None
    embedding: int = Field(100, gt=0)
    hidden: int = Field(200, gt=0)
    turns: bool = False
    """Whether words are told apart by the turn they are part of; an encoder has its own ways."""
    lexicon: int | None = Field(None, gt=0)
    """Of a script without blanks, tell each character's word too: so many of the most frequent, by the vectors that the
    embedding starts from, which stay as they are; for a network without encoder."""
    dropout_words: float = Field(0.0, ge=0, lt=1)
    """The share of words that are made unknown in training; for a network without encoder."""
    dropout_in: float = Field(0.5, ge=0, lt=1)
    dropout_out: float = Field(0.5, ge=0, lt=1)
    similarities: tuple[Similarity, ...] = Field(("elementwise", "cosine", "bilinear"), min_length=1)
    bottleneck: int | None = Field(64, gt=0)
    segmentation: Literal["u-shape", "feed-forward"] = "u-shape"
    width: int = Field(64, gt=1)
    upsampling: Literal["deconvolution", "nearest"] = "nearest"
    doubling: bool = False


ABOVE_CONTEXT = (
    "dropout_words",
    "dropout_in",
    "dropout_out",
    "similarities",
    "bottleneck",
    "segmentation",
    "width",
    "upsampling",
    "doubling",
)
"""Settings that leave the weights of the context layer as they are."""
