"""The loss counts every cell by the weight of its class, those outside an example not at all."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from urewrite.training.batches import OUTSIDE  # noqa: E402
from urewrite.training.loss import grid_loss  # noqa: E402

WEIGHTS = torch.tensor([0.1, 0.6, 0.3])
LABELS = torch.tensor([[[0, 1], [2, 0]], [[1, OUTSIDE], [OUTSIDE, OUTSIDE]]])


@pytest.fixture
def logits():
    return torch.randn(2, 3, 2, 2, generator=torch.Generator().manual_seed(5))


def test_every_cell_counts_by_the_weight_of_its_class(logits):
    likely = logits.softmax(1)
    cells = [(one, row, column) for one, row, column in (LABELS != OUTSIDE).nonzero().tolist()]
    weights = [WEIGHTS[LABELS[cell]] for cell in cells]
    losses = [-likely[one, LABELS[one, row, column], row, column].log() for one, row, column in cells]
    expected = sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)
    assert torch.allclose(grid_loss(logits, LABELS, WEIGHTS), expected, atol=1e-6)
    assert not torch.allclose(grid_loss(logits, LABELS, torch.ones(3)), expected, atol=1e-3)


def test_no_gradient_comes_from_outside_an_example(logits):
    logits.requires_grad_()
    grid_loss(logits, LABELS, WEIGHTS).backward()
    outside = (LABELS == OUTSIDE).unsqueeze(1).expand_as(logits)
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[outside] == 0).all()
    assert (logits.grad[~outside] != 0).all()
