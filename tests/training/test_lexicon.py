"""A network with a lexicon from its training to what users run and train on."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import torch
from safetensors.torch import load_file

from training.running import here, written
from training.toy import CHINESE, toy_settings
from urewrite import Dialogue, Rewriter
from urewrite.bundle import LEXICON, WEIGHTS, read_config, verify_checksums
from urewrite.errors import DataUnavailableError
from urewrite.pipeline import judge_dialogues
from urewrite.rewriter import load_pipeline
from urewrite.training import eight_bits
from urewrite.training.predict import probabilities_of
from urewrite.training.weights import load_model

TERMS = [*dict.fromkeys("".join(CHINESE)), *CHINESE, "知道", "怎么样"]
VECTORS = "context_layer.terms.vectors"
DIALOGUES = [
    Dialogue.of(["你知道北京吗", "知道"], "它好吗"),
    Dialogue.of(["你知道王菲吗", "不知道"], "怎么样"),
    Dialogue.of(["do you know Oslo ?"], "where is it now ?"),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of a few steps with averaged weights, and the vectors its lexicon was given."""
    folder = tmp_path_factory.mktemp("lexicon")
    vectors = np.random.default_rng(1).normal(size=(len(TERMS), 8))
    lines = [f"{term} {' '.join(map(str, row))}\n" for term, row in zip(TERMS, vectors, strict=True)]
    (folder / "vectors.txt").write_text("".join(lines), encoding="utf-8")
    settings = toy_settings(folder, epochs=2, averaging=0.9)
    settings["network"] = {**settings["network"], "lexicon": len(TERMS), "dropout_words": 0.1}
    settings["start"] = {"vectors": str(folder / "vectors.txt")}
    here("train", written(folder, settings), "--folder", folder / "run")
    return folder / "run", torch.tensor(vectors / vectors.std() * 0.3, dtype=torch.float32)


def test_training_and_averaging_leave_the_vectors_as_they_were(trained):
    run, vectors = trained
    kept = load_file(run / WEIGHTS)[VECTORS]
    assert torch.allclose(kept[1:, :8], vectors, atol=1e-6)
    assert not kept[0].any()
    assert not kept[:, 8:].any()
    assert f"with a lexicon of {len(TERMS)} terms" in (run / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("eight_bit", [False, True])
def test_the_graph_is_told_of_terms_too(trained, tmp_path, monkeypatch, eight_bit):
    monkeypatch.setattr(eight_bits, "_SMALL", 100)  # the toy has no weights that are large enough to be packed
    run, _ = trained
    output = tmp_path / "out"
    output.mkdir()
    here("export", run, "--output", output, *(["--int8"] if eight_bit else []))
    verify_checksums(output)
    expected = probabilities_of(load_model(run), DIALOGUES)
    found = judge_dialogues(load_pipeline(output), DIALOGUES)
    for first, second in zip(expected, found, strict=True):
        assert np.abs(first.probabilities - second.probabilities).max() < (0.05 if eight_bit else 1e-5)
    assert VECTORS not in load_file(output / WEIGHTS), "the graph holds them"
    read_back = load_model(output).network.context_layer.terms.vectors
    kept = load_file(run / WEIGHTS)[VECTORS]
    assert torch.allclose(read_back, kept, atol=0.01 if eight_bit else 0)
    Rewriter.from_pretrained(output).save_pretrained(tmp_path / "saved")
    verify_checksums(tmp_path / "saved")
    for folder in (output, tmp_path / "saved"):
        assert (folder / LEXICON).read_text(encoding="utf-8").splitlines() == TERMS
    (tmp_path / "saved" / LEXICON).write_text("北\n", encoding="utf-8")
    with pytest.raises(DataUnavailableError, match=r"lexicon\.txt is damaged"):
        Rewriter.from_pretrained(tmp_path / "saved").rewrite(["你知道北京吗"], "它好吗")


def test_an_export_leaves_nothing_of_another_model(trained, toy_run, tmp_path):
    run, _ = trained
    here("export", run, "--output", tmp_path)
    here("export", toy_run, "--output", tmp_path)
    assert not (tmp_path / LEXICON).exists()
    verify_checksums(tmp_path)


def test_a_model_with_a_lexicon_is_fine_tuned_and_teaches(trained, tmp_path):
    run, _ = trained
    examples = run.parent / "train.jsonl"
    here("finetune", run, examples, "--folder", tmp_path / "mine", "--epochs", 1)
    assert read_config(tmp_path / "mine").network["lexicon"] == len(TERMS)
    settings = {**toy_settings(tmp_path, epochs=1), "teacher": {"model": str(run)}, "name": "pupil"}
    settings["data"]["connection_words"] = 0
    here("train", written(tmp_path, settings), "--folder", tmp_path / "pupil")
    assert not (tmp_path / "pupil" / LEXICON).exists()
    fewer = {**toy_settings(tmp_path, epochs=1), "start": {"model": str(run), "lexicon": len(CHINESE)}, "name": "fewer"}
    del fewer["network"]
    here("train", written(tmp_path, fewer), "--folder", tmp_path / "fewer")
    assert (tmp_path / "fewer" / LEXICON).read_text(encoding="utf-8").splitlines() == TERMS[: len(CHINESE)]
    assert load_file(tmp_path / "fewer" / WEIGHTS)[VECTORS].shape[0] == 1 + len(CHINESE)
