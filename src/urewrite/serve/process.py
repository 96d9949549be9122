"""The server as processes: one, or several that share a port; how they begin, and how they end."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import NoReturn

from starlette.types import ASGIApp
from uvicorn import Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess, multiprocess

from urewrite.errors import UrewriteError
from urewrite.serve.connection import GuardedConfig, GuardedProtocol
from urewrite.serve.logs import log_config
from urewrite.serve.settings import METRICS_FOLDER, ServeSettings

_BUSY_SECONDS = 60
"""How long a worker may be too busy to tell its parent that it lives."""

_IDLE_SECONDS = 75
"""Longer than proxies keep a connection they do not use, so that it is they who close it."""

_logger = logging.getLogger("urewrite.serve")


def serve(settings: ServeSettings) -> None:
    """Serve until told to stop (SIGTERM, SIGINT); then what was accepted is finished, and the process exits with 0."""
    for number in (signal.SIGTERM, signal.SIGINT):  # while models load; afterwards uvicorn stops first, then asks this
        signal.signal(number, _leave)
    with _metrics_folder():
        _serve(settings)


def _serve(settings: ServeSettings) -> None:
    from urewrite.serve.app import load_rewriter  # counts into the folder, which must be there before

    rewriter = load_rewriter(settings)  # in the parent of several, too: what cannot be loaded is said once
    several = settings.workers > 1
    config = GuardedConfig(
        partial(make_app, settings, None if several else rewriter),
        factory=True,
        http=GuardedProtocol,
        workers=settings.workers,
        lifespan="on",
        ws="none",
        log_config=log_config(settings.log_level, messages=settings.log_text),
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.stop_seconds)),
        timeout_worker_healthcheck=_BUSY_SECONDS,
    )
    config.header_seconds = settings.body_seconds
    listener = _bind(settings.host, settings.port)
    host, port = listener.getsockname()[:2]
    _logger.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)
    if not several:
        _Server(config).run(sockets=[listener])
        return
    del rewriter
    multiprocess.Process = _Worker  # type: ignore[misc]  # there is no other way to say so
    workers = _Workers(config, [listener])
    workers.run()
    if any(worker.exitcode == STARTUP_FAILURE for worker in workers.processes):
        raise UrewriteError("a worker could not start; the log above says why")


def make_app(settings: ServeSettings, rewriter: object) -> ASGIApp:
    """The application, in the process that serves it; a worker that cannot have it says so in one line and gives up."""
    from urewrite.rewriter import Rewriter
    from urewrite.serve.app import create_app

    try:
        return create_app(settings, rewriter if isinstance(rewriter, Rewriter) else None)
    except UrewriteError as error:
        _logger.error("%s", error)
        sys.exit(STARTUP_FAILURE)


class _Server(Server):
    """uvicorn's server; when it stops, who already waits in the queue of the port is still answered."""

    config: GuardedConfig

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take the whole queue in the moment before the port is closed, which would cut those in it off."""
        self.config.stopping = True
        loop = asyncio.get_running_loop()
        taken = [
            asyncio.ensure_future(loop.connect_accepted_socket(self._protocol, waiting))
            for listener in sockets or ()
            for waiting in _queue_of(listener)
        ]
        await super().shutdown(sockets)
        await asyncio.gather(*taken, return_exceptions=True)  # done long since

    def _protocol(self) -> GuardedProtocol:
        return GuardedProtocol(self.config, self.server_state, self.lifespan.state)


def _queue_of(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        try:
            waiting, _ = listener.accept()
        except OSError:  # none is left, most likely
            return
        waiting.setblocking(False)
        yield waiting


class _Worker(multiprocess.Process):
    """uvicorn's worker with this server."""

    @property
    def server(self) -> Server:
        if self._server is None:
            self._server = _Server(self.config)
        return self._server


class _Workers(Multiprocess):
    """uvicorn's workers; once they are told to stop, nobody listens any more."""

    def terminate_all(self) -> None:
        """Let go of the port as well, or callers would be kept waiting in its queue until the last worker is done."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


def _bind(host: str, port: int) -> socket.socket:
    """The port, taken but not listened on: a worker does once it can answer."""
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        if os.name != "nt":  # where it would let others take the port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise UrewriteError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    listener.set_inheritable(True)
    return listener


@contextmanager
def _metrics_folder() -> Iterator[None]:
    """Where all workers count."""
    folder = tempfile.mkdtemp(prefix="urewrite-metrics-")
    os.environ[METRICS_FOLDER] = folder
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _leave(*_: object) -> NoReturn:
    sys.exit(0)
