from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import torch
import yaml
from safetensors.torch import load_file

from training.toy import toy_settings
from urewrite.dialogue import Dialogue
from urewrite.edits.grid import lay_out
from urewrite.errors import BadInputError
from urewrite.training.batches import OUTSIDE, BucketedBatches, prepare
from urewrite.training.settings import load_settings
from urewrite.training.vocabulary import Vocabulary


def written(folder, document):
    path = folder / "settings.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), encoding="utf-8")
    return path


def start(settings, folder, *arguments):
    code = "from urewrite.cli.main import main; main()"
    command = [sys.executable, "-W", "ignore", "-c", code, "train", str(settings), "--folder", str(folder), *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process):
    _, messages = process.communicate(timeout=300)
    assert process.returncode == 0, messages
    return messages


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"nonsense": 1}, "nonsense"),
        ({"name": "a b"}, "name"),
        ({"seed": -1}, "seed"),
        ({"data": {}}, "data.corpus"),
        ({"data": {"corpus": "rewrite", "labels": "other"}}, "data.labels"),
        ({"network": {"similarities": ["elementwise", "smell"]}}, "network.similarities.1"),
        ({"optimiser": {"learning_rate": "fast"}}, "optimiser.learning_rate"),
    ],
)
def test_mistakes_name_the_key(tmp_path, change, key):
    path = written(tmp_path, {"name": "x", "data": {"corpus": "rewrite"}, **change})
    with pytest.raises(BadInputError) as caught:
        load_settings(path)
    assert caught.value.field == key
    assert caught.value.file == str(path)


@pytest.mark.parametrize("text", ["a: [", "- 1", ""])
def test_what_is_no_settings_file_is_said(tmp_path, text):
    with pytest.raises(BadInputError, match=r"settings\.yaml"):
        load_settings(written(tmp_path, text))
    with pytest.raises(BadInputError, match="cannot be read"):
        load_settings(tmp_path / "missing.yaml")


def items(amount):
    axes = [lay_out(Dialogue.of(["a b c " * (n % 5 + 1)], "x y z " * (n % 3 + 1))) for n in range(amount)]
    vocabulary = Vocabulary.of(axes)
    return [prepare(one, one.empty_grid(), vocabulary) for one in axes]


def test_batches_hold_every_example_once_in_an_order_of_their_own():
    batches = BucketedBatches(items(50), 8, seed=3)
    epochs = [batches.order(epoch) for epoch in (0, 1)]
    assert all(sorted(p for batch in epoch for p in batch) == list(range(50)) for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert BucketedBatches(items(50), 8, seed=3).order(0) == epochs[0]
    assert BucketedBatches(items(50), 8, seed=4).order(0) != epochs[0]
    assert len(batches) == len(epochs[0]) == 7


def test_batches_are_tight_and_mark_what_is_outside():
    for batch in BucketedBatches(items(50), 8, seed=3, steps=lambda: 0):
        rows, columns = batch.labels.shape[1:]
        assert rows % 4 == columns % 4 == 0
        inside = (batch.inputs.context > 0).unsqueeze(2) & (batch.inputs.utterance > 0).unsqueeze(1)
        assert torch.equal(batch.labels == OUTSIDE, ~inside)
        assert inside.any(2).any(0).sum() > rows - 4


@pytest.mark.parametrize("steps", [0, 1, 6, 7, 16])
def test_batches_follow_from_the_steps_taken(steps):
    batches = BucketedBatches(items(50), 8, seed=3, steps=lambda: steps)
    epoch, done = divmod(steps, 7)
    assert [list(batch.positions) for batch in batches] == batches.order(epoch)[done:]


def test_the_vocabulary_is_saved_and_knows_what_it_does_not_know(tmp_path):
    vocabulary = Vocabulary.of([lay_out(Dialogue.of(["a b", "a"], "c"))])
    assert vocabulary.words == ("[PAD]", "[UNK]", "[S]", "[E]", "a", "b", "c")
    assert vocabulary.ids(["a", "zzz", "[S]"]) == [4, 1, 2]
    vocabulary.save(tmp_path / "v.json")
    assert Vocabulary.load(tmp_path / "v.json").words == vocabulary.words
    with pytest.raises(BadInputError):
        Vocabulary(["a"])


def test_a_toy_corpus_is_learned(tmp_path):
    messages = finished(start(written(tmp_path, toy_settings(tmp_path)), tmp_path / "run"))
    best = float(messages.split("best em: ")[1].split()[0])
    assert best >= 95
    assert {"model.safetensors", "vocabulary.json", "connection_words.json", "settings.yaml"} <= {
        path.name for path in (tmp_path / "run").iterdir()
    }


def test_a_killed_run_goes_on_exactly(tmp_path):
    """kill -9 in the middle, the same command again: the same weights as without."""
    settings = toy_settings(tmp_path, epochs=4)
    settings["checkpoint_minutes"] = 0.005
    path = written(tmp_path, settings)
    whole = start(path, tmp_path / "whole")
    finished(whole)
    broken = start(path, tmp_path / "broken")
    checkpoint = tmp_path / "broken" / "recent.ckpt"
    deadline = time.monotonic() + 200
    while not checkpoint.is_file() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    broken.send_signal(signal.SIGKILL)
    broken.communicate()
    assert broken.returncode == -signal.SIGKILL
    messages = finished(start(path, tmp_path / "broken"))
    assert "going on from recent.ckpt" in messages
    expected = load_file(tmp_path / "whole" / "model.safetensors")
    found = load_file(tmp_path / "broken" / "model.safetensors")
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_run_stops_in_time_and_goes_on(tmp_path):
    path = written(tmp_path, toy_settings(tmp_path, epochs=3))
    process = start(path, tmp_path / "run", "--max-minutes", "0.02", "--json")
    document, messages = process.communicate(timeout=300)
    assert process.returncode == 0, messages
    assert json.loads(document) == {"folder": str(tmp_path / "run")}
    assert (tmp_path / "run" / "last.ckpt").is_file()
    assert "going on from last.ckpt" in finished(start(path, tmp_path / "run"))


def test_a_file_that_overlaps_with_canard_test_is_refused(tmp_path):
    settings = toy_settings(tmp_path)
    shared = {"History": ["Kobe", "Life"], "Question": "x ?", "Question_no": 1, "QuAC_dialog_id": "C_1"}
    (tmp_path / "canard").mkdir()
    rewrite = "where is Kobe now ?"
    (tmp_path / "canard" / "test.json").write_text(json.dumps([{**shared, "Rewrite": rewrite}]), encoding="utf-8")
    process = start(written(tmp_path, settings), tmp_path / "run", "--mirror", str(tmp_path))
    _, messages = process.communicate(timeout=200)
    assert process.returncode == 5
    assert "overlap" in messages


def test_a_loss_that_is_no_number_stops_with_a_sentence(tmp_path):
    process = start(written(tmp_path, toy_settings(tmp_path, learning_rate=1e30, clip=1e30)), tmp_path / "run")
    _, messages = process.communicate(timeout=200)
    assert process.returncode == 1
    assert "urewrite: error: the loss is" in messages
    assert "Traceback" not in messages


def test_training_without_its_extra_says_so(tmp_path):
    code = "import sys; sys.modules['lightning'] = None\nfrom urewrite.cli.main import main; main()"
    command = [sys.executable, "-c", code, "train", str(written(tmp_path, toy_settings(tmp_path)))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "urewrite[train]" in result.stderr
