"""Who may call, and what browsers are told."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from urewrite.serve.problems import Problem

GUARDED = ("/v1/", "/metrics")
"""What needs a key, if there are any; how the server is and what the page looks like is no secret."""
_SCHEME = "bearer "

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class SecurityHeaders:
    """Tells browsers to load, frame and guess nothing; an answer is kept by nobody unless it says otherwise."""

    def __init__(self, app: ASGIApp, *, shared: bool) -> None:
        self._app = app
        told = {**HEADERS, "cross-origin-resource-policy": "cross-origin" if shared else "same-origin"}
        self._headers = [(name.encode(), value.encode()) for name, value in told.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                headers += self._headers
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
            await send(message)

        await self._app(scope, receive, sending if scope["type"] == "http" else send)


class KeyGuard:
    """Asks for one of the keys, as `Authorization: Bearer KEY` or `X-API-Key: KEY`."""

    def __init__(self, app: ASGIApp, *, keys: Sequence[str]) -> None:
        self._app = app
        self._digests = [_digest(key) for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and scope["path"].startswith(GUARDED) and not self._knows(Headers(scope=scope)):
            refusal = Problem(
                401,
                "invalid_api_key",
                "a valid API key is needed, as the header Authorization: Bearer KEY",
                headers={"www-authenticate": "Bearer"},
            )
            await refusal.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        """Every key is compared, and every comparison takes as long, so that time tells nothing about any."""
        given = headers.get("authorization", "")
        key = (
            given[len(_SCHEME) :].strip() if given[: len(_SCHEME)].lower() == _SCHEME else headers.get("x-api-key", "")
        )
        digest = _digest(key)
        known = False
        for other in self._digests:
            known |= hmac.compare_digest(digest, other)
        return known


def _digest(key: str) -> bytes:
    """Of one length whatever the key's."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
