"""Every similarity is what its formula says, with a bottleneck and without, in training and after it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from urewrite.network.encoding import SimilarityMap  # noqa: E402

ROWS, COLUMNS, WIDTH = 5, 3, 4
SIMILARITIES = ("elementwise", "cosine", "bilinear", "dot", "linear", "match")


@pytest.fixture
def states():
    chance = torch.Generator().manual_seed(3)
    context, utterance = (torch.randn(2, length, WIDTH, generator=chance) for length in (ROWS, COLUMNS))
    return context, utterance, (torch.rand(2, ROWS, COLUMNS, generator=chance) > 0.5).float()


def by_formula(layer, name, u, h, same):
    """The channels of one cell, from the states of its two words."""
    if name == "elementwise":
        return u * h
    if name == "cosine":
        return (u @ h / (u.norm() * h.norm())).view(1)
    if name == "bilinear":
        return (u @ layer.bilinear.weight.T @ h / WIDTH**0.5).view(1)
    if name == "dot":
        return (u @ h).view(1)
    if name == "linear":
        weights = torch.cat([layer.linear_context.weight[0], layer.linear_utterance.weight[0]])
        return weights @ torch.cat([u, h]) + layer.linear_context.bias
    return same.view(1)


def cell_by_cell(layer, names, context, utterance, match):
    cells = [
        [
            torch.cat([by_formula(layer, name, u, h, match[one, row, column]) for name in names])
            for row, u in enumerate(context[one])
            for column, h in enumerate(utterance[one])
        ]
        for one in range(2)
    ]
    return torch.stack([torch.stack(one).T.reshape(-1, ROWS, COLUMNS) for one in cells])


@pytest.mark.parametrize("names", [*((name,) for name in SIMILARITIES), SIMILARITIES])
def test_similarities_are_what_their_formulas_say(states, names):
    layer = SimilarityMap(WIDTH, names, None)
    assert layer.channels == len(names) - 1 + (WIDTH if "elementwise" in names else 1)
    assert torch.allclose(layer(*states), cell_by_cell(layer, names, *states), atol=1e-6)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("bottleneck", [3, 7])  # fewer channels than rows, and more: two ways to one product
def test_a_bottleneck_projects_them_all(states, bottleneck, training):
    layer = SimilarityMap(WIDTH, SIMILARITIES, bottleneck).train(training)
    features = cell_by_cell(layer, ("elementwise",), *states)
    single = cell_by_cell(layer, SIMILARITIES[1:], *states)
    expected = torch.einsum("ck,bkmn->bcmn", layer.project_features, features) + layer.project_single(single)
    assert torch.allclose(layer(*states), expected, atol=1e-5)
