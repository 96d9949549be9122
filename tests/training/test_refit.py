from __future__ import annotations

import json

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import torch
from safetensors.torch import load_file

from training.resuming import assert_goes_on_exactly
from training.running import here, written
from training.toy import toy_settings
from urewrite.bundle import read_config
from urewrite.errors import BadInputError
from urewrite.training.data import load_examples
from urewrite.training.settings import DataSettings, check_settings


@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    """A finished run that was best before its last epoch, and its settings."""
    folder = tmp_path_factory.mktemp("chosen")
    settings = toy_settings(folder, epochs=4, averaging=0.9)
    here("train", written(folder, settings), "--folder", folder / "run")
    metrics = json.loads((folder / "run" / "metrics.json").read_text())
    metrics["best"]["epoch"] = 2
    (folder / "run" / "metrics.json").write_text(json.dumps(metrics))
    return settings, folder / "run"


def test_the_second_run_takes_over_what_the_first_chose(chosen, tmp_path):
    settings, first = chosen
    card = (first / "README.md").read_text()
    path = written(tmp_path, {**settings, "name": "all", "refit": str(first), "seed": 2})
    here("train", path, "--folder", tmp_path / "run")
    before, now = read_config(first), read_config(tmp_path / "run")
    assert (now.thresholds, now.calibration) == (before.thresholds, before.calibration)
    assert now.connection_words == before.connection_words
    assert now.trained_on == ("train.jsonl: 480 examples", "validation.jsonl: 60 examples")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["finished"]
    assert [epoch["epoch"] for epoch in metrics["epochs"]] == [1, 2]
    assert all(set(epoch) == {"epoch", "step", "train_loss"} for epoch in metrics["epochs"])
    assert metrics["best"] is metrics["tuned"] is metrics["validation"] is None
    kept = load_file(tmp_path / "run" / "model.safetensors")
    last = torch.load(tmp_path / "run" / "best.ckpt", weights_only=False)
    assert last["global_step"] == 2 * 45
    name = "segmentation_layer.classify.weight"
    assert torch.equal(last["state_dict"][f"network.{name}"], kept[name])
    assert not torch.equal(last["current_model_state"][f"network.{name}"], kept[name])  # averaged
    again = (tmp_path / "run" / "README.md").read_text()
    assert "chosen on `validation.jsonl` by the run `run`" in again
    assert "nothing was measured" in again
    assert "nothing was measured" not in card
    assert (tmp_path / "run" / "curves.png").is_file()
    assert "its model folder is written anew" in here("train", path, "--folder", tmp_path / "run")


def test_the_learning_rate_is_on_its_way_to_the_same_end(chosen, tmp_path):
    settings, first = chosen
    here("train", written(tmp_path, {**settings, "refit": str(first)}), "--folder", tmp_path / "run")
    last = torch.load(tmp_path / "run" / "best.ckpt", weights_only=False)
    schedule = last["lr_schedulers"][0]
    assert schedule["total_steps"] == 4 * 45
    assert 0.3 < schedule["_last_lr"][0] / settings["optimiser"]["learning_rate"] < 0.7


def test_a_killed_one_goes_on_exactly(chosen, tmp_path):
    settings, first = chosen
    settings = {**settings, "refit": str(first), "checkpoint_minutes": 0.005}
    assert_goes_on_exactly(tmp_path, "train", written(tmp_path, settings))


@pytest.mark.parametrize(
    ("change", "said", "code"),
    [
        ({"optimiser": {"learning_rate": 0.02}}, "learning_rate", 3),
        ({"network": {"width": 8}}, "network.width", 3),
        ({"refit": "{first}/nowhere"}, "holds no finished run", 4),
        ({"refit": "{here}"}, "is where the run goes", 3),
    ],
)
def test_what_does_not_fit_is_said(chosen, tmp_path, change, said, code):
    settings, first = chosen
    document = {**settings, "refit": str(first)}
    for key, value in change.items():
        document[key] = {**settings[key], **value} if isinstance(value, dict) else value
    document["refit"] = document["refit"].format(first=first, here=tmp_path / "run")
    (tmp_path / "run").mkdir()
    assert said in here("train", written(tmp_path, document), "--folder", tmp_path / "run", code=code)


def test_one_that_chose_nothing_is_refused(chosen, tmp_path):
    settings, first = chosen
    path = written(tmp_path, {**settings, "refit": str(first)})
    here("train", path, "--folder", tmp_path / "second")
    path = written(tmp_path, {**settings, "refit": str(tmp_path / "second")})
    assert "chose nothing" in here("train", path, "--folder", tmp_path / "third", code=3)


@pytest.mark.parametrize(
    "change", [{"optimiser": {"schedule": "plateau"}}, {"data": {"corpus": "rewrite", "examples": 10}}]
)
def test_what_needs_a_validation_part_or_leaves_out_is_refused(change):
    document = {"name": "x", "data": {"corpus": "rewrite"}, "optimiser": {"schedule": "cosine"}, "refit": "runs/x"}
    check_settings(document)
    with pytest.raises(BadInputError) as caught:
        check_settings({**document, **change})
    assert caught.value.field == "refit"


@pytest.mark.parametrize("apart", [True, False])
def test_of_one_file_nothing_is_kept_back(tmp_path, apart):
    path = tmp_path / "mine.jsonl"
    records = [{"history": [f"a{n}"], "utterance": "it", "rewrite": f"a{n}", "dialogue_id": str(n)} for n in range(50)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    settings = DataSettings(corpus=str(path), unchanged=0.1, topic_changes=0.1)
    found = load_examples(settings, seed=1, mirror=tmp_path, notify=lambda _: None, keep_apart=apart)
    assert bool(found.validation) == bool(found.left_alone) == apart
    own = [example for example in found.train if example.dialogue.utterance == "it"]
    assert len(own) + len(found.validation) == 50


def test_both_versions_of_a_validation_turn_are_learned_from(corpora_dir):
    settings = DataSettings(corpus="task", every_version=True)
    apart, everything = (
        load_examples(settings, seed=1, mirror=corpora_dir, notify=lambda _: None, keep_apart=keep)
        for keep in (True, False)
    )
    more = {example.rewrite for example in apart.validation}
    assert more <= {example.rewrite for example in everything.train}
    assert len(everything.train) > len(apart.train) + len(apart.validation)
