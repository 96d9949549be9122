"""What a grid of logits costs: class-weighted cross-entropy over the cells that belong to an example."""

from __future__ import annotations

from torch import Tensor, log_softmax
from torch.nn import functional

from urewrite.training.batches import OUTSIDE


def grid_loss(logits: Tensor, labels: Tensor, class_weights: Tensor) -> Tensor:
    """Mean over cells, each weighted by the class of its label; None is most of a grid, so it weighs least."""
    return functional.cross_entropy(logits, labels, weight=class_weights, ignore_index=OUTSIDE)


def taught_loss(logits: Tensor, taught: Tensor, class_weights: Tensor) -> Tensor:
    """Cross-entropy with a teacher's probabilities in the place of labels; they are zero outside an example."""
    weighted = taught * class_weights.view(1, -1, 1, 1)
    return -(weighted * log_softmax(logits, dim=1)).sum() / weighted.sum()
