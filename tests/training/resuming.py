"""Runs that are killed without warning, and what they leave once the same command is given again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

from training.running import finished, start


def assert_goes_on_exactly(folder: Path, *command: object, first: tuple[object, ...] = ()) -> Path:
    """kill -9 in the middle of a command, the same again, in a folder that was moved: the same weights as without.

    Gives the killed run.

    `first` stands in for the command that is killed.
    """
    whole, broken = folder / "whole", folder / "broken"
    finished(start(*command, "--folder", whole))
    # A session of its own, so that the processes a run starts for itself are killed with it.
    _kill_at(broken / "recent.ckpt", start(*(first or command), "--folder", broken, start_new_session=True))
    broken = broken.rename(folder / "moved")
    assert "going on from recent.ckpt" in finished(start(*command, "--folder", broken))
    expected, found = (load_file(run / "model.safetensors") for run in (whole, broken))
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert _epochs(whole) == _epochs(broken)  # the weights that are kept may be from before
    return broken


def _kill_at(checkpoint: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while not checkpoint.is_file() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    _, messages = process.communicate()
    assert process.returncode == -signal.SIGKILL, messages


def _epochs(run: Path) -> list[dict[str, float]]:
    """Losses and metrics of every epoch."""
    epochs: list[dict[str, float]] = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["epochs"]
    return epochs
