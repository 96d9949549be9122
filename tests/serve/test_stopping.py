"""Signals: what was accepted is finished, the exit code is 0, and a worker that is killed is replaced."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx2
import pytest

from serve.server import PATIENCE, SLOW, until
from urewrite.serve.connection import GuardedConfig, GuardedProtocol
from urewrite.serve.process import _Server

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

QUICK = {"history": ["well now , do you know Oslo ?", "Sure ."], "utterance": "where is it now ?"}


@pytest.mark.parametrize(("workers", "number"), [(1, signal.SIGTERM), (2, signal.SIGTERM), (1, signal.SIGINT)])
def test_what_was_accepted_is_finished(serving, tmp_path, workers, number):
    server = serving("--workers", workers, program=SLOW, GATES=str(tmp_path), TMPDIR=str(tmp_path))
    assert list(tmp_path.glob("urewrite-metrics-*"))
    with ThreadPoolExecutor(4) as threads:
        held = {**QUICK, "utterance": "hold gate"}
        accepted = [threads.submit(server.post, "/v1/rewrite", held) for _ in range(4)]
        until(lambda: server.metric("urewrite_requests_in_flight") == 4)
        server.process.send_signal(number)
        until(lambda: server.log.count("Shutting down") == workers)
        assert not any(one.done() for one in accepted)
        (tmp_path / "gate").touch()
        assert [one.result().status_code for one in accepted] == [200] * 4
    assert server.ended() == 0, server.log
    with pytest.raises(httpx2.ConnectError):
        server.get("/health/live")
    assert "Traceback" not in server.log
    assert not list(tmp_path.glob("urewrite-metrics-*"))


def test_who_waits_at_the_port_is_answered():
    """Connections that the process has not taken yet; the requests of some come a moment later."""
    asked = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    def ask(connections):
        for one in connections:
            one.sendall(asked)

    async def answers():
        server = _Server(GuardedConfig(app, http=GuardedProtocol, lifespan="off", log_level="warning"))
        with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as stack:
            serving = asyncio.ensure_future(server.serve([listener]))
            while not server.started:
                await asyncio.sleep(0.01)
            address = listener.getsockname()
            waiting = [stack.enter_context(socket.create_connection(address, PATIENCE)) for _ in range(8)]
            ask(waiting[:4])
            late = asyncio.ensure_future(asyncio.to_thread(ask, waiting[4:]))  # begins when the loop goes on
            server.should_exit = True
            await server.shutdown([listener])
            await asyncio.gather(late, serving)
            return [one.recv(1000) for one in waiting]

    for answer in asyncio.run(answers()):
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"connection: close" in answer.lower()


def test_what_hangs_is_left_behind(serving, tmp_path):
    """The bound: the time for what was accepted, and not for a model that never answers."""
    limits = ("--request-seconds", 1, "--body-seconds", 1, "--stop-seconds", 2)
    server = serving(*limits, program=SLOW, GATES=str(tmp_path))
    assert server.post("/v1/rewrite", {**QUICK, "utterance": "hold never"}).status_code == 503
    until(lambda: server.get("/health/ready").status_code == 503)
    assert server.get("/health/live").status_code == 200
    server.process.send_signal(signal.SIGTERM)
    assert server.ended() == 0
    assert "the process ends without it" in server.log


def test_told_to_stop_while_it_loads(serving):
    server = serving(ready=False)
    until(lambda: "model = " in server.log)
    server.process.send_signal(signal.SIGTERM)
    assert server.ended() in (0, -signal.SIGTERM)  # the latter before anything was set up
    server.process.returncode = 0


def test_workers(serving):
    """They share the port, add their counts up, and one that is killed is replaced while the other goes on."""
    server = serving("--workers", 2)

    def asked():
        with httpx2.Client(timeout=PATIENCE) as client:  # a connection of its own, taken by whoever comes first
            answer = client.post(server.address + "/v1/rewrite", json=QUICK)
        assert answer.json()["text"] == "where is Oslo now ?"

    def processes():
        return {int(found) for found in re.findall(r"INFO (\d+) urewrite.access: .*POST /v1/rewrite", server.log)}

    count = 0
    while len(processes()) < 2:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda _: asked(), range(8)))
        count += 8
        assert count < 2000
    serving_processes = processes()
    assert server.process.pid not in serving_processes
    for _ in range(4):  # whoever answers knows of all
        assert server.metric('urewrite_requests_total{route="/v1/rewrite",status="200"}') == count
    killed = min(serving_processes)
    os.kill(killed, signal.SIGKILL)
    until(lambda: len(re.findall("Started server process", server.log)) == 3)
    until(lambda: len(re.findall("Application startup complete", server.log)) == 3)
    while len(processes()) < 3:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda _: asked(), range(8)))
        count += 8
        assert count < 4000
    assert server.metric('urewrite_requests_total{route="/v1/rewrite",status="200"}') == count
    assert server.metric("urewrite_requests_in_flight") == 0


def test_a_port_that_is_taken(serving, server):
    other = serving("--port", server.port, ready=False)
    assert other.process.wait(PATIENCE) == 1
    assert other.log.splitlines()[-1].startswith("urewrite: error: cannot listen on 127.0.0.1")
    other.process.returncode = 0


def test_a_terminal_that_is_gone(serving):
    """Ctrl-C goes to the whole group: workers that stop by themselves and are stopped."""
    server = serving("--workers", 2)
    group = subprocess.run(["ps", "-o", "pid=", "--ppid", str(server.process.pid)], capture_output=True, text=True)
    for process in [server.process.pid, *map(int, group.stdout.split())]:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGINT)
    assert server.ended() == 0
