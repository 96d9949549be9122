"""What a network is made of; kept with its weights, so it needs nothing but pydantic."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Similarity = Literal["elementwise", "cosine", "bilinear", "dot", "linear", "match"]


class NetworkSettings(BaseModel):
    """The defaults are the paper's where it says them; the bottleneck and its width are for speed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    embedding: int = Field(100, gt=0)
    hidden: int = Field(200, gt=0)
    dropout_in: float = Field(0.5, ge=0, lt=1)
    dropout_out: float = Field(0.5, ge=0, lt=1)
    similarities: tuple[Similarity, ...] = Field(("elementwise", "cosine", "bilinear"), min_length=1)
    bottleneck: int | None = Field(64, gt=0)
    segmentation: Literal["u-shape", "feed-forward"] = "u-shape"
    width: int = Field(64, gt=1)
    upsampling: Literal["deconvolution", "nearest"] = "nearest"
    doubling: bool = False
