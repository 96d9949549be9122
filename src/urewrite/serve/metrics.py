"""What is counted, for Prometheus. Workers write into files of one folder, and whoever is asked adds them up."""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from urewrite.serve.settings import METRICS_FOLDER

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)

_requests = Counter("urewrite_requests", "Requests answered, by route and status.", ["route", "status"])
_request_seconds = Histogram("urewrite_request_seconds", "Time to an answer.", ["route"], buckets=_SECONDS)
_in_flight = Gauge("urewrite_requests_in_flight", "Requests at work.", multiprocess_mode="livesum")
_rejected = Counter("urewrite_requests_rejected", "Requests answered 503, by cause.", ["cause"])
_rewrites = Counter("urewrite_rewrites", "Dialogues answered, by reason.", ["reason"])
_failures = Counter("urewrite_model_failures", "Dialogues whose utterance was given back because the model failed.")
_waited = Histogram("urewrite_queue_seconds", "Time a dialogue waited to be computed.", buckets=_SECONDS)
_batch_size = Histogram("urewrite_batch_size", "Dialogues computed together.", buckets=(1, 2, 4, 8, 16, 32, 64, 128))
_batch_seconds = Histogram("urewrite_batch_seconds", "Time to compute a batch.", buckets=_SECONDS)
_prompts = Counter("urewrite_chat_prompts", "Chat completions, by the prompt that was recognised.", ["prompt"])


def note_request(route: str, status: int, seconds: float) -> None:
    """A request that was answered."""
    _requests.labels(route, str(status)).inc()
    _request_seconds.labels(route).observe(seconds)


def note_in_flight(change: int) -> None:
    """A request that was taken on (1) or finished (-1)."""
    _in_flight.inc(change)


def note_rejected(cause: str) -> None:
    """A request that was turned away."""
    _rejected.labels(cause).inc()


def note_rewrite(reason: str | None, waited: float) -> None:
    """A dialogue that was answered."""
    _rewrites.labels(str(reason)).inc()
    _waited.observe(waited)
    if reason == "error":
        _failures.inc()


def note_batch(size: int, seconds: float) -> None:
    """Dialogues that were computed together."""
    _batch_size.observe(size)
    _batch_seconds.observe(seconds)


def note_prompt(prompt: str) -> None:
    """How a chat completion was understood."""
    _prompts.labels(prompt).inc()


def exposition() -> bytes:
    """All counts of all workers, as Prometheus reads them."""
    folder = os.environ.get(METRICS_FOLDER)
    if folder is None:
        return generate_latest(REGISTRY)
    _forget_the_dead(Path(folder))
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _forget_the_dead(folder: Path) -> None:
    """A worker that was killed has nothing at work any more; what it counted stays."""
    for path in folder.glob("gauge_live*.db"):
        process = path.stem.rpartition("_")[2]
        if process.isdecimal() and not _lives(int(process)):
            mark_process_dead(int(process), str(folder))  # type: ignore[no-untyped-call]


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True
