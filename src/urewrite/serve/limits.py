"""How much a request may bring: bytes and seconds of its body, turns and characters of its dialogues."""

from __future__ import annotations

from anyio import fail_after
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from urewrite.dialogue import Dialogue
from urewrite.errors import BadInputError
from urewrite.serve.problems import CLOSE, Problem
from urewrite.serve.settings import ServeSettings


class BodyLimit:
    """Reads bodies whole before anybody works with them, as long as they are small, in time, and JSON."""

    def __init__(self, app: ASGIApp, *, most_bytes: int, most_seconds: float) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or say what is wrong with it."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            self._check_headers(Headers(scope=scope))
            with fail_after(self._most_seconds):
                body = await self._read(receive)
        except TimeoutError:
            message = f"the body was not received within {self._most_seconds:g} seconds"
            problem = Problem(408, "body_timeout", message, headers=CLOSE)
        except Problem as found:
            problem = found
        else:
            if body is not None:
                await self._app(scope, _Replay(body, receive), send)
            return
        await problem.response()(scope, receive, send)

    def _check_headers(self, headers: Headers) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            found = "nothing" if not kind else f"{kind!r:.60}"
            message = f"expected the content type application/json, found {found}"
            raise Problem(415, "unsupported_media_type", message)
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Problem(415, "unsupported_encoding", "a body must not be compressed")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > self._most_bytes:
            raise self._too_large()

    async def _read(self, receive: Receive) -> bytes | None:
        """The body; None if its sender has gone."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            size += len(part)
            if size > self._most_bytes:
                raise self._too_large()
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)

    def _too_large(self) -> Problem:
        message = f"a body may have {self._most_bytes:,} bytes"
        return Problem(413, "body_too_large", message, headers=CLOSE)


class _Replay:
    """A body that was read, given once more; after it, only a sender who has gone is news."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """The next message."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def check_dialogue(dialogue: Dialogue, settings: ServeSettings, *, turns: str, numbered: bool = True) -> None:
    """Name the field that is too long: `turns`, or one of them where the caller knows them by number."""
    found = len(dialogue.history)
    if found > settings.max_turns:
        raise BadInputError(f"a history may have {settings.max_turns:,} turns, found {found:,}", field=turns)
    for place, text in enumerate((*(turn.text for turn in dialogue.history), dialogue.utterance)):
        if len(text) > settings.max_turn_chars:
            field = "utterance" if place == found and turns == "history" else f"{turns}[{place}]"
            reason = f"a turn may have {settings.max_turn_chars:,} characters, found {len(text):,}"
            raise BadInputError(reason, field=field if numbered else turns)
