"""Servers of the toy model that tests of a file share."""

from __future__ import annotations

import signal

import pytest

from serve.server import start
from urewrite import Rewriter


@pytest.fixture(scope="module")
def serving(toy_bundle, tmp_path_factory):
    """Starts servers, and sees to it that each of them ends well."""
    folder = tmp_path_factory.mktemp("served")
    started = []

    def serve(*arguments, ready=True, **options):
        server = start(folder, "--model", toy_bundle, *arguments, **options)
        started.append(server)
        if ready:
            server.wait_until_ready()
        return server

    yield serve
    for server in started:
        server.process.send_signal(signal.SIGTERM)
    codes = [server.ended() for server in started]
    assert set(codes) <= {0}, "\n".join(server.log for server in started)


@pytest.fixture(scope="module")
def server(serving):
    """One with time enough, whatever else the machine does."""
    return serving("--request-seconds", 300, "--stop-seconds", 400)


@pytest.fixture(scope="module")
def rewriter(toy_bundle):
    """The same model in this process."""
    return Rewriter.from_pretrained(toy_bundle, threads=1)
