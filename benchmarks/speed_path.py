"""Where the time of a rewrite goes, step by step, and how long a first one takes from a cold process."""

from __future__ import annotations

import compileall
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar
from unittest import mock

from benchmarks.speed_contest import Dialogues
from benchmarks.speed_subjects import Row, Subject, checked, spread, warmed

import urewrite
from urewrite import Rewriter
from urewrite.bench import SAMPLES
from urewrite.decide import decide
from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Probabilities
from urewrite.edits.grid import Axes, lay_out
from urewrite.pipeline import Pipeline
from urewrite.prepare import GridArrays, Prepared, Preparer, collate
from urewrite.rewriter import load_pipeline
from urewrite.session import GraphRun

LAYING_OUT, PREPARING, COLLATING, GRAPH, DECIDING, REST = STEPS = (
    "laying out",
    "preparing",
    "collating",
    "graph",
    "deciding",
    "rest",
)
TEXT = (LAYING_OUT, PREPARING, DECIDING)
"""Tokenising, in words and in pieces, and decoding."""

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


Span = tuple[float, float]
"""From when to when, by the clock."""


class Clock:
    """Adds up the processor time of each step, as far as the thread that asks for it does the work.

    It also notes when by the clock texts were worked on, and when any thread computed a graph.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.texts: list[Span] = []
        self.graphs: list[Span] = []

    def around(self, step: str, work: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        """The same work with its time taken."""

        def timed(*given: _Given.args, **named: _Given.kwargs) -> _Result:
            begun, start = time.perf_counter(), time.thread_time()
            result = work(*given, **named)
            self.seconds[step] += time.thread_time() - start
            if step in TEXT:
                self.texts.append((begun, time.perf_counter()))
            return result

        return timed

    def noting_graphs(self, work: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
        """The same work, with when it was done."""

        def noted(*given: _Given.args, **named: _Given.kwargs) -> _Result:
            begun = time.perf_counter()
            result = work(*given, **named)
            self.graphs.append((begun, time.perf_counter()))
            return result

        return noted


def apart(spans: Sequence[Span], others: Sequence[Span]) -> float:
    """How long the spans last, which are one after the other, without the times in which any of the others went on."""
    waiting = sorted(others)
    total, at = 0.0, 0
    for begun, ended in sorted(spans):
        free = begun
        while at < len(waiting) and waiting[at][1] <= begun:
            at += 1
        for start, end in waiting[at:]:
            if start >= ended:
                break
            total += max(0.0, start - free)
            free = max(free, end)
        total += max(0.0, ended - free)
    return total


class TimedPreparer:
    """A preparer whose time is taken."""

    def __init__(self, preparer: Preparer, clock: Clock) -> None:
        self._prepare = clock.around(PREPARING, preparer.prepare)

    def prepare(self, axes: Axes) -> Prepared:
        return self._prepare(axes)


class TimedRun:
    """A run whose time is taken where it works in this thread; `_timed_steps` counts what other threads do."""

    def __init__(self, run: GraphRun, clock: Clock) -> None:
        self._run = clock.around(GRAPH, run)
        self.each = run.each

    def __call__(self, arrays: GridArrays) -> Probabilities:
        return self._run(arrays)


class Taken(NamedTuple):
    """Seconds of processor time of each step and of the rest, and the share of the clock that was spent on texts alone.

    The latter leaves out texts that were worked on while a graph was computed on another core.
    """

    steps: dict[str, float]
    texts_alone: float


def shares(subjects: Sequence[Subject], alone: Dialogues, together: Dialogues, rounds: int) -> Row:
    """The share of each step in the work of the path that users take, one dialogue at a time and many together."""
    rows = []
    ways = (("alone", 1, alone, _one_by_one), ("together", None, together, _together))
    for how, threads, dialogues, work in ways:
        for subject in subjects:
            loaded = load_pipeline(subject.folder, threads=threads)
            given = dialogues[subject.corpus]
            warmed(Rewriter.of(loaded), given[:20])
            found = [_timed_steps(loaded, given, work) for _ in range(rounds)]
            rows.append({"model": subject.name, "how": how, "dialogues": len(given), **_summary(found)})
        print(f"shares: {how}")
    return {"rounds": rounds, "rows": rows}


def _timed_steps(
    loaded: Pipeline, dialogues: Sequence[Dialogue], work: Callable[[Rewriter, Sequence[Dialogue]], None]
) -> Taken:
    """What a round over the dialogues took; other threads only compute graphs."""
    assert isinstance(loaded.run, GraphRun)
    clock = Clock()
    watched = replace(loaded, preparer=TimedPreparer(loaded.preparer, clock), run=TimedRun(loaded.run, clock))
    with _watched(clock):
        everywhere, here, begun = time.process_time(), time.thread_time(), time.perf_counter()
        work(Rewriter.of(watched), dialogues)
        everywhere, here = time.process_time() - everywhere, time.thread_time() - here
        by_the_clock = time.perf_counter() - begun
    clock.seconds[GRAPH] += everywhere - here
    steps = {**clock.seconds, REST: everywhere - sum(clock.seconds.values())}
    return Taken(steps, 100 * apart(clock.texts, clock.graphs) / by_the_clock)


@contextmanager
def _watched(clock: Clock) -> Iterator[None]:
    """The steps that are functions of the package, replaced by ones whose time is taken."""
    with (
        mock.patch("urewrite.pipeline.lay_out", clock.around(LAYING_OUT, lay_out)),
        mock.patch("urewrite.pipeline.collate", clock.around(COLLATING, collate)),
        mock.patch("urewrite.rewriter.decide", clock.around(DECIDING, decide)),
        mock.patch.object(GraphRun, "_run", clock.noting_graphs(GraphRun._run)),
    ):
        yield


def _one_by_one(one: Rewriter, dialogues: Sequence[Dialogue]) -> None:
    for dialogue in dialogues:
        checked([one.rewrite(dialogue.history, dialogue.utterance)])


def _together(one: Rewriter, dialogues: Sequence[Dialogue]) -> None:
    checked(one.rewrite_batch(dialogues))


def _summary(found: Sequence[Taken]) -> Row:
    totals = [sum(taken.steps.values()) for taken in found]

    def percent(*steps: str) -> Row:
        return spread(
            [100 * sum(one.steps[step] for step in steps) / total for one, total in zip(found, totals, strict=True)]
        )

    return {
        "steps %": {step: percent(step) for step in STEPS},
        "tokenising and decoding %": percent(*TEXT),
        "by the clock %": spread([taken.texts_alone for taken in found]),
    }


def start(subjects: Sequence[Subject], rounds: int) -> Row:
    """Seconds from a cold process: the interpreter by itself, imports, and the whole command for each model."""
    compileall.compile_dir(Path(urewrite.__file__).parent, quiet=1)  # as pip leaves it
    commands = {"python": [sys.executable, "-c", "pass"]} | {subject.name: _command(subject) for subject in subjects}
    whole: dict[str, list[float]] = {name: [] for name in commands}
    imports: dict[str, list[float]] = {name: [] for name in ("urewrite", "urewrite.cli.main, urewrite.cli.rewrite")}
    for _ in range(rounds):
        for name, command in commands.items():
            begun = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            whole[name].append(time.perf_counter() - begun)
        for module, taken in imports.items():
            taken.append(_import_seconds(module))
    return {
        "rounds": rounds,
        "python alone, seconds": spread(whole.pop("python")),
        "import, seconds": {module: spread(taken) for module, taken in imports.items()},
        "urewrite rewrite, seconds": {name: spread(taken) for name, taken in whole.items()},
    }


def _command(subject: Subject) -> list[str]:
    dialogue = SAMPLES[subject.language][0]
    history = [part for turn in dialogue.history for part in ("-H", turn.text)]
    return [sys.executable, "-m", "urewrite", "rewrite", "--model", subject.given, *history, dialogue.utterance]


def _import_seconds(module: str) -> float:
    code = f"import time; begun = time.perf_counter(); import {module}; print(time.perf_counter() - begun)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)
