"""Several processes, full disks."""

from __future__ import annotations

import json
import resource

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import numpy as np
from safetensors.torch import load_file

from training.resuming import assert_goes_on_exactly
from training.running import finished, start, written
from training.toy import toy_settings

RECORDING = """
import os
from urewrite.cli.main import main
from urewrite.training.module import RewritingModule

step = RewritingModule.training_step

def recorded(self, batch, batch_idx):
    loss = step(self, batch, batch_idx)
    with open(os.path.join(os.path.dirname(__file__), f"losses-{self.global_rank}.txt"), "a") as stream:
        print(loss.item(), len(batch.positions), file=stream)
    return loss

RewritingModule.training_step = recorded
main()
"""


def test_two_processes_learn_the_toy_corpus_together(tmp_path):
    path = written(tmp_path, toy_settings(tmp_path, batch_size=7, epochs=12))  # with fewer steps it is left to chance
    program = tmp_path / "recording.py"
    program.write_text(RECORDING, encoding="utf-8")
    run = tmp_path / "run"
    process = start("train", path, "--folder", run, "--devices", 2, "--strategy", "ddp", "--json", program=program)
    document, messages = process.communicate(timeout=300)
    assert process.returncode == 0, messages
    assert json.loads(document) == {"folder": str(run)}  # one of them speaks
    assert messages.count(" training examples; ") == 1
    assert float(messages.split("best em: ")[1].split()[0]) >= 90
    epochs = json.loads((run / "metrics.json").read_text())["epochs"]
    assert len(epochs) == 12
    steps = -(-480 // 7)  # a step takes one batch, however many share it
    assert epochs[0]["step"] == steps
    halves = [np.loadtxt(tmp_path / f"losses-{process}.txt")[:steps] for process in (0, 1)]
    losses, sizes = np.concatenate(halves).T
    assert sizes.sum() == 480
    assert epochs[0]["train_loss"] == pytest.approx(np.average(losses, weights=sizes), rel=1e-4)


def test_two_processes_stop_in_time(tmp_path):
    flags = ("--folder", tmp_path / "run", "--devices", 2, "--strategy", "ddp", "--max-minutes", 0.02)
    finished(start("train", written(tmp_path, toy_settings(tmp_path)), *flags))
    assert (tmp_path / "run" / "last.ckpt").is_file()


def test_two_killed_processes_go_on_exactly(tmp_path):
    settings = toy_settings(tmp_path, epochs=2)
    settings["checkpoint_minutes"] = 0.005
    assert_goes_on_exactly(tmp_path, "train", written(tmp_path, settings), "--devices", 2, "--strategy", "ddp")


def test_a_run_stops_in_time_survives_a_full_disk_and_goes_on(tmp_path):
    """A limit on the size of files makes the same kind of error as a full disk does."""
    path = written(tmp_path, toy_settings(tmp_path, epochs=3))
    run = tmp_path / "run"
    process = start("train", path, "--folder", run, "--max-minutes", 0.002, "--json")  # before there is a best one
    document, messages = process.communicate(timeout=300)
    assert process.returncode == 0, messages
    assert json.loads(document) == {"folder": str(run)}
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
