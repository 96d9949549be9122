"""Every loss counts cells by what it says it does, and those outside an example not at all."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from urewrite.training.batches import OUTSIDE  # noqa: E402
from urewrite.training.loss import grid_loss, loss_of, neighbour_loss  # noqa: E402
from urewrite.training.settings import OptimiserSettings  # noqa: E402

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


def cells_of(logits):
    """Label, probabilities and weight of every cell of an example, by its place."""
    likely = logits.softmax(1)
    places = [tuple(place) for place in (LABELS != OUTSIDE).nonzero().tolist()]
    return {
        (one, row, column): (
            int(LABELS[one, row, column]),
            likely[one, :, row, column],
            WEIGHTS[LABELS[one, row, column]],
        )
        for one, row, column in places
    }


def test_neighbours_are_judged_by_the_types_of_both(logits):
    cells = cells_of(logits)
    losses, weights = [], []
    for (one, row, column), (label, likely, weight) in cells.items():
        for other in ((one, row + 1, column), (one, row, column + 1)):
            if other in cells:
                its_label, its_likely, its_weight = cells[other]
                alike = (likely * its_likely).sum()
                losses.append((weight + its_weight) * -(alike if label == its_label else 1 - alike).log())
                weights.append(weight + its_weight)
    assert len(losses) == 4  # of the first example, since the second has one cell
    assert torch.allclose(neighbour_loss(logits, LABELS, WEIGHTS), sum(losses) / sum(weights), atol=1e-6)


def test_a_grid_without_neighbours_costs_nothing(logits):
    alone = torch.full((2, 2, 2), OUTSIDE)
    alone[:, 0, 0] = 1
    assert neighbour_loss(logits, alone, WEIGHTS) == 0


def settings(**given):
    return OptimiserSettings(**given)


def test_settings_choose_the_loss(logits):
    cross_entropy = grid_loss(logits, LABELS, WEIGHTS)
    assert loss_of(settings(), logits, LABELS, WEIGHTS) == cross_entropy
    beside = cross_entropy + 0.5 * neighbour_loss(logits, LABELS, WEIGHTS)
    assert loss_of(settings(neighbours=0.5), logits, LABELS, WEIGHTS) == beside


@pytest.mark.parametrize("given", [{}, {"neighbours": 1.0}])
def test_no_gradient_comes_from_outside_an_example(logits, given):
    logits.requires_grad_()
    loss_of(settings(**given), logits, LABELS, WEIGHTS).backward()
    outside = (LABELS == OUTSIDE).unsqueeze(1).expand_as(logits)
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[outside] == 0).all()
    assert (logits.grad[~outside] != 0).all()
