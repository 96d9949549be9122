"""One size of `speed_growth.py`, in a process of its own that loads no more than a user does, so that memory tells.

It reads from stdin what to rewrite and with which model, and prints as JSON what that took.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from urewrite.decide import turns_used
from urewrite.dialogue import Dialogue
from urewrite.edits.grid import Axes
from urewrite.pipeline import Pipeline
from urewrite.rewriter import Rewriter, load_pipeline

LEAST_TIMES = 5
LEAST_SECONDS = 0.5
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def main() -> None:
    asked = json.load(sys.stdin)
    pipeline = load_pipeline(Path(asked["folder"]), threads=1)
    if asked["most_rows"] is not None:
        pipeline = replace(pipeline, config=replace(pipeline.config, most_rows=asked["most_rows"]))
    dialogue = Dialogue.of(asked["history"], asked["utterance"])
    axes = pipeline.lay_out(dialogue)
    rows, columns = axes.shape
    found: dict[str, Any] = {
        "rows": rows,
        "cells": rows * columns,
        "turns used": turns_used(axes),
        "fits": _fits(pipeline, axes),
    }
    if found["fits"] or asked["most_rows"] is None:
        found |= _measured(Rewriter.of(pipeline), dialogue)
    json.dump(found, sys.stdout)


def _measured(rewriter: Rewriter, dialogue: Dialogue) -> dict[str, float]:
    at_rest = _memory("VmRSS")
    _forget_peak()
    rewriter.rewrite(dialogue.history, dialogue.utterance)  # the first one sets things up
    taken: list[float] = []
    while len(taken) < LEAST_TIMES or sum(taken) < LEAST_SECONDS:
        start = time.perf_counter()
        result = rewriter.rewrite(dialogue.history, dialogue.utterance)
        taken.append(time.perf_counter() - start)
        if result.reason == "error":
            raise SystemExit("a rewrite failed; the log says why")
    peak = _memory("VmHWM")
    return {"ms": 1000 * statistics.median(taken), "peak MB": peak, "added MB": peak - at_rest}


def _fits(pipeline: Pipeline, axes: Axes) -> bool:
    """Whether an encoder reads all words; it has only so many positions."""
    owners = pipeline.preparer.prepare(axes).owners
    return owners is None or int(owners[-1]) == sum(axes.shape) - 1


def _memory(name: str) -> float:
    """Resident memory now (VmRSS) or at most (VmHWM).

    The kernel's own figures: `getrusage` would also count what the process was before it became this program, which
    is a copy of its parent. Where there are none, it has to do.
    """
    if not _STATUS.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024


def _forget_peak() -> None:
    """Count the peak from here on, without that of loading; where the kernel lets us."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return


if __name__ == "__main__":
    main()
