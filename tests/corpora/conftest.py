"""A real HTTP server that can be told to misbehave."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Served:
    """A file on the server, and how its requests are answered; `statuses` are given out first, one a request."""

    content: bytes
    statuses: list[int] = field(default_factory=list)
    ranges: bool = True
    break_after: list[int] = field(default_factory=list)
    send_length: bool = True
    stall: list[float] = field(default_factory=list)
    drip: float = 0.0
    wrong_range: bool = False
    raw: bytes = b""
    """Sent as it is in place of an answer."""


@dataclass
class Server:
    url: str
    files: dict[str, Served]
    requests: list[tuple[str, str | None]]

    def serve(self, path: str, content: bytes, **behaviour) -> None:
        self.files[path] = Served(content, **behaviour)


class Handler(BaseHTTPRequestHandler):
    server: Misbehaving
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        asked = self.headers.get("Range")
        self.server.seen.append((self.path, asked))
        served = self.server.files.get(self.path)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if served and served.ranges and asked else 0
        if served is None:
            self.answer(404)
        elif served.raw:
            self.wfile.write(served.raw)
            self.close_connection = True
        elif served.statuses:
            self.answer(served.statuses.pop(0))
        elif start >= len(served.content) > 0:
            self.answer(416)
        else:
            self.send(served, start)

    def send(self, served, start):
        if served.wrong_range and start:
            served.wrong_range = False
            start += 1
        body = served.content[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(served.content) - 1}/{len(served.content)}")
        if served.send_length:
            self.send_header("Content-Length", str(len(body)))
        else:
            self.send_header("Connection", "close")
        self.end_headers()
        if served.break_after:
            body = body[: served.break_after.pop(0)]
            self.close_connection = True
        if served.stall:
            self.wfile.write(body[:10])
            time.sleep(served.stall.pop(0))
            body = body[10:]
        self.send_body(body, served.drip)

    def send_body(self, body, pause):
        step = 1000 if pause else max(len(body), 1)
        for position in range(0, len(body), step):
            try:
                self.wfile.write(body[position : position + step])
            except OSError:  # the client has gone
                self.close_connection = True
                return
            time.sleep(pause)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Misbehaving(ThreadingHTTPServer):
    daemon_threads = True
    files: dict[str, Served]
    seen: list[tuple[str, str | None]]

    def handle_error(self, request, client_address):
        """A client that hangs up is what the tests are about."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Misbehaving(("127.0.0.1", 0), Handler) as running:
        running.files, running.seen = {}, []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Server(f"http://127.0.0.1:{running.server_port}", running.files, running.seen)
        running.shutdown()
        thread.join()
