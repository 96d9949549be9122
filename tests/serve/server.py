"""Servers as real processes, started as a user starts them, on a free port of the loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx2

PATIENCE = 120
"""Seconds for a server to come up or go away; a busy machine needs many."""
SLOW = Path(__file__).with_name("slow.py")
"""In place of the command: one whose model sleeps and fails when it is told to."""
_LISTENING = re.compile(r"listening on (http://\S+)")


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    log_file: Path
    address: str = ""

    @property
    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def post(self, place: str, body: object, **options: object) -> httpx2.Response:
        return httpx2.post(self.address + place, json=body, timeout=PATIENCE, **options)

    def get(self, place: str, **options: object) -> httpx2.Response:
        return httpx2.get(self.address + place, timeout=PATIENCE, **options)

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels; `name` may hold some of them."""
        found = [line for line in self.get("/metrics").text.splitlines() if line.startswith(name)]
        return sum(float(line.rpartition(" ")[2]) for line in found)

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log
            found = _LISTENING.search(self.log)
            if found:
                self.address = found[1]
                try:
                    if self.get("/health/ready").is_success:
                        return
                except httpx2.TransportError:
                    pass
            time.sleep(0.05)
        raise AssertionError(f"the server did not come up: {self.log}")

    def ended(self) -> int:
        """The exit code, once it has ended."""
        return self.process.wait(PATIENCE)


def start(folder: Path, *arguments: object, program: Path | None = None, **environment: str) -> Server:
    """`urewrite serve` with these arguments; what it says goes to a file."""
    command = ("-m", "urewrite") if program is None else (str(program),)
    log = folder / f"server-{time.monotonic_ns()}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", *command, "serve", "--port", "0", *map(str, arguments)],
            stderr=stream,
            env={**os.environ, "UREWRITE_THREADS": "1", **environment},
        )
    return Server(process, log)


def until(condition: Callable[[], bool]) -> None:
    """Wait for what must come true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
