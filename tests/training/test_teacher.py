from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import torch
from safetensors.torch import load_file, save_file

from network.encoders import encoder_folder
from training.running import here, written
from training.toy import toy_settings
from urewrite.bundle import read_config
from urewrite.errors import BadInputError
from urewrite.training.data import derive_gold, load_examples
from urewrite.training.fit import train
from urewrite.training.loss import grid_loss, taught_loss
from urewrite.training.settings import check_settings
from urewrite.training.teacher import ask_teachers


def test_a_teacher_that_is_sure_is_as_good_as_labels():
    torch.manual_seed(0)
    logits = torch.randn(2, 3, 4, 5, requires_grad=True)
    labels = torch.randint(0, 3, (2, 4, 5))
    labels[1, 3:] = -1
    taught = torch.nn.functional.one_hot(labels.clamp_min(0), 3).permute(0, 3, 1, 2).float() * (labels >= 0).unsqueeze(
        1
    )
    weights = torch.tensor([0.2, 0.3, 0.5])
    assert torch.allclose(taught_loss(logits, taught, weights), grid_loss(logits, labels, weights))


def test_a_pupil_learns_from_its_teacher_alone(tmp_path, toy_run):
    """Labels that say nothing is ever edited are of no weight beside the teacher."""
    settings = toy_settings(tmp_path, epochs=14)
    corpus = tmp_path / "train.jsonl"
    records = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    corpus.write_text("".join(json.dumps({**r, "rewrite": r["utterance"]}) + "\n" for r in records), encoding="utf-8")
    settings["teacher"] = {"model": str(toy_run), "weight": 1.0}
    messages = here("train", written(tmp_path, settings), "--folder", tmp_path / "run")
    assert f"asking {toy_run.name} about" in messages
    assert float(messages.split("best em: ")[1].split()[0]) >= 90


@pytest.mark.parametrize("place", ["{}", "~"])
def test_a_teacher_that_lays_out_otherwise_is_refused(home, toy_run, place):
    (home / "teacher").symlink_to(toy_run)
    settings = toy_settings(home)
    settings["data"]["most_rows"] = 8
    settings["teacher"] = {"model": f"{place.format(home)}/teacher"}
    with pytest.raises(BadInputError, match=r"data\.most_rows") as caught:
        train(check_settings(settings), home / "run", notify=print)
    assert caught.value.field == "teacher.model"


def test_a_start_with_other_connection_words_than_the_teacher_is_refused(home, toy_run):
    shutil.copytree(toy_run, home / "other")
    config = json.loads((home / "other" / "config.json").read_text(encoding="utf-8"))
    config["connection_words"]["leading"] = ["besides"]
    (home / "other" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    settings = {**toy_settings(home), "teacher": {"model": str(toy_run)}, "start": {"model": str(home / "other")}}
    with pytest.raises(BadInputError, match="connection words") as caught:
        train(check_settings(settings), home / "run", notify=print)
    assert caught.value.field == "teacher.model"


def test_of_several_teachers_the_mean_is_taken(home, toy_run):
    """A second one that is sure of the opposite everywhere leaves half of what the first says."""
    contrary = home / "contrary"
    shutil.copytree(toy_run, contrary)
    weights = load_file(contrary / "model.safetensors")
    name = "segmentation_layer.classify.weight"
    weights[name] = torch.zeros_like(weights[name])
    weights["segmentation_layer.classify.bias"] = torch.tensor([50.0, 0.0, 0.0])
    save_file(weights, contrary / "model.safetensors")
    data = check_settings(toy_settings(home)).data
    examples = load_examples(data, seed=1, mirror=None, notify=print)
    gold = derive_gold(examples.train[:20], read_config(toy_run).connection_words, data, lambda given: given)
    alone, both = (ask_teachers(folders, gold, torch.float32, print) for folders in ([toy_run], [toy_run, contrary]))
    for one, mean in zip(alone, both, strict=True):
        assert np.allclose(mean[1:], one[1:] / 2, atol=1e-3)
        assert np.allclose(mean[0], (one[0] + 1) / 2, atol=1e-3)
    assert max(one[1:].max() for one in alone) > 0.5


def test_an_encoder_learns_and_teaches_with_the_products_asked_for(tmp_path):
    (tmp_path / "encoder").mkdir()
    encoder = {"model": str(encoder_folder("bert", tmp_path / "encoder"))}
    weights = {}
    for precision in ("float32", "bfloat16"):
        document = toy_settings(tmp_path, epochs=1, encoder_precision=precision)
        document["network"] |= {"encoder": encoder}
        document["data"]["examples"] = 120
        here("train", written(tmp_path, document), "--folder", tmp_path / precision)
        weights[precision] = load_file(tmp_path / precision / "model.safetensors")
    apart = [(one - weights["bfloat16"][name]).abs().max().item() for name, one in weights["float32"].items()]
    assert max(apart) > 0
    data = check_settings(document).data
    examples = load_examples(data, seed=1, mirror=None, notify=print)
    words = read_config(tmp_path / "float32").connection_words
    gold = derive_gold(examples.train[:20], words, data, lambda given: given)
    said = [ask_teachers([tmp_path / "float32"], gold, one, print) for one in (torch.float32, torch.bfloat16)]
    apart = [float(np.abs(one.astype(float) - other).max()) for one, other in zip(*said, strict=True)]
    assert 0 < max(apart) < 0.1
