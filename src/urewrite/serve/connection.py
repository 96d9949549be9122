"""HTTP as uvicorn speaks it, for people who may be hostile: headers may take so many bytes, and so many seconds."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

MOST_HEADER_BYTES = 64 * 1024
"""All of a request that is not its body: the first line, headers, trailers, the sizes of chunks."""

_LAST_CALL_SECONDS = 0.3
"""When the server stops: how long a connection without a request is kept, since one may be under way on it."""

_TOO_LARGE = b"431 Request Header Fields Too Large"
_TOO_SLOW = b"408 Request Timeout"


class GuardedConfig(Config):
    """The configuration of a server whose connections are guarded."""

    header_seconds: float = 10.0
    stopping: bool = False


class GuardedProtocol(HttpToolsProtocol):
    """A connection that neither waits for ever nor stores without end where the application does not watch."""

    config: GuardedConfig

    def __init__(
        self,
        config: GuardedConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._overhead = 0
        self._clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect headers soon."""
        super().connection_made(transport)
        self._start_clock()
        if self.config.stopping:  # it was taken from the queue just before
            self.shutdown()

    def shutdown(self) -> None:
        """Answer what was asked, wait a moment for what may be on its way, and close."""
        self.config.stopping = True
        asked: RequestResponseCycle | None = self.cycle
        if asked is None or asked.response_complete:
            self.loop.call_later(_LAST_CALL_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what is no body."""
        self._overhead += len(data)
        super().data_received(data)
        if self._overhead > MOST_HEADER_BYTES:
            self._refuse(_TOO_LARGE)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._start_clock()

    def on_headers_complete(self) -> None:
        """From here on the application watches the time."""
        self._stop_clock()
        super().on_headers_complete()
        asked: RequestResponseCycle | None = self.cycle
        if self.config.stopping and asked is not None:
            asked.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Bodies have a limit of their own."""
        self._overhead -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The next request counts anew."""
        self._overhead = 0
        self._stop_clock()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Who was answered before the end of the body has to come to that end."""
        if self.cycle.more_body:
            self._start_clock()
        super().on_response_complete()

    def _start_clock(self) -> None:
        if self._clock is None:
            self._clock = self.loop.call_later(self.config.header_seconds, self._refuse, _TOO_SLOW)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _refuse(self, status: bytes) -> None:
        """Said here, because the application has not seen this request, or has answered it already."""
        self._stop_clock()
        if self.transport.is_closing():
            return
        last: RequestResponseCycle | None = self.cycle
        unseen = last is None or (last.response_complete and not last.more_body)
        if unseen and self._overhead:
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()
