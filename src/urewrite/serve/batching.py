"""Dialogues of many requests that run together: fair to small requests, never on the event loop.

A lane is a queue with a thread. Requests take turns in it, one dialogue each, so that a request of hundreds does not
keep one of a single dialogue waiting. Long dialogues, each of which costs as much as many short ones, have a lane of
their own.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from urewrite.decide import Mode
from urewrite.dialogue import Dialogue
from urewrite.language import Language
from urewrite.rewrite import Origin, Piece, Rewrite
from urewrite.rewriter import Rewriter
from urewrite.serve import metrics

LONG_CELLS = 6_000
"""A grid of more cells goes into the lane for long dialogues."""
MOST_CELLS = 24_000
"""Most cells of a batch, counted as they are computed: all grids as high and as wide as the largest."""
_ROWS_SEEN = 300
"""About what the windows of models hold; longer histories cost no more."""
_LETTERS_A_WORD = 5
_PATIENCE = 1.0
"""Seconds to wait for a batch that is still running when everybody else has gone."""

_LONGEST_RETRY = 30
_CHANGE = 0.1
"""Share of the last batch in what a dialogue is thought to take."""

_logger = logging.getLogger("urewrite.serve")


class Options(NamedTuple):
    """What is asked of the rewriter; dialogues that ask alike are computed together."""

    mode: Mode = "auto"
    threshold: float | None = None
    protect: tuple[str, ...] = ()
    lang: Language | None = None
    keep_grid: bool = False


class Size(NamedTuple):
    """About how large the grid of a dialogue will be."""

    rows: int
    columns: int

    @classmethod
    def of(cls, dialogue: Dialogue) -> Size:
        """Guessed from the number of characters, because to count words would be half the work."""
        rows = 0
        for turn in reversed(dialogue.history):
            rows += _words(turn.text) + 1
            if rows >= _ROWS_SEEN:
                break
        return cls(min(rows, _ROWS_SEEN), _words(dialogue.utterance) + 1)

    @property
    def is_long(self) -> bool:
        """Whether it is for the lane of long dialogues."""
        return self.rows * self.columns > LONG_CELLS


class Done(NamedTuple):
    """A rewrite, with the seconds it waited and those of the run it was part of."""

    rewrite: Rewrite
    waited: float
    computed: float


@dataclass(slots=True)
class _Asked:
    """The dialogues of one request, and what became of them so far."""

    dialogues: Sequence[Dialogue]
    options: Options
    arrived: float
    finished: asyncio.Future[None]
    done: dict[int, Done] = field(default_factory=dict)

    def answer(self, position: int, done: Done) -> None:
        self.done[position] = done
        if len(self.done) == len(self.dialogues) and not self.finished.done():
            self.finished.set_result(None)


class _Item(NamedTuple):
    asked: _Asked
    position: int
    size: Size

    @property
    def dialogue(self) -> Dialogue:
        return self.asked.dialogues[self.position]


@dataclass(slots=True, eq=False)
class _Job:
    """What a request has left to compute in a lane."""

    items: deque[_Item]


class GoneError(Exception):
    """Nobody waits for an answer any more."""


class TooManyWaitingError(Exception):
    """There is no room for more; holds the seconds after which there may be."""

    def __init__(self, retry_seconds: int) -> None:
        super().__init__()
        self.retry_seconds = retry_seconds


Compute = Callable[[Sequence[Dialogue], Options], list[Rewrite]]


class Lane:
    """A queue of requests that take turns, and the thread that computes for them."""

    def __init__(self, name: str, compute: Compute, *, max_batch_size: int, wait_seconds: float) -> None:
        self.waiting = 0
        self.running_since: float | None = None
        self._compute = compute
        self._max_batch_size = max_batch_size
        self._wait_seconds = wait_seconds
        self._jobs: deque[_Job] = deque()
        self._some = asyncio.Event()
        self._enough = asyncio.Event()
        self._expected = 1
        self._seconds_each = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"urewrite-{name}")

    @property
    def seconds_left(self) -> float:
        """About how long those who wait will take."""
        return self.waiting * self._seconds_each

    def add(self, job: _Job) -> None:
        """Let a request wait for its turns."""
        self._jobs.append(job)
        self.waiting += len(job.items)
        self._some.set()
        if self.waiting >= self._expected:
            self._enough.set()

    def drop(self, job: _Job) -> None:
        """Forget what a request has left: nobody waits for it any more."""
        if job.items:
            self.waiting -= len(job.items)
            self._jobs.remove(job)
            job.items.clear()

    async def run(self) -> None:
        """Compute batch after batch, for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await self._some.wait()
            await self._let_gather()
            batch = self._take()
            if not batch:
                continue
            self.running_since = begun = perf_counter()
            try:
                rewrites = await loop.run_in_executor(self._thread, self._compute_all, batch)
            finally:
                self.running_since = None
            computed = perf_counter() - begun
            metrics.note_batch(len(batch), computed)
            self._seconds_each += _CHANGE * (computed / len(batch) - self._seconds_each)
            for item, rewrite in zip(batch, rewrites, strict=True):
                item.asked.answer(item.position, Done(rewrite, begun - item.asked.arrived, computed))

    async def close(self) -> bool:
        """Whether the thread has nothing left to do."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        return self.running_since is None

    async def _let_gather(self) -> None:
        """Wait until as many are there as ran together last time, but not for long.

        Who comes alone is not kept waiting for nobody; those who come together find one another, even though the first
        of them would find the thread idle.
        """
        if self.waiting >= self._expected:
            return
        self._enough.clear()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._enough.wait(), self._wait_seconds)

    def _take(self) -> list[_Item]:
        """The next batch: one dialogue of each request in turn, as long as their grids together are not too large."""
        batch: list[_Item] = []
        rows = columns = 0
        while self._jobs and len(batch) < self._max_batch_size:
            job = self._jobs[0]
            if not job.items:
                self._jobs.popleft()
                continue
            size = job.items[0].size
            rows, columns = max(rows, size.rows), max(columns, size.columns)
            if batch and rows * columns * (len(batch) + 1) > MOST_CELLS:
                break
            batch.append(job.items.popleft())
            self._jobs.rotate(-1)
        self.waiting -= len(batch)
        self._expected = max(1, len(batch))
        if not self._jobs:
            self._some.clear()
        return batch

    def _compute_all(self, batch: Sequence[_Item]) -> list[Rewrite]:
        """In the thread: those that ask alike together. Whatever fails, every utterance comes back."""
        alike: dict[Options, list[int]] = {}
        for position, item in enumerate(batch):
            alike.setdefault(item.asked.options, []).append(position)
        found: dict[int, Rewrite] = {}
        for options, positions in alike.items():
            dialogues = [batch[position].dialogue for position in positions]
            try:
                found.update(zip(positions, self._compute(dialogues, options), strict=True))
            except Exception:
                _logger.exception("a batch failed; its utterances are given back as they are")
                found.update((position, _unchanged(batch[position].dialogue)) for position in positions)
        return [found[position] for position in range(len(batch))]


class Batcher:
    """What requests ask: gives every dialogue its rewrite, in the order given."""

    def __init__(
        self, rewriter: Rewriter, *, max_batch_size: int, wait_seconds: float, max_waiting: int, time_limit: float
    ) -> None:
        def compute(dialogues: Sequence[Dialogue], options: Options) -> list[Rewrite]:
            return rewriter.rewrite_batch(dialogues, batch_size=max_batch_size, **options._asdict())

        self._short, self._long = (
            Lane(name, compute, max_batch_size=max_batch_size, wait_seconds=wait_seconds) for name in ("short", "long")
        )
        self._max_waiting = max_waiting
        self._time_limit = time_limit
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def waiting(self) -> int:
        """Dialogues that no thread has begun with."""
        return self._short.waiting + self._long.waiting

    @property
    def is_stuck(self) -> bool:
        """Whether a batch has been running for longer than any request may take."""
        now = perf_counter()
        return any(
            lane.running_since is not None and now - lane.running_since > self._time_limit
            for lane in (self._short, self._long)
        )

    @property
    def retry_seconds(self) -> int:
        """In how many seconds those who wait now may be done."""
        return min(_LONGEST_RETRY, max(1, math.ceil(self._short.seconds_left + self._long.seconds_left)))

    async def start(self) -> None:
        """Begin to compute."""
        self._tasks = [asyncio.create_task(lane.run()) for lane in (self._short, self._long)]

    async def close(self) -> bool:
        """Stop; whether all threads have stopped, too."""
        patience = perf_counter() + _PATIENCE
        lanes = (self._short, self._long)
        while any(lane.running_since is not None for lane in lanes) and perf_counter() < patience:
            await asyncio.sleep(0.02)
        stopped = [await lane.close() for lane in lanes]
        for task in self._tasks:
            task.cancel()
        return all(stopped)

    async def rewrite(
        self, dialogues: Sequence[Dialogue], options: Options, leaving: asyncio.Future[Any] | None = None
    ) -> list[Done]:
        """Rewrite the dialogues of one request, whose caller does not wait any more once `leaving` is done.

        Raises TooManyWaitingError if there is no room for them, asyncio.TimeoutError if the time limit passes first,
        GoneError if the caller leaves first; what was not begun by then, or when this is cancelled, never is.
        """
        if self.waiting + len(dialogues) > self._max_waiting:
            raise TooManyWaitingError(self.retry_seconds)
        finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asked = _Asked(dialogues, options, perf_counter(), finished)
        jobs: dict[Lane, _Job] = {}
        for position, dialogue in enumerate(dialogues):
            size = Size.of(dialogue)
            job = jobs.setdefault(self._long if size.is_long else self._short, _Job(deque()))
            job.items.append(_Item(asked, position, size))
        for lane, job in jobs.items():
            lane.add(job)
        watched: set[asyncio.Future[Any]] = {finished} if leaving is None else {finished, leaving}
        try:
            await asyncio.wait(watched, timeout=self._time_limit, return_when=asyncio.FIRST_COMPLETED)
            if not finished.done():
                raise GoneError if leaving is not None and leaving.done() else asyncio.TimeoutError
        finally:
            finished.cancel()
            for lane, job in jobs.items():
                lane.drop(job)
        done = [asked.done[position] for position in range(len(dialogues))]
        for one in done:
            metrics.note_rewrite(one.rewrite.reason, one.waited)
        return done


def _unchanged(dialogue: Dialogue) -> Rewrite:
    length = len(dialogue.utterance)
    return Rewrite(
        text=dialogue.utterance,
        utterance=dialogue.utterance,
        edits=(),
        pieces=(Piece(0, length, Origin.UTTERANCE, 0, length),),
        reason="error",
        turns_used=0,
        notes=(*dialogue.skipped, "something failed inside; the log says what"),
    )


def _words(text: str) -> int:
    """About how many tokens a text has: words in Latin letters, characters in others."""
    return len(text) // _LETTERS_A_WORD + 1 if text.isascii() else len(text)
