"""What a grid of logits costs: by default class-weighted cross-entropy over the cells that belong to an example."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from urewrite.training.batches import OUTSIDE
from urewrite.training.settings import OptimiserSettings


def loss_of(settings: OptimiserSettings, logits: Tensor, labels: Tensor, class_weights: Tensor) -> Tensor:
    """The loss that the settings ask for."""
    loss = grid_loss(logits, labels, class_weights)
    if settings.neighbours:
        loss = loss + settings.neighbours * neighbour_loss(logits, labels, class_weights)
    return loss


def grid_loss(logits: Tensor, labels: Tensor, class_weights: Tensor) -> Tensor:
    """Mean over cells, each weighted by the class of its label; None is most of a grid, so it weighs least."""
    return functional.cross_entropy(logits, labels, weight=class_weights, ignore_index=OUTSIDE)


def neighbour_loss(logits: Tensor, labels: Tensor, class_weights: Tensor) -> Tensor:
    """Whether cells side by side or one above the other are of one type, told from the likely types of both."""
    likely, weights = logits.softmax(1), _weights(labels, class_weights)
    losses, amounts = [], []
    for axis in (-2, -1):
        size = labels.shape[axis] - 1
        (one, other), (mine, theirs), (first, second) = (
            (given.narrow(axis, 0, size), given.narrow(axis, 1, size)) for given in (likely, labels, weights)
        )
        alike = (one * other).sum(1).clamp(1e-6, 1 - 1e-6)
        weight = (first + second) * ((mine != OUTSIDE) & (theirs != OUTSIDE))
        told = functional.binary_cross_entropy(alike, (mine == theirs).to(alike.dtype), reduction="none")
        losses.append((weight * told).sum())
        amounts.append(weight.sum())
    return torch.stack(losses).sum() / torch.stack(amounts).sum().clamp_min(1e-6)


def taught_loss(logits: Tensor, taught: Tensor, class_weights: Tensor) -> Tensor:
    """Cross-entropy with a teacher's probabilities in the place of labels; they are zero outside an example."""
    weighted = taught * class_weights.view(1, -1, 1, 1)
    return -(weighted * torch.log_softmax(logits, dim=1)).sum() / weighted.sum()


def _weights(labels: Tensor, class_weights: Tensor) -> Tensor:
    """Of every cell that of its label, nothing outside an example."""
    return class_weights[labels.clamp_min(0)] * (labels != OUTSIDE)
