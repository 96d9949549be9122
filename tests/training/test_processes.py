"""Several processes, full disks."""

from __future__ import annotations

import csv
import json
import resource

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import numpy as np
from safetensors.torch import load_file

from training.resuming import assert_goes_on_exactly
from training.running import finished, start, written
from training.toy import toy_settings


def test_two_processes_learn_the_toy_corpus_together(tmp_path):
    path = written(tmp_path, toy_settings(tmp_path, batch_size=6, epochs=12))  # with fewer steps it is left to chance
    run = tmp_path / "run"
    process = start("train", path, "--folder", run, "--devices", 2, "--strategy", "ddp", "--json")
    document, messages = process.communicate(timeout=300)
    assert process.returncode == 0, messages
    assert json.loads(document) == {"folder": str(run)}  # one of them speaks
    assert messages.count(" training examples; ") == 1
    assert float(messages.split("best em: ")[1].split()[0]) >= 90
    with (run / "log" / "metrics.csv").open() as lines:
        epochs = [row for row in csv.DictReader(lines) if row["em"]]
    assert len(epochs) == 12
    assert int(epochs[0]["step"]) == 480 // 6 - 1  # a step takes one batch, however many share it


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


def test_the_loss_of_an_epoch_is_that_of_all_processes(tmp_path):
    settings = toy_settings(tmp_path, epochs=1, batch_size=9)
    settings["data"]["examples"] = 96
    program = tmp_path / "recording.py"
    program.write_text(RECORDING, encoding="utf-8")
    flags = ("train", written(tmp_path, settings), "--folder", tmp_path / "run", "--devices", 2, "--strategy", "ddp")
    finished(start(*flags, program=program))
    steps = [np.loadtxt(tmp_path / f"losses-{process}.txt") for process in (0, 1)]
    assert [len(half) for half in steps] == [11, 11]
    losses, sizes = np.concatenate(steps).T
    assert sizes.sum() == 96
    [epoch] = json.loads((tmp_path / "run" / "metrics.json").read_text())["epochs"]
    assert epoch["train_loss"] == pytest.approx(np.average(losses, weights=sizes), rel=1e-4)


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
