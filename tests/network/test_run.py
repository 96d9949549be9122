from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from network.made import (  # noqa: E402
    LETTERS,
    LEXICON,
    SMALL,
    batch_of,
    letters_dialogue,
    padded_to,
    settled,
    training_step,
)
from urewrite.dialogue import Dialogue  # noqa: E402
from urewrite.edits.grid import lay_out  # noqa: E402
from urewrite.network.run import word_network  # noqa: E402
from urewrite.network.segmentation import MaskedNormReLU, UShape  # noqa: E402
from urewrite.network.settings import NetworkSettings  # noqa: E402
from urewrite.prepare import Vocabulary  # noqa: E402

VOCABULARY = Vocabulary(["[PAD]", "[UNK]", "[S]", "[E]", *LETTERS], LEXICON)

VARIANTS = [
    {},
    {"bottleneck": None},
    {"upsampling": "deconvolution", "doubling": True},
    {"segmentation": "feed-forward"},
    {"similarities": ["elementwise", "cosine", "bilinear", "dot", "linear", "match"]},
    {"similarities": ["cosine"]},
    {"similarities": ["elementwise"]},
    {"similarities": ["cosine", "match"], "bottleneck": None},
    {"turns": True, "dropout_words": 0.3},
    {"lexicon": len(LEXICON)},
]


def network(**changes):
    torch.manual_seed(0)
    made = word_network(NetworkSettings.model_validate({**SMALL, **changes}), len(VOCABULARY))
    if made.context_layer.turns is not None:
        torch.nn.init.normal_(made.context_layer.turns.weight)
    return settled(made)


def batch(*sizes):
    """Dialogues of these (rows, columns, seed)."""
    return batch_of(VOCABULARY, *(letters_dialogue(*size) for size in sizes))


@pytest.mark.parametrize("changes", VARIANTS)
def test_shapes(changes):
    logits = network(**changes)(batch((7, 3, 1), (10, 6, 2)))
    assert logits.shape == (2, 3, 12, 8)
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 3), (8, 4), (13, 7)])
def test_a_prediction_is_the_same_alone_in_a_batch_and_under_any_padding(changes, rows, columns):
    made = network(**changes).eval()
    one = (rows, columns, 1)
    with torch.no_grad():
        alone = made(batch(one))[0, :, :rows, :columns]
        together = made(batch((21, 9, 2), one, (3, 2, 3)))[1, :, :rows, :columns]
        padded = made(padded_to(batch(one), 32, 20, more=5))[0, :, :rows, :columns]
    assert torch.allclose(alone, together, atol=1e-5)
    assert torch.allclose(alone, padded, atol=1e-5)


def test_a_dialogue_without_context_has_a_prediction_for_no_cell_and_disturbs_no_other():
    made = network().eval()
    silent = lay_out(Dialogue.of([], "x y"))
    with torch.no_grad():
        together = made(batch_of(VOCABULARY, silent, letters_dialogue(5, 3, 1)))
        alone = made(batch((5, 3, 1)))
    assert torch.isfinite(together).all()
    assert torch.allclose(together[1, :, :5, :3], alone[0, :, :5, :3], atol=1e-5)


@pytest.mark.parametrize("changes", VARIANTS)
def test_training_does_not_see_padding(changes):
    """The same batch with more padding: same loss, same gradients, same running statistics."""
    results = []
    for rows, columns in ((12, 8), (24, 16)):
        made = network(**{**changes, "dropout_in": 0, "dropout_out": 0, "dropout_words": 0}).train()
        given = padded_to(batch((9, 5, 1), (12, 7, 2)), rows, columns, more=rows - 12)
        results.append(training_step(made, given))
    for expected, found in zip(*results, strict=True):
        assert expected.keys() == found.keys()
        assert all(torch.allclose(expected[name], found[name], rtol=0, atol=1e-9) for name in expected)


@pytest.mark.parametrize("changes", VARIANTS)
def test_every_parameter_learns(changes):
    made = network(**changes, dropout_in=0, dropout_out=0).train()
    logits = made(batch((9, 5, 1), (12, 7, 2)))
    logits.square().mean().backward()
    silent = [name for name, p in made.named_parameters() if p.grad is None or not p.grad.any()]
    assert silent == (["context_layer.terms.vectors"] if "lexicon" in changes else [])


def masked_reference(maps, mask, weight, bias):
    """Normalisation and ReLU of the cells that are there, by PyTorch's own, one list of cells."""
    cells = maps.permute(0, 2, 3, 1)[mask[:, 0] > 0]
    normal = torch.nn.functional.batch_norm(cells, None, None, weight, bias, training=True)
    result = torch.zeros_like(maps.permute(0, 2, 3, 1))
    result[mask[:, 0] > 0] = normal.relu()
    return result.permute(0, 3, 1, 2)


def test_masked_normalisation_equals_pytorchs_on_the_cells_that_are_there():
    torch.manual_seed(0)
    maps = torch.randn(4, 6, 8, 4, dtype=torch.double)
    mask = (torch.rand(4, 1, 8, 4) > 0.4).double()
    outputs = []
    for how in ("ours", "reference"):
        norm = MaskedNormReLU(6).double()
        with torch.no_grad():
            norm.weight.uniform_(0.5, 1.5, generator=torch.Generator().manual_seed(1))
            norm.bias.uniform_(-0.5, 0.5, generator=torch.Generator().manual_seed(2))
        given = maps.clone().requires_grad_()
        result = norm(given, mask) if how == "ours" else masked_reference(given, mask, norm.weight, norm.bias)
        (result * torch.arange(result.numel()).view_as(result)).sum().backward()
        outputs.append((result, given.grad, norm.weight.grad, norm.bias.grad))
    for ours, reference in zip(*outputs, strict=True):
        assert torch.allclose(ours, reference, atol=1e-6)


def test_running_statistics_equal_pytorchs():
    maps = torch.randn(4, 6, 8, 4)
    ours, plain = MaskedNormReLU(6), torch.nn.BatchNorm2d(6)
    assert torch.allclose(ours(maps, torch.ones(4, 1, 8, 4)), plain(maps).relu(), atol=1e-5)
    assert torch.allclose(ours.mean, plain.running_mean, atol=1e-6)
    assert torch.allclose(ours.variance, plain.running_var, atol=1e-5)
    assert torch.allclose(ours.eval()(maps, torch.ones(4, 1, 8, 4)), plain.eval()(maps).relu(), atol=1e-5)


def test_the_feed_forward_replacement_has_about_as_many_parameters():
    sizes = {
        kind: sum(
            p.numel() for p in word_network(NetworkSettings(segmentation=kind), 10).segmentation_layer.parameters()
        )
        for kind in ("u-shape", "feed-forward")
    }
    assert sizes["feed-forward"] == pytest.approx(sizes["u-shape"], rel=0.25)


@pytest.mark.parametrize("doubling", [False, True])
@pytest.mark.parametrize("upsampling", ["nearest", "deconvolution"])
def test_the_switches_of_the_u_shape(upsampling, doubling):
    """The paper doubles channels in both blocks down and learns to upsample, its authors' code does neither."""
    width = 6
    layer = UShape(10, width, upsampling=upsampling, doubling=doubling)
    deepest = (4 if doubling else 2) * width
    blocks = ((layer.top, width), (layer.down1, 2 * width), (layer.down2, deepest), (layer.up1, width))
    assert [block.convolutions[1].out_channels for block, _ in blocks] == [channels for _, channels in blocks]
    assert layer.up1.convolutions[0].in_channels == deepest + 2 * width
    maps, mask = torch.randn(1, deepest, 2, 2), torch.ones(1, 1, 4, 4)
    repeated = maps.repeat_interleave(2, 2).repeat_interleave(2, 3)
    assert torch.equal(layer.upsample1(maps, mask), repeated) == (upsampling == "nearest")
    learned = [name for name, _ in layer.named_parameters() if name.startswith("upsample")]
    assert bool(learned) == (upsampling == "deconvolution")
