"""Room for so many requests at once; one too many is told so before its body is read."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from urewrite.serve import metrics
from urewrite.serve.batching import Batcher
from urewrite.serve.problems import overloaded


class Admission:
    """Lets only so many requests that compute be at work at once."""

    def __init__(self, app: ASGIApp, *, batcher: Batcher, most: int) -> None:
        self._app = app
        self._batcher = batcher
        self._most = most
        self._at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or turn it away."""
        if scope["type"] != "http" or scope["method"] != "POST":  # all others cost next to nothing
            await self._app(scope, receive, send)
            return
        if self._at_work >= self._most:
            metrics.note_rejected("concurrency")
            problem = overloaded("too_many_requests", "too many requests are at work", self._batcher.retry_seconds)
            await problem.response()(scope, receive, send)
            return
        self._at_work += 1
        metrics.note_in_flight(1)
        try:
            await self._app(scope, receive, send)
        finally:
            self._at_work -= 1
            metrics.note_in_flight(-1)
