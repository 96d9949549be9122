"""Latency and throughput of all models and their contestants, taking turns in one run, so that ratios are fair."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from benchmarks.speed_operations import OperationCounter, Peak
from benchmarks.speed_subjects import FLOAT, SHIPPED, TORCH, Row, Subject, checked, pipelines, spread, warmed

from urewrite import Rewriter
from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Probabilities
from urewrite.pipeline import Pipeline, Run, RunsSideBySide
from urewrite.prepare import GridArrays
from urewrite.prepare.arrays import NOWHERE, padded
from urewrite.pretrained import graph_of

Dialogues = Mapping[str, Sequence[Dialogue]]
"""By corpus."""

BLOCK = 20
"""Dialogues a contestant rewrites before the next one's turn: enough to find its weights in the cache."""

REST_SECONDS = 0.3
"""Before another library's turn: threads that wait for more work keep a core busy for a while."""


@dataclass
class Contestant:
    """A model in one of its forms, with what it was measured to take."""

    subject: Subject
    kind: str
    pipeline: Pipeline
    dialogues: Sequence[Dialogue]
    rounds: list[list[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rewriter = warmed(Rewriter.of(self.pipeline), self.dialogues[:BLOCK])


class Recorder:
    """A run that keeps the batches it is given."""

    def __init__(self, run: Run) -> None:
        self.batches: list[GridArrays] = []
        self._run = run

    def __call__(self, arrays: GridArrays) -> Probabilities:
        self.batches.append(arrays)
        return self._run(arrays)


def contestants(subjects: Sequence[Subject], dialogues: Dialogues, threads: int | None) -> list[Contestant]:
    return [
        Contestant(subject, kind, pipeline, dialogues[subject.corpus])
        for subject in subjects
        for kind, pipeline in pipelines(subject, threads).items()
    ]


def latency(subjects: Sequence[Subject], dialogues: Dialogues, rounds: int) -> Row:
    """Milliseconds of `rewrite` for one dialogue on one thread."""
    entered = contestants(subjects, dialogues, threads=1)
    time_alone(entered, rounds)
    return {"threads": 1, "rounds": rounds, "rows": [_latency_row(one, entered) for one in entered]}


def time_alone(entered: Sequence[Contestant], rounds: int) -> None:
    """Let all contestants rewrite their dialogues one by one, taking turns."""
    longest = max(len(one.dialogues) for one in entered)
    for number in range(rounds):
        for one in entered:
            one.rounds.append([])
        for start in range(0, longest, BLOCK):
            first = (number + start // BLOCK) % len(entered)
            for one in (*entered[first:], *entered[:first]):
                one.rounds[-1] += _timed_alone(one.rewriter, one.dialogues[start : start + BLOCK])
        print(f"latency: round {number + 1} of {rounds}")


def _timed_alone(rewriter: Rewriter, dialogues: Sequence[Dialogue]) -> list[float]:
    taken = []
    for dialogue in dialogues:
        start = time.perf_counter()
        result = rewriter.rewrite(dialogue.history, dialogue.utterance)
        taken.append(time.perf_counter() - start)
        checked([result])
    return taken


def _latency_row(one: Contestant, entered: Sequence[Contestant]) -> Row:
    medians = medians_of(one)
    row = {
        "model": one.subject.name,
        "kind": one.kind,
        "corpus": one.subject.corpus,
        "dialogues": len(one.dialogues),
        "p50 ms": spread([1000 * value for value in medians]),
        "p95 ms": spread([1000 * float(np.quantile(taken, 0.95)) for taken in one.rounds]),
        "mean ms": spread([1000 * float(np.mean(taken)) for taken in one.rounds]),
    }
    eager = _other(one, entered, TORCH)
    if eager is not None and one.kind != TORCH:
        row["times PyTorch"] = spread([slow / fast for slow, fast in zip(medians_of(eager), medians, strict=True)])
    return row


def medians_of(one: Contestant) -> list[float]:
    """Of every round, the median of what a dialogue took."""
    return [float(np.median(taken)) for taken in one.rounds]


def _other(one: Contestant, entered: Sequence[Contestant], kind: str) -> Contestant | None:
    """The same model in another form."""
    return next((other for other in entered if other.subject is one.subject and other.kind == kind), None)


@dataclass
class Together(Contestant):
    """A contestant that rewrites many dialogues at once; what concerns the graph is empty for PyTorch."""

    batches: list[GridArrays] = field(default_factory=list)
    operations: Mapping[str, int] = field(default_factory=dict)
    needed: int = 0
    """Operations that the dialogues would take one by one, without padding to the size of others."""
    seconds: list[float] = field(default_factory=list)
    graph_seconds: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        folder = {SHIPPED: self.subject.folder, FLOAT: self.subject.float_folder}.get(self.kind)
        if folder is not None:
            recorder = Recorder(self.pipeline.run)
            checked(Rewriter.of(replace(self.pipeline, run=recorder)).rewrite_batch(self.dialogues))
            self.batches = recorder.batches
            counter = OperationCounter(graph_of(folder))
            self.operations = counter.count(self.batches)
            self.needed = counter.count([one for batch in self.batches for one in singly(batch)]).total()

    def measure(self) -> None:
        start = time.perf_counter()
        results = self.rewriter.rewrite_batch(self.dialogues)
        self.seconds.append(time.perf_counter() - start)
        checked(results)
        if not self.batches:
            return
        start = time.perf_counter()
        run: object = self.pipeline.run
        assert isinstance(run, RunsSideBySide)
        for _ in run.each(self.batches):
            pass
        self.graph_seconds.append(time.perf_counter() - start)


def throughput(subjects: Sequence[Subject], dialogues: Dialogues, rounds: int) -> Row:
    """Dialogues a second of `rewrite_batch` on all cores, and the share of the machine's peak that this takes.

    The peak is measured anew before each turn, and the higher one of the two libraries counts.
    """
    entered = [
        Together(subject, kind, pipeline, dialogues[subject.corpus])
        for subject in subjects
        for kind, pipeline in pipelines(subject, threads=None).items()
    ]
    peak = Peak()
    peaks: dict[str, list[float]] = {}
    for number in range(rounds):
        for one in entered[number % len(entered) :] + entered[: number % len(entered)]:
            found = peak.measure(_rest)
            for library, rate in found.items():
                peaks.setdefault(library, []).append(rate)
            one.peaks.append(max(found.values()))
            _rest()
            one.measure()
        print(f"throughput: round {number + 1} of {rounds}")
    return {
        "rounds": rounds,
        "peak GFLOP/s": {library: spread([rate / 1e9 for rate in rates]) for library, rates in peaks.items()},
        "rows": [_throughput_row(one, entered) for one in entered],
    }


def singly(batch: GridArrays) -> list[GridArrays]:
    """The dialogues of a batch, each as a batch of its own."""
    found = []
    for place, (height, width) in enumerate(zip(batch.heights.tolist(), batch.widths.tolist(), strict=True)):
        here = slice(place, place + 1)
        owners = None if batch.owners is None else batch.owners[here]
        length = height + width if owners is None else int((owners != NOWHERE).sum())
        found.append(
            GridArrays(
                batch.ids[here, :length],
                None if owners is None else owners[:, :length],
                batch.heights[here],
                batch.widths[here],
                batch.match[here, : padded(height), : padded(width)],
                None if batch.terms is None else batch.terms[here, :length],
            )
        )
    return found


def _rest() -> None:
    time.sleep(REST_SECONDS)


def _throughput_row(one: Together, entered: Sequence[Together]) -> Row:
    amount = len(one.dialogues)
    row: Row = {
        "model": one.subject.name,
        "kind": one.kind,
        "corpus": one.subject.corpus,
        "dialogues": amount,
        "dialogues a second": spread([amount / seconds for seconds in one.seconds]),
    }
    if one.batches:
        row |= _peak_figures(one)
    eager = _other(one, entered, TORCH)
    if isinstance(eager, Together) and one.kind != TORCH:
        row["times PyTorch"] = spread([slow / fast for slow, fast in zip(eager.seconds, one.seconds, strict=True)])
    return row


def _peak_figures(one: Together) -> Row:
    operations = sum(one.operations.values())
    cells = sum(int((batch.heights * batch.widths).sum()) for batch in one.batches)

    def share(counted: int, taken: Sequence[float]) -> Row:
        return spread([100 * counted / seconds / peak for seconds, peak in zip(taken, one.peaks, strict=True)])

    return {
        "graph alone, dialogues a second": spread([len(one.dialogues) / seconds for seconds in one.graph_seconds]),
        "padded cells for each real one": round(sum(batch.match.size for batch in one.batches) / cells, 3),
        "MFLOP a dialogue": round(operations / len(one.dialogues) / 1e6, 2),
        "MFLOP a dialogue, unpadded": round(one.needed / len(one.dialogues) / 1e6, 2),
        "of these by node %": {
            kind: round(100 * count / operations, 1) for kind, count in sorted(one.operations.items())
        },
        "share of the peak %": share(operations, one.seconds),
        "unpadded, share of the peak %": share(one.needed, one.seconds),
        "graph alone, share of the peak %": share(operations, one.graph_seconds),
    }
