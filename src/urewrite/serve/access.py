"""One line in the log for every request, an id to find it by, and its share of the counts."""

from __future__ import annotations

import logging
import re
import time
import uuid
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from urewrite.serve import metrics

REQUEST_ID = "x-request-id"
GONE = 499
"""What proxies, too, log for a caller that did not wait; nobody receives it."""
_FACTS = "urewrite.facts"
_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)

_access = logging.getLogger("urewrite.access")
_text = logging.getLogger("urewrite.text")


@dataclass(slots=True)
class Facts:
    """What is known of a request while it is at work."""

    request_id: str
    begun: float = field(default_factory=time.perf_counter)
    dialogues: int = 0

    @property
    def seconds(self) -> float:
        """Since it was seen."""
        return time.perf_counter() - self.begun


def facts_of(request: Request) -> Facts:
    """The facts of a request that went through `RequestLog`."""
    found: Facts = request.scope[_FACTS]
    return found


def log_text(facts: Facts, utterance: str, text: str) -> None:
    """Only where the settings ask for it."""
    _text.info("%s %r -> %r", facts.request_id, utterance, text)


class RequestLog:
    """Gives every request an id, counts it, and logs a line once it is answered.

    The line names the route, not the path: whatever people type after the host never gets into a log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        facts = Facts(given if _PLAIN_ID.fullmatch(given) else uuid.uuid4().hex)
        scope[_FACTS] = facts
        status = GONE

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"].append((REQUEST_ID.encode(), facts.request_id.encode()))
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            status = 500
            raise
        finally:
            self._note(scope, facts, status)

    def _note(self, scope: Scope, facts: Facts, status: int) -> None:
        route = getattr(scope.get("route"), "path", None) or "-"
        seconds = facts.seconds
        metrics.note_request(route, status, seconds)
        client = scope.get("client")
        _access.info(
            '%s "%s %s" %d %.1f ms, %d dialogues, request %s',
            client[0] if client else "-",
            scope["method"],
            route,
            status,
            1000 * seconds,
            facts.dialogues,
            facts.request_id,
        )
