"""The segmentation layer: from the similarity map to the edit type of every cell.

A mask goes along at every level. Cells outside an example are zero before every convolution, are left out of the
statistics, and maps are padded to a multiple of four before they get here: so an example alone, in a batch and under
any padding gives the same result, and no gradient comes from padding.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx
from torch.nn import functional

EDIT_TYPES = 3
_RARE = -3.0
"""The first logit of Substitute and Insert against None: nearly all cells are None, and that need not be learned."""


class _NormaliseAndRectify(torch.autograd.Function):
    """Training's batch normalisation and ReLU in one, over the cells that are there, with sums as matrix products.

    Maps are taken cell by cell, shape (cells, channels), so that a sum over cells is a product with a row of ones.
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx, cells: Tensor, there: Tensor, weight: Tensor, bias: Tensor, epsilon: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        amount = there.sum()
        mean = (there @ cells).squeeze(0) / amount
        normal = (cells - mean) * there.T
        variance = (torch.ones_like(there) @ normal.square()).squeeze(0) / amount
        deviation = torch.rsqrt(variance + epsilon)
        normal *= deviation
        rectified = torch.addcmul(bias, normal, weight).relu_().mul_(there.T)
        ctx.save_for_backward(normal, rectified, there, weight * deviation, amount)
        ctx.mark_non_differentiable(mean, variance)
        return rectified, mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor, Tensor, None]:  # noqa: ANN401
        normal, rectified, there, scale, amount = ctx.saved_tensors
        gradient = gradients[0] * (rectified > 0)
        ones = torch.ones_like(there)
        for_bias = (ones @ gradient).squeeze(0)
        for_weight = (ones @ (gradient * normal)).squeeze(0)
        # What a cell changes in mean and variance it takes back from all cells that are there.
        taken = torch.addcmul(for_bias, normal, for_weight).mul_(there.T / amount)
        return gradient.sub_(taken).mul_(scale), None, for_weight, for_bias, None


class MaskedNormReLU(nn.Module):
    """Batch normalisation over the cells that are there, then ReLU; cells that are not there stay zero."""

    mean: Tensor
    variance: Tensor

    def __init__(self, channels: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))
        self.momentum = momentum
        self.epsilon = epsilon

    def forward(self, maps: Tensor, mask: Tensor) -> Tensor:
        """Maps (batch, channels, rows, columns) and their mask (batch, 1, rows, columns)."""
        if not self.training:
            scale = self.weight * torch.rsqrt(self.variance + self.epsilon)
            shift = self.bias - self.mean * scale
            return functional.relu(maps * scale.view(1, -1, 1, 1) + shift.view(1, -1, 1, 1)) * mask
        batch, channels, rows, columns = maps.shape
        cells = maps.permute(0, 2, 3, 1).reshape(-1, channels)
        there = mask.reshape(1, -1)
        result, mean, variance = _NormaliseAndRectify.apply(  # type: ignore[no-untyped-call]
            cells, there, self.weight, self.bias, self.epsilon
        )
        with torch.no_grad():
            amount = there.sum()
            self.mean.lerp_(mean, self.momentum)
            self.variance.lerp_(variance * amount / (amount - 1).clamp_min(1), self.momentum)
        reshaped: Tensor = result.reshape(batch, rows, columns, channels).permute(0, 3, 1, 2)
        return reshaped


class DoubleConvolution(nn.Module):
    """Twice: 3x3 convolution, normalisation, ReLU."""

    def __init__(self, channels_in: int, channels_out: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(channels, channels_out, 3, padding=1, bias=False) for channels in (channels_in, channels_out)
        )
        self.norms = nn.ModuleList(MaskedNormReLU(channels_out) for _ in range(2))

    def forward(self, maps: Tensor, mask: Tensor) -> Tensor:
        """Maps that are zero outside the mask, in and out."""
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            maps = norm(convolution(maps), mask)
        return maps


class Upsample(nn.Module):
    """Twice the rows and columns, by a learned deconvolution or by repeating cells."""

    def __init__(self, channels: int, how: Literal["deconvolution", "nearest"]) -> None:
        super().__init__()
        self.deconvolution = nn.ConvTranspose2d(channels, channels, 2, stride=2) if how == "deconvolution" else None

    def forward(self, maps: Tensor, mask: Tensor) -> Tensor:
        """Maps of a level below, brought to the size of the mask."""
        if self.deconvolution is None:
            return functional.interpolate(maps, scale_factor=2.0, mode="nearest") * mask
        upsampled: Tensor = self.deconvolution(maps)
        return upsampled * mask


class UShape(nn.Module):
    """Two levels down, two levels up, with skip connections; the logits of every cell come out."""

    def __init__(
        self,
        channels_in: int,
        width: int,
        *,
        upsampling: Literal["deconvolution", "nearest"],
        doubling: bool,
    ) -> None:
        super().__init__()
        deepest = 4 * width if doubling else 2 * width
        self.top = DoubleConvolution(channels_in, width)
        self.down1 = DoubleConvolution(width, 2 * width)
        self.down2 = DoubleConvolution(2 * width, deepest)
        self.upsample1 = Upsample(deepest, upsampling)
        self.up1 = DoubleConvolution(deepest + 2 * width, width)
        self.upsample2 = Upsample(width, upsampling)
        self.up2 = DoubleConvolution(2 * width, width // 2)
        self.classify = _classifier(width // 2)

    def forward(self, maps: Tensor, mask: Tensor) -> Tensor:
        """Similarity maps (batch, channels, rows, columns) to logits (batch, edit types, rows, columns)."""
        mask1 = functional.max_pool2d(mask, 2)
        mask2 = functional.max_pool2d(mask1, 2)
        full = self.top(maps * mask, mask)
        half = self.down1(functional.max_pool2d(full, 2), mask1)
        quarter = self.down2(functional.max_pool2d(half, 2), mask2)
        half = self.up1(torch.cat([half, self.upsample1(quarter, mask1)], dim=1), mask1)
        full = self.up2(torch.cat([full, self.upsample2(half, mask)], dim=1), mask)
        logits: Tensor = self.classify(full)
        return logits


class FeedForward(nn.Module):
    """The ablation: each cell for itself, with about as many parameters as the U-shape of the same width."""

    def __init__(self, channels_in: int, width: int) -> None:
        super().__init__()
        hidden = 12 * width
        self.layers = nn.ModuleList(
            [nn.Conv2d(channels_in, hidden, 1), nn.Conv2d(hidden, hidden, 1), _classifier(hidden)]
        )

    def forward(self, maps: Tensor, mask: Tensor) -> Tensor:
        """Similarity maps to logits, cell by cell."""
        maps = maps * mask
        for layer in self.layers[:-1]:
            maps = functional.relu(layer(maps))
        logits: Tensor = self.layers[-1](maps)
        return logits


def _classifier(channels: int) -> nn.Conv2d:
    layer = nn.Conv2d(channels, EDIT_TYPES, 1)
    with torch.no_grad():
        assert layer.bias is not None
        layer.bias.copy_(torch.tensor([0.0, _RARE, _RARE]))
    return layer
