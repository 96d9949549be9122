from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import torch
import yaml
from safetensors.torch import load_file

from network.encoders import encoder_folder
from training.resuming import assert_goes_on_exactly
from training.running import finished, here, start, written
from training.toy import toy_settings
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.network.settings import NetworkSettings
from urewrite.training.checkpoints import Best, StopAfter, TimeIsOverError, WholeCheckpoints
from urewrite.training.fit import train
from urewrite.training.module import RewritingModule
from urewrite.training.settings import check_settings, load_settings, past_settings
from urewrite.training.weights import load_model, write_weights


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"nonsense": 1}, "nonsense"),
        ({"name": "a b"}, "name"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"data": {}}, "data.corpus"),
        ({"data": {"corpus": "rewrite", "labels": "other"}}, "data.labels"),
        ({"network": {"similarities": ["elementwise", "smell"]}}, "network.similarities.1"),
        ({"optimiser": {"learning_rate": "fast"}}, "optimiser.learning_rate"),
        ({"optimiser": {"monitor": "em_and_luck"}}, "optimiser.monitor"),
        ({"optimiser": {"class_weights": [0.2, -0.4, 0.4]}}, "optimiser.class_weights.1"),
        ({"optimiser": {"class_weights": [0, 0, 0]}}, "optimiser.class_weights.0"),
        ({"optimiser": {"loss": "focal"}}, "optimiser.loss"),
        ({"optimiser": {"label_smoothing": 0.1}}, "optimiser.label_smoothing"),
        ({"optimiser": {"neighbours": 0.5}}, "optimiser.neighbours"),
        ({"network": {"lexicon": 9}}, "network.lexicon"),
        ({"network": {"lexicon": 9, "encoder": {"model": "m"}}}, "network.lexicon"),
        ({"start": {"vectors": "v"}, "network": {"encoder": {"model": "m"}}}, "start.vectors"),
        ({"start": {"vectors": "v", "model": "en"}}, "start.vectors"),
        ({"start": {"hidden": 8}}, "start.hidden"),
        ({"start": {"layers": 2}}, "start.layers"),
        ({"start": {"lexicon": 2}}, "start.lexicon"),
        ({"start": {"only_context": True}}, "start.only_context"),
        ({"data": {"corpus": ["rewrite", "rewrites"]}}, "data.corpus"),
        ({"data": {"corpus": "rewrites:validation"}}, "data.corpus"),
        ({"data": {"corpus": "rewrite", "validation": "rewrite:dev"}}, "data.validation"),
    ],
)
def test_mistakes_name_the_key(tmp_path, change, key):
    path = written(tmp_path, {"name": "x", "data": {"corpus": "rewrite"}, **change})
    with pytest.raises(BadInputError) as caught:
        load_settings(path)
    assert caught.value.field == key
    assert caught.value.file == str(path)


def test_files_of_earlier_runs_name_settings_that_are_gone(tmp_path):
    given = {"name": "x", "data": {"corpus": "rewrite"}}
    as_now = {"loss": "cross-entropy", "label_smoothing": 0.0, "batch_size": 3}
    path = written(tmp_path, {**given, "optimiser": as_now})
    assert load_settings(path) == check_settings({**given, "optimiser": {"batch_size": 3}})
    assert past_settings(path) == load_settings(path).model_dump(mode="json")
    path = written(tmp_path, {**given, "optimiser": {**as_now, "loss": "dice"}})
    with pytest.raises(BadInputError, match="did not pay"):
        load_settings(path)
    past = past_settings(path)
    assert past["optimiser"].pop("loss") == "dice"
    assert past == check_settings({**given, "optimiser": {"batch_size": 3}}).model_dump(mode="json")


@pytest.mark.parametrize("text", ["a: [", "- 1", ""])
def test_what_is_no_settings_file_is_said(tmp_path, text):
    with pytest.raises(BadInputError, match=r"settings\.yaml"):
        load_settings(written(tmp_path, text))
    with pytest.raises(BadInputError, match="cannot be read"):
        load_settings(tmp_path / "missing.yaml")


def test_a_toy_corpus_is_learned_in_less_than_a_minute(tmp_path):
    began = time.monotonic()
    messages = finished(start("train", written(tmp_path, toy_settings(tmp_path)), "--folder", tmp_path / "run"))
    assert time.monotonic() - began < 60
    best = float(messages.split("best em: ")[1].split()[0])
    assert best >= 95
    assert {"model.safetensors", "vocabulary.json", "config.json", "README.md", "metrics.json", "settings.yaml"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }


def test_a_killed_run_goes_on_exactly_and_keeps_averaged_weights(tmp_path):
    settings = toy_settings(tmp_path, averaging=0.9)
    settings["network"] |= {"turns": True, "dropout_words": 0.1}
    settings["checkpoint_minutes"] = 0.005
    run = assert_goes_on_exactly(tmp_path, "train", written(tmp_path, settings))
    best = torch.load(run / "best.ckpt", weights_only=False)
    kept = load_file(run / "model.safetensors")
    name = "segmentation_layer.classify.weight"
    assert torch.equal(best["state_dict"][f"network.{name}"], kept[name])
    assert not torch.equal(best["current_model_state"][f"network.{name}"], kept[name])
    assert json.loads((run / "metrics.json").read_text())["best"]["em"] >= 95


def test_a_killed_run_with_an_encoder_goes_on_exactly(tmp_path):
    (tmp_path / "encoder").mkdir()
    settings = toy_settings(tmp_path, epochs=3, monitor="em_and_bleu4", encoder_precision="bfloat16")
    settings["network"]["encoder"] = {"model": str(encoder_folder("bert", tmp_path / "encoder")), "lstm": True}
    settings["checkpoint_minutes"] = 0.005
    run = assert_goes_on_exactly(tmp_path, "train", written(tmp_path, settings))
    found = json.loads((run / "metrics.json").read_text())
    assert found["best"]["epoch"] == max(found["epochs"], key=lambda one: one["em"] + one["bleu4"])["epoch"]


def test_the_best_weights_of_a_moved_run_are_still_known(tmp_path):
    known = Best(tmp_path / "before", "best", monitor="em", mode="max")
    path = f"{known.dirpath}/best.ckpt"
    known.best_model_path = known.kth_best_model_path = path
    known.best_model_score = known.kth_value = torch.tensor(63.0)
    known.best_k_models = {path: torch.tensor(63.0)}
    moved = Best(tmp_path / "after", "best", monitor="em", mode="max")
    moved.load_state_dict(known.state_dict())
    there = str(Path(moved.dirpath) / "best.ckpt")
    assert (moved.best_model_path, moved.kth_best_model_path, [*moved.best_k_models]) == (there, there, [there])
    assert moved.best_model_score == moved.kth_value == 63
    assert moved.state_dict()["monitor"] == "em"


def test_the_loss_of_an_interrupted_epoch_is_that_of_all_its_steps(tmp_path):
    settings = toy_settings(tmp_path, epochs=2)
    settings["data"]["examples"] = 48
    path = written(tmp_path, settings)
    here("train", path, "--folder", tmp_path / "whole")
    for _ in range(2):  # a step each
        here("train", path, "--folder", tmp_path / "broken", "--max-minutes", 0)
    assert "going on from last.ckpt" in here("train", path, "--folder", tmp_path / "broken")
    whole, broken = (json.loads((tmp_path / run / "metrics.json").read_text()) for run in ("whole", "broken"))
    assert len(whole["epochs"]) == 2
    assert whole["epochs"] == broken["epochs"]


def test_a_run_goes_on_with_its_own_settings_only(tmp_path):
    folder = tmp_path / "run"
    begun = toy_settings(tmp_path)
    folder.mkdir()
    (folder / "settings.yaml").write_text(yaml.safe_dump(check_settings(begun).model_dump(mode="json")))
    (folder / "last.ckpt").write_bytes(b"of no interest")
    other = check_settings({**begun, "seed": 2})
    with pytest.raises(BadInputError, match=r"begun with 1, not 2") as caught:
        train(other, folder, notify=lambda _: None)
    assert caught.value.field == "seed"
    assert check_settings(begun) == load_settings(folder / "settings.yaml")


def test_a_finished_run_without_its_checkpoints_is_left_as_it_is(tmp_path, toy_run):
    """Such runs are handed on; nothing could be written anew from them."""
    run, settings = tmp_path / "run", yaml.safe_load((toy_run / "settings.yaml").read_text())
    shutil.copytree(toy_run, run, ignore=shutil.ignore_patterns("*.ckpt", "log", "tensorboard"))
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    assert "nothing to do" in here("train", written(tmp_path, settings), "--folder", run)
    said = here("train", written(tmp_path, {**settings, "seed": 7}), "--folder", run, code=3)
    assert f"begun with {settings['seed']}, not 7" in said
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_run_ends_early_when_nothing_gets_better_and_shows_and_logs_how_it_goes(tmp_path):
    settings = toy_settings(tmp_path, epochs=9, patience=2, learning_rate=1e-9)
    settings["data"]["examples"] = 48
    said = here("train", written(tmp_path, settings), "--folder", tmp_path / "run")
    found = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert len(found["epochs"]) == 3  # the best and two more
    assert found["finished"]
    assert re.search(r"4/4 .*\d\d:\d\d.*\dit/s", said)  # of four batches: how many, how long yet, how fast
    lines = re.findall(r"epoch (\d) of 9, em 0\.00; [\d.]+ steps a second, \d+ minutes left", said)
    assert lines == ["1", "2", "3"]
    (events,) = (tmp_path / "run" / "tensorboard").glob("events.*")
    assert b"validation_loss" in events.read_bytes()
    assert (tmp_path / "run" / "log" / "metrics.csv").read_text().count("\n") > 3


@pytest.mark.parametrize("place", ["{}", "~"])
def test_a_run_does_not_go_where_the_model_it_starts_from_is(home, place):
    settings = check_settings({**toy_settings(home), "start": {"model": f"{place.format(home)}/run"}})
    with pytest.raises(BadInputError, match="choose another folder"):
        train(settings, home / "run", notify=lambda _: None)
    assert not (home / "run").exists()


def test_the_model_to_start_from_may_lie_in_the_home_folder(home):
    settings = check_settings({**toy_settings(home), "start": {"model": "~/first"}})
    with pytest.raises(DataUnavailableError, match=re.escape(f"{home / 'first'} is no model folder")):
        train(settings, home / "run", notify=lambda _: None)


@pytest.mark.parametrize("key", ["start.vectors", "start.model", "teacher.model", "network.encoder.model"])
def test_what_is_not_there_is_said_with_its_key(tmp_path, key):
    path = written(tmp_path, toy_settings(tmp_path))
    said = here("train", path, "--set", f"{key}={tmp_path}/missing", "--folder", tmp_path / "run", code=4)
    assert f"field '{key}': " in said
    assert f"{tmp_path}/missing" in said


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"width": 18}, "width is 16 in start.model"),
        ({"embedding": 24, "hidden": 12}, "hidden is 24 in start.model"),
        ({"encoder": {"model": "m"}}, "encoder.model is None in start.model"),
    ],
)
def test_a_network_that_is_not_that_of_the_model_to_start_from_is_refused(tmp_path, toy_run, other, said):
    settings = check_settings({**toy_settings(tmp_path), "start": {"model": str(toy_run)}, "network": other})
    with pytest.raises(BadInputError, match=said) as caught:
        train(settings, tmp_path / "run", notify=lambda _: None)
    assert caught.value.field == "network"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("hidden", [None, 12])
def test_a_run_tells_of_the_network_it_goes_on_with(tmp_path, toy_run, hidden):
    """It can be resumed by its training file and by what it tells, also if it was begun when it told of defaults."""
    run = tmp_path / "run"
    settings = {**toy_settings(tmp_path), "start": {"model": str(toy_run), "hidden": hidden}}
    real = check_settings(settings).network.model_dump(mode="json") | ({} if hidden is None else {"hidden": hidden})
    del settings["network"]
    path = written(tmp_path, settings)
    here("train", path, "--folder", run, "--max-minutes", 0)
    told = yaml.safe_load((run / "settings.yaml").read_text())
    assert told["network"] == real
    for begun in (real, NetworkSettings().model_dump(mode="json")):
        for resumed_by in (path, tmp_path / "told.yaml"):
            told["network"] = begun
            for place in (run / "settings.yaml", tmp_path / "told.yaml"):
                place.write_text(yaml.safe_dump(told))
            assert "going on from last.ckpt" in here("train", resumed_by, "--folder", run, "--max-minutes", 0)
            assert yaml.safe_load((run / "settings.yaml").read_text())["network"] == real


def test_a_run_on_another_ones_context_layer_keeps_to_its_own_width(tmp_path, toy_run):
    """It can be resumed by its training file and by what it tells, but not with another width."""
    run, settings = tmp_path / "run", toy_settings(tmp_path)
    settings |= {"start": {"model": str(toy_run), "only_context": True}, "network": {"width": 12, "bottleneck": 20}}
    path = written(tmp_path, settings)
    here("train", path, "--folder", run, "--max-minutes", 0)
    told = yaml.safe_load((run / "settings.yaml").read_text())["network"]
    own = toy_settings(tmp_path)["network"]
    assert (told["width"], told["bottleneck"], told["hidden"]) == (12, 20, own["hidden"])
    for resumed_by in (path, run / "settings.yaml"):
        assert "going on from last.ckpt" in here("train", resumed_by, "--folder", run, "--max-minutes", 0)
    said = here("train", path, "--set", "network.width=14", "--folder", run, code=3)
    assert "network.width" in said
    assert "begun with 12, not 14" in said


@pytest.mark.parametrize("batch", [0, 1, 2])
def test_no_checkpoint_is_made_between_an_epoch_and_its_validation(tmp_path, batch):
    """A run that went on from there would leave the validation out."""
    saved = []
    trainer = SimpleNamespace(num_training_batches=3, world_size=1, save_checkpoint=saved.append)
    with pytest.raises(TimeIsOverError) if batch < 2 else nullcontext():
        StopAfter(0, tmp_path / "last.ckpt").on_train_batch_end(trainer, None, None, None, batch)
    assert bool(saved) == (batch < 2)


def test_a_checkpoint_takes_its_place_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "last.ckpt"
    WholeCheckpoints().save_checkpoint({"step": 1}, path)

    def fail(_):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no room"):
        WholeCheckpoints().save_checkpoint({"step": 2}, path)
    assert torch.load(path, weights_only=True) == {"step": 1}
    assert [found.name for found in tmp_path.iterdir()] == ["last.ckpt"]


def test_weights_on_a_full_disk_are_an_error_of_the_system_and_leave_those_before(tmp_path):
    """A limit on the size of files makes the same kind of error as a full disk does."""
    path = tmp_path / "model.safetensors"
    write_weights(path, {"few": torch.ones(2)})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_weights(path, {"many": torch.ones(2000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.errno == errno.EFBIG
    assert load_file(path).keys() == {"few"}
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_a_file_that_overlaps_with_canard_test_is_refused(tmp_path):
    settings = toy_settings(tmp_path)
    shared = {"History": ["Kobe", "Life"], "Question": "x ?", "Question_no": 1, "QuAC_dialog_id": "C_1"}
    (tmp_path / "canard").mkdir()
    rewrite = "where is Kobe now ?"
    (tmp_path / "canard" / "test.json").write_text(json.dumps([{**shared, "Rewrite": rewrite}]), encoding="utf-8")
    flags = ("--folder", tmp_path / "run", "--mirror", tmp_path)
    assert "overlap" in here("train", written(tmp_path, settings), *flags, code=5)


def test_a_loss_that_is_no_number_stops_with_a_sentence(tmp_path):
    path = written(tmp_path, toy_settings(tmp_path, learning_rate=1e30, clip=1e30))
    messages = here("train", path, "--folder", tmp_path / "run", code=1)
    assert "urewrite: error: the loss is" in messages
    assert "; there is no checkpoint yet" in messages
    assert "Traceback" not in messages


def test_a_gradient_that_is_no_number_stops_before_it_spoils_the_weights(tmp_path, monkeypatch):
    settings = toy_settings(tmp_path, epochs=1)
    settings["checkpoint_minutes"] = 1e-6
    settings["data"]["examples"] = 96
    path, run = written(tmp_path, settings), tmp_path / "run"

    def spoil(module):
        if module.global_step == 5:
            module.network.segmentation_layer.classify.bias.grad[1] = float("nan")

    with monkeypatch.context() as patched:
        patched.setattr(RewritingModule, "on_after_backward", spoil)
        messages = here("train", path, "--folder", run, code=1)
    assert "urewrite: error: the size of the gradient is nan at step 5; lower optimiser.learning_rate" in messages
    assert "; recent.ckpt is the last good checkpoint" in messages
    left = torch.load(run / "recent.ckpt", weights_only=False)
    assert left["global_step"] == 5
    assert all(torch.isfinite(tensor).all() for tensor in left["state_dict"].values())
    assert "going on from recent.ckpt" in here("train", path, "--folder", run)
    assert all(torch.isfinite(tensor).all() for tensor in load_file(run / "model.safetensors").values())


def test_gradients_are_clipped(tmp_path):
    """Clipped to nothing, they leave the weights as they were."""
    settings = toy_settings(tmp_path, epochs=1, clip=1e-30, schedule="none")
    settings["data"]["examples"] = 24
    settings["checkpoint_minutes"] = 1e-6
    here("train", written(tmp_path, settings), "--folder", tmp_path / "run")
    state = torch.load(tmp_path / "run" / "recent.ckpt", weights_only=False)["optimizer_states"][0]["state"]
    assert all(moments["exp_avg"].abs().max() <= 1e-30 for moments in state.values())


def test_training_without_its_extra_says_so(tmp_path):
    code = "import sys; sys.modules['lightning'] = None\nfrom urewrite.cli.main import main; main()"
    command = [sys.executable, "-c", code, "train", str(written(tmp_path, toy_settings(tmp_path)))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "urewrite[train]" in result.stderr


def test_the_mean_of_several_models_is_gone_on_from(tmp_path):
    settings = toy_settings(tmp_path, epochs=1)
    settings["data"]["examples"] = 24
    for seed in (1, 2, 3):
        here("train", written(tmp_path, {**settings, "seed": seed}), "--folder", tmp_path / str(seed))
    models = [str(tmp_path / str(seed)) for seed in (1, 2, 3)]
    given = {"data": settings["data"], "name": "mean", "optimiser": {**settings["optimiser"], "learning_rate": 1e-12}}
    start = {"model": models[0], "averaged_with": models[1:]}
    here("train", written(tmp_path, {**given, "start": start}), "--folder", tmp_path / "mean")
    mean = load_file(tmp_path / "mean" / "model.safetensors")
    before = [load_file(Path(model) / "model.safetensors") for model in models]
    learned = [name for name in mean if not name.endswith((".mean", ".variance"))]  # those follow the batches
    assert learned
    for name in learned:
        torch.testing.assert_close(mean[name], sum(weights[name] for weights in before) / 3)
    assert not any(
        torch.equal(mean["context_layer.embedding.weight"], one["context_layer.embedding.weight"]) for one in before
    )
    assert "| averaged with | `2`, `3` |" in (tmp_path / "mean" / "README.md").read_text()


def test_words_are_averaged_whatever_their_numbers(tmp_path):
    settings = toy_settings(tmp_path, epochs=1)
    for name, examples in (("some", 12), ("more", 24)):
        settings["data"]["examples"] = examples
        here("train", written(tmp_path, settings), "--folder", tmp_path / name)
    some, more = (load_model(tmp_path / name) for name in ("some", "more"))
    assert some.preparer.words != more.preparer.words[: len(some.preparer.words)]
    given = {"name": "mean", "data": settings["data"], "optimiser": {"learning_rate": 1e-12, "epochs": 1}}
    start = {"model": str(tmp_path / "more"), "averaged_with": str(tmp_path / "some")}
    here("train", written(tmp_path, {**given, "start": start}), "--folder", tmp_path / "mean")

    def vectors(model):
        return dict(zip(model.preparer.words, model.network.context_layer.embedding.weight, strict=True))

    mine, other, mean = map(vectors, (more, some, load_model(tmp_path / "mean")))
    assert other.keys() < mine.keys() == mean.keys()
    for word, vector in mean.items():
        torch.testing.assert_close(vector, (mine[word] + other.get(word, mine[word])) / 2)


def test_models_that_cannot_be_averaged_are_refused(tmp_path):
    settings = toy_settings(tmp_path, epochs=1)
    settings["data"]["examples"] = 24
    here("train", written(tmp_path, settings), "--folder", tmp_path / "first")
    wider = {**settings, "network": {**settings["network"], "width": 8}}
    here("train", written(tmp_path, wider), "--folder", tmp_path / "wider")
    start = {"model": str(tmp_path / "first"), "averaged_with": str(tmp_path / "wider")}
    path = written(tmp_path, {"name": "mean", "data": settings["data"], "start": start})
    assert "another network" in here("train", path, "--folder", tmp_path / "mean", code=3)
    path = written(tmp_path, {**settings, "start": {"averaged_with": str(tmp_path / "first")}})
    assert "start.averaged_with needs start.model" in here("train", path, "--folder", tmp_path / "mean", code=3)
