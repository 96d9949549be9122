"""Several processes, full disks."""

from __future__ import annotations

import csv
import json
import resource

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

from safetensors.torch import load_file

from training.running import finished, start, written
from training.toy import toy_settings


def test_two_processes_learn_the_toy_corpus_together(tmp_path):
    path = written(tmp_path, toy_settings(tmp_path, batch_size=6))  # with larger ones there are too few steps
    run = tmp_path / "run"
    process = start("train", path, "--folder", run, "--devices", 2, "--strategy", "ddp", "--json")
    document, messages = process.communicate(timeout=300)
    assert process.returncode == 0, messages
    assert json.loads(document) == {"folder": str(run)}  # one of them speaks
    assert messages.count(" training examples, ") == 1
    assert float(messages.split("best em: ")[1].split()[0]) >= 90
    with (run / "log" / "metrics.csv").open() as lines:
        epochs = [row for row in csv.DictReader(lines) if row["em"]]
    assert len(epochs) == 8
    assert int(epochs[0]["step"]) == 480 // 6 - 1  # a step takes one batch, however many share it


def test_two_processes_stop_in_time_and_go_on(tmp_path):
    path = written(tmp_path, toy_settings(tmp_path, epochs=3))
    flags = ("train", path, "--folder", tmp_path / "run", "--devices", 2, "--strategy", "ddp")
    finished(start(*flags, "--max-minutes", 0.02))
    assert (tmp_path / "run" / "last.ckpt").is_file()
    assert "going on from last.ckpt" in finished(start(*flags))


def test_a_full_disk_leaves_the_last_checkpoint_whole(tmp_path):
    """A limit on the size of files makes the same kind of error as a full disk does."""
    settings = toy_settings(tmp_path, epochs=3)
    path = written(tmp_path, settings)
    run = tmp_path / "run"
    finished(start("train", path, "--folder", run, "--max-minutes", 0.03))
    checkpoint = run / "last.ckpt"
    before = checkpoint.read_bytes()
    size = len(before) // 2
    process = start(
        *("train", path, "--folder", run),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    messages = finished(process, code=1)
    assert "urewrite: error: no room to write in" in messages
    assert "last.ckpt is whole" in messages
    assert "Traceback" not in messages
    assert checkpoint.read_bytes() == before
    assert "going on from last.ckpt" in finished(start("train", path, "--folder", run))
    assert load_file(run / "model.safetensors")
