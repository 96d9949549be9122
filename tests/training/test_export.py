from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import onnx
import torch
from onnxruntime import InferenceSession
from safetensors.torch import load_file
from torch import nn

from training.trained import predict
from urewrite.corpora import read_jsonl
from urewrite.errors import TrainingError
from urewrite.pipeline import judge_dialogues
from urewrite.rewriter import load_pipeline
from urewrite.training import eight_bits
from urewrite.training import export as exporting
from urewrite.training.export import export
from urewrite.training.predict import probabilities_of
from urewrite.training.weights import load_model


@pytest.fixture(scope="module")
def model(toy_run):
    return load_model(toy_run)


@pytest.fixture(scope="module")
def dialogues(toy_run):
    return [example.dialogue for example in read_jsonl(toy_run.parent / "validation.jsonl")]


@pytest.mark.parametrize("batch_size", [1, 16])
def test_the_graph_computes_what_the_network_does(model, toy_bundle, dialogues, batch_size):
    expected = probabilities_of(model, dialogues)
    found = judge_dialogues(load_pipeline(toy_bundle, threads=1), dialogues, batch_size=batch_size)
    for first, second in zip(expected, found, strict=True):
        assert first.axes == second.axes
        assert np.abs(first.probabilities - second.probabilities).max() < 1e-5


@pytest.fixture
def small_weights_too(monkeypatch):
    """The toy has no weights that are large enough to be packed."""
    monkeypatch.setattr(eight_bits, "_SMALL", 100)


@pytest.mark.usefixtures("small_weights_too")
def test_weights_of_eight_bits_decide_the_same(model, dialogues, tmp_path):
    export(model, tmp_path / "small", eight_bit=True, name="small")
    pipeline = load_pipeline(tmp_path / "small")
    assert pipeline.config.name == "small"
    weights = onnx.load(tmp_path / "small" / "model.onnx").graph.initializer
    assert any(weight.data_type == onnx.TensorProto.INT8 for weight in weights)
    expected = [probabilities.argmax(0) for _, probabilities in probabilities_of(model, dialogues)]
    judged = judge_dialogues(pipeline, dialogues)
    for together, alone in zip(judged, judge_dialogues(pipeline, dialogues, batch_size=1), strict=True):
        assert np.abs(together.probabilities - alone.probabilities).max() < 1e-3
    found = [probabilities.argmax(0) for _, probabilities in judged]
    same = sum(np.array_equal(first, second) for first, second in zip(expected, found, strict=True))
    assert same >= 0.9 * len(dialogues)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the exporter
def test_what_gelu_gives_is_rounded_more_finely(tmp_path, monkeypatch):
    """Of a symmetrical range it would use little more than half."""
    torch.manual_seed(1)
    layers = nn.Sequential(nn.Linear(32, 512), nn.GELU(), nn.Linear(512, 64)).eval()
    rows = torch.randn(50, 1, 32) * torch.logspace(-3, 2, 50)[:, None, None]
    whole = tmp_path / "whole.onnx"
    torch.onnx.export(
        layers,
        (rows,),
        str(whole),
        input_names=["given"],
        dynamic_axes={"given": {0: "n"}},
        opset_version=17,
        dynamo=False,
    )

    def answers(name, given):
        eight_bits.write_small_graph(whole, tmp_path / name)
        return InferenceSession(str(tmp_path / name)).run(None, {"given": given.numpy()})[0]

    expected = layers(rows).detach().numpy()
    raised = answers("raised.onnx", rows)
    assert np.abs(answers("raised.onnx", rows[7:8]) - raised[7:8]).max() < 1e-6, "whatever stands beside a row"
    monkeypatch.setattr(eight_bits, "_outputs_of_gelu", lambda graph: ())
    symmetrical = answers("symmetrical.onnx", rows)
    size = np.abs(expected).max(-1)
    apart, apart_before = (np.abs(found - expected).max(-1) / size for found in (raised, symmetrical))
    assert apart.max() < 0.03
    assert apart.mean() < 0.95 * apart_before.mean()


@pytest.mark.usefixtures("small_weights_too")
@pytest.mark.parametrize("eight_bit", [False, True])
def test_what_was_exported_can_be_trained_from(model, dialogues, tmp_path, eight_bit):
    """Weights that the graph holds are read out of it, from 8 bits with a small loss."""
    export(model, tmp_path / "handed", eight_bit=eight_bit)
    again = load_model(tmp_path / "handed")
    kept = load_file(tmp_path / "handed" / "model.safetensors")
    expected, found = model.network.state_dict(), again.network.state_dict()
    assert expected.keys() == found.keys()
    assert sum(expected[name].numel() for name in kept) < sum(one.numel() for one in expected.values()) / 2
    for name, tensor in expected.items():
        bound = 0.02 * tensor.abs().max() if eight_bit and name not in kept else 0
        assert (found[name] - tensor).abs().max() <= bound, name
    changed = [
        first.text != second.text
        for first, second in zip(predict(model, dialogues), predict(again, dialogues), strict=True)
    ]
    assert sum(changed) <= (0.1 if eight_bit else 0) * len(changed)


def test_a_graph_that_computes_something_else_is_not_written(model, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "_CLOSE", -1.0)
    with pytest.raises(TrainingError, match="computes something else"):
        export(model, tmp_path / "model", eight_bit=False)
    assert not (tmp_path / "model" / "model.onnx").exists()


def test_predictions_are_those_of_the_rewriter(model, toy_bundle, dialogues):
    from urewrite import Rewriter

    expected = [rewrite.text for rewrite in predict(model, dialogues)]
    assert [result.text for result in Rewriter.from_pretrained(toy_bundle).rewrite_batch(dialogues)] == expected


def test_the_card_of_an_export_is_about_rewriting(toy_run, toy_bundle):
    before, card = ((folder / "README.md").read_text(encoding="utf-8") for folder in (toy_run, toy_bundle))
    assert "urewrite evaluate --model" in before
    assert "curves.png" in before
    assert "urewrite rewrite --model DIR" in card
    assert "urewrite evaluate" not in card
    assert "curves.png" not in card
    assert before.partition("## Trained on")[2].splitlines()[2] in card
