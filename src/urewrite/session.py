"""Run: the exported graph in ONNX Runtime, which is all the machinery a user needs."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from urewrite.edits.choose import Probabilities
from urewrite.errors import BadInputError
from urewrite.prepare import GridArrays

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

OUTPUT = "probabilities"
_MOST_SIDE_BY_SIDE = 8
"""Batches computed at once, whose memory adds up."""


class GraphRun:
    """A `Run` of a graph; many threads may call it at once."""

    def __init__(self, path: Path, *, threads: int | None = None) -> None:
        self._path, self._stamp = path, _stamp(path)
        self._cores = threads or cores_at_hand()
        self._session = _session(path, threads)
        self._lone_session = self._session if self._cores == 1 else None  # else made when first needed
        self._lock = threading.Lock()
        self._inputs = tuple(given.name for given in self._session.get_inputs())
        unknown = set(self._inputs) - set(GridArrays._fields)
        if unknown or [given.name for given in self._session.get_outputs()] != [OUTPUT]:
            raise BadInputError("is a graph of something else: its inputs and outputs are not ours", file=path)

    def __call__(self, arrays: GridArrays) -> Probabilities:
        """Probabilities (batch, edit types, rows, columns)."""
        return self._run(self._session, arrays)

    def each(self, batches: Iterable[GridArrays]) -> Iterator[Probabilities]:
        """Many batches in their order, side by side: a core each is put to better use than all cores on one."""
        coming = iter(batches)
        first = list(islice(coming, 2))
        if len(first) < 2 or self._cores == 1:
            yield from map(self, first)
            yield from map(self, coming)
            return
        session = self._session_of_one_core()
        side_by_side = min(self._cores, _MOST_SIDE_BY_SIDE)
        running: deque[Future[Probabilities]] = deque()
        with ThreadPoolExecutor(side_by_side, "urewrite-graph") as pool:
            for arrays in chain(first, coming):
                while len(running) > side_by_side:
                    yield running.popleft().result()
                running.append(pool.submit(self._run, session, arrays))
            while running:
                yield running.popleft().result()

    def _run(self, session: InferenceSession, arrays: GridArrays) -> Probabilities:
        given = arrays._asdict()
        found: Probabilities = session.run([OUTPUT], {name: given[name] for name in self._inputs})[0]
        return np.asarray(found)

    def _session_of_one_core(self) -> InferenceSession:
        with self._lock:
            if self._lone_session is None:  # a file that was replaced since may hold another model
                same = _stamp(self._path) == self._stamp
                self._lone_session = _session(self._path, 1) if same else self._session
            return self._lone_session


def _session(path: Path, threads: int | None) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if threads is not None:
        options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Grids come in many sizes, for which a plan of memory would be made and kept each.
    options.enable_mem_pattern = False
    try:
        session: InferenceSession = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library has a kind for each cause, none of them public
        raise BadInputError(f"is no graph that can be run: {error}", file=path) from error
    return session


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What tells a file from one that took its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def cores_at_hand() -> int:
    """Those this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
