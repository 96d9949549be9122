"""How the service holds up: against calls inside a process, with 1 to 256 clients, and under twice what it can do.

python benchmarks/serving.py [--model NAME|DIR] [--only clients overload stopping] [--seconds N] [--data DIR]

The server has one core, the load another; nothing else should be running. Every answer is compared with that of a call
inside a process. Writes results/serving.json. Needs Linux, two cores, the REWRITE corpus, and the extra `serve`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

from urewrite.corpora import load_corpus
from urewrite.files import atomic_writer

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "serving.json"
PARTS = ("clients", "overload", "stopping")
CLIENTS = (1, 4, 16, 64, 256)
SERVER_CORE, LOAD_CORE = 0, 1
STOP_SECONDS = 200
TOGETHER = "together"
FORMS = {TOGETHER: (), "one by one": ("--max-batch-size", "1", "--batch-wait-ms", "0")}
LISTENING = re.compile(r"listening on http://127\.0\.0\.1:(\d+)")
_GENERATE, _INSIDE = "--generate", "--inside"

Row = dict[str, Any]


def main() -> None:
    if sys.argv[1:2] == [_GENERATE]:
        print(json.dumps(asyncio.run(generate(json.loads(sys.argv[2])))))
        return
    if sys.argv[1:2] == [_INSIDE]:
        print(json.dumps(inside(*sys.argv[2:])))
        return
    asked = arguments()
    results: Row = json.loads(asked.output.read_text(encoding="utf-8")) if asked.output.is_file() else {}
    with tempfile.TemporaryDirectory() as scratch:
        dialogues = Path(scratch) / "dialogues.json"
        examples = load_corpus("rewrite", "test", mirror=asked.data)[: asked.examples]
        records = [
            {"history": [turn.text for turn in one.dialogue.history], "utterance": one.dialogue.utterance}
            for one in examples
        ]
        dialogues.write_text(json.dumps(records), encoding="utf-8")
        dialogues.write_text(json.dumps([records, None]), encoding="utf-8")
        texts = measure_inside(asked.model, dialogues)["texts"]
        dialogues.write_text(json.dumps([records, texts]), encoding="utf-8")
        results |= {"model": asked.model, "load at the start": round(os.getloadavg()[0], 2)}
        measures = {"clients": clients, "overload": overload, "stopping": stopping}
        for part in asked.only:
            results[part] = measures[part](asked, dialogues)
            with atomic_writer(asked.output) as stream:
                json.dump(results, stream, indent=2)
                stream.write("\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default="zh-fast", help="a bundled model or a folder")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seconds", type=float, default=15, help="of load for each number of clients")
    parser.add_argument("--overload-seconds", type=float, default=300)
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--data", type=Path, help="folder with the corpora")
    parser.add_argument("--output", type=Path, default=RESULTS)
    return parser.parse_args()


def inside(model: str, dialogues: str) -> Row:
    """One dialogue at a time, and all together, in a process of one core."""
    from urewrite import Dialogue, Rewriter

    records, _ = json.loads(Path(dialogues).read_text(encoding="utf-8"))
    given = [Dialogue.from_record(one) for one in records]
    rewriter = Rewriter.from_pretrained(model, threads=1)
    rewriter.rewrite_batch(given[:20])
    alone: list[float] = []
    texts: list[str] = []
    for dialogue in given:
        begun = time.perf_counter()
        (result,) = rewriter.rewrite_batch([dialogue])
        alone.append(time.perf_counter() - begun)
        texts.append(result.text)
    begun = time.perf_counter()
    rewriter.rewrite_batch(given)
    together = time.perf_counter() - begun
    return {"p50 ms": 1000 * median(alone), "dialogues a second": len(given) / together, "texts": texts}


def measure_inside(model: str, dialogues: Path) -> Row:
    row: Row = pinned(SERVER_CORE, _INSIDE, model, str(dialogues))
    return row


def clients(asked: argparse.Namespace, dialogues: Path) -> Row:
    """How many clients, computed together or one by one, how fast; calls inside a process before, between and after."""
    inside_calls = [measure_inside(asked.model, dialogues)]
    rows: list[Row] = []
    for form, flags in FORMS.items():
        with serving(asked.model, *flags) as (process, port):
            load(port, dialogues, clients=4, seconds=2)
            for count in CLIENTS:
                row = load(port, dialogues, clients=count, seconds=asked.seconds)
                rows.append({"form": form, "clients": count, **row, "memory MB": memory(process)})
                print(rows[-1], flush=True)
        inside_calls.append(measure_inside(asked.model, dialogues))
    measured = {name: spread([one[name] for one in inside_calls]) for name in ("p50 ms", "dialogues a second")}
    best = max(row["answers a second"] for row in rows if row["form"] == TOGETHER)
    alone = next(row["p50 ms"] for row in rows if row["form"] == TOGETHER and row["clients"] == 1)
    return {
        "inside": measured,
        "rows": rows,
        "saturated, % of inside": round(100 * best / measured["dialogues a second"]["median"], 1),
        "one client, ms above inside": round(alone - measured["p50 ms"]["median"], 2),
    }


def spread(measured: Sequence[float]) -> Row:
    found = {"median": median(measured), "least": min(measured), "most": max(measured)}
    return {name: round(value, 2) for name, value in found.items()}


def overload(asked: argparse.Namespace, dialogues: Path) -> Row:
    """Twice what saturates it, whether it answers or not, in five parts, with the memory after each."""
    with serving(asked.model) as (process, port):
        saturated = load(port, dialogues, clients=64, seconds=asked.seconds)["answers a second"]
        parts: list[Row] = []
        for _ in range(5):
            part = load(port, dialogues, rate=2 * saturated, seconds=asked.overload_seconds / 5)
            parts.append({**part, "memory MB": memory(process)})
            print(parts[-1], flush=True)
        return {"saturated, answers a second": saturated, "seconds": asked.overload_seconds, "parts": parts}


def stopping(asked: argparse.Namespace, dialogues: Path) -> Row:
    """SIGTERM to the whole service, and SIGKILL to a worker, in the middle of load."""
    found: Row = {}
    for name, workers in (("term", "2"), ("kill", "2")):
        with serving(asked.model, "--workers", workers) as (process, port):
            generator = start_load(port, dialogues, clients=16, seconds=asked.seconds, fresh=True)
            time.sleep(asked.seconds / 2)
            if name == "term":
                process.send_signal(signal.SIGTERM)
                found["exit code"] = process.wait(STOP_SECONDS)
            else:
                os.kill(workers_of(process)[0], signal.SIGKILL)
            found[name] = json.loads(generator.communicate()[0])
            print(name, found[name])
    return found


@contextmanager
def serving(model: str, *flags: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server on its core."""
    command = ["-m", "urewrite", "serve", "--model", model, "--port", "0", "--log-level", "info", *flags]
    with tempfile.NamedTemporaryFile("r", suffix=".log") as log, Path(log.name).open("w") as stream:
        process = subprocess.Popen(
            on_core(SERVER_CORE, *command), stderr=stream, text=True, env={**os.environ, "UREWRITE_THREADS": "1"}
        )
        while (
            not (found := LISTENING.search(Path(log.name).read_text()))
            or "startup complete" not in Path(log.name).read_text()
        ):
            if process.poll() is not None:
                raise SystemExit(Path(log.name).read_text())
            time.sleep(0.1)
        try:
            yield process, int(found[1])
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


def on_core(core: int, *arguments: str) -> list[str]:
    return ["taskset", "--cpu-list", str(core), sys.executable, *arguments]


def pinned(core: int, *arguments: str) -> Any:
    """What this script prints when it is run on one core."""
    command = on_core(core, __file__, *arguments)
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def memory(process: subprocess.Popen[str]) -> float:
    """Of the server, in megabytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return round(int(status.partition("VmRSS:")[2].split()[0]) / 1024, 1)


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """Processes with the model, which are those with the most memory."""
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid), "--sort", "-rss"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return [int(line) for line in found.stdout.split()][:2]


def start_load(port: int, dialogues: Path, **wanted: Any) -> subprocess.Popen[str]:
    job = json.dumps({"port": port, "dialogues": str(dialogues), **wanted})
    command = on_core(LOAD_CORE, __file__, _GENERATE, job)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def load(port: int, dialogues: Path, **wanted: Any) -> Row:
    row: Row = json.loads(start_load(port, dialogues, **wanted).communicate()[0])
    return row


class Tally:
    """What came of the requests."""

    def __init__(self, records: Sequence[Row], texts: Sequence[str]) -> None:
        self.texts = texts
        self.utterances = [record["utterance"] for record in records]
        self.seconds: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.swapped = self.different = 0

    def note(self, number: int, status: str, body: bytes, seconds: float) -> None:
        self.statuses[status] += 1
        if status != "200":
            return
        self.seconds.append(seconds)
        answer = json.loads(body)
        self.swapped += answer["utterance"] != self.utterances[number]
        self.different += answer["text"] != self.texts[number]

    def row(self, seconds: float) -> Row:
        ordered = sorted(self.seconds) or [0.0]
        shares = {
            f"p{share} ms": round(1000 * ordered[min(len(ordered) - 1, share * len(ordered) // 100)], 2)
            for share in (50, 95, 99)
        }
        return {
            "answers a second": round(len(self.seconds) / seconds, 1),
            **shares,
            "statuses": dict(self.statuses),
            "swapped": self.swapped,
            "different": self.different,
        }


async def generate(job: Row) -> Row:
    """Ask for so many seconds: `clients` each after its last answer, or `rate` a second whatever is answered."""
    records, texts = json.loads(Path(job["dialogues"]).read_text(encoding="utf-8"))
    requests = [request(record, close=job.get("fresh", False)) for record in records]
    tally = Tally(records, texts)
    begun = time.perf_counter()
    if "rate" in job:
        await asyncio.gather(*[task async for task in arrivals(job, requests, tally)])
    else:
        await asyncio.gather(*(client(number, job, requests, tally) for number in range(job["clients"])))
    return tally.row(time.perf_counter() - begun)


async def arrivals(job: Row, requests: Sequence[bytes], tally: Tally) -> Any:
    """A task for each request, at its time; connections are taken again."""
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    begun = time.perf_counter()
    for count in range(int(job["rate"] * job["seconds"])):
        wait = begun + count / job["rate"] - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        yield asyncio.ensure_future(arrival(count % len(requests), job, requests, tally, idle))


async def arrival(
    number: int,
    job: Row,
    requests: Sequence[bytes],
    tally: Tally,
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]],
) -> None:
    sent = time.perf_counter()
    try:
        streams = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", job["port"])
        status, body = await exchange(*streams, requests[number])
        idle.append(streams)
    except (OSError, asyncio.IncompleteReadError) as error:
        tally.statuses[type(error).__name__] += 1
        return
    tally.note(number, status, body, time.perf_counter() - sent)


async def client(number: int, job: Row, requests: Sequence[bytes], tally: Tally) -> None:
    """Ask, wait for the answer, ask again; `fresh`: with a new connection each time, until there is none to be had."""
    end = time.perf_counter() + job["seconds"]
    fresh = job.get("fresh", False)
    streams = None
    place = number * 17
    while time.perf_counter() < end:
        place = (place + 1) % len(requests)
        sent = time.perf_counter()
        try:
            if streams is None:
                streams = await asyncio.open_connection("127.0.0.1", job["port"])
        except OSError:
            tally.statuses["refused"] += 1
            await asyncio.sleep(0.1)
            continue
        try:
            status, body = await exchange(*streams, requests[place])
        except (OSError, asyncio.IncompleteReadError):
            tally.statuses["lost"] += 1
            streams = None
            continue
        tally.note(place, status, body, time.perf_counter() - sent)
        if fresh:
            streams[1].close()
            with suppress(OSError):
                await streams[1].wait_closed()
            streams = None
    if streams is not None:
        streams[1].close()


def request(record: Row, *, close: bool) -> bytes:
    body = json.dumps(record).encode()
    head = f"POST /v1/rewrite HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return (head + ("connection: close\r\n" if close else "") + "\r\n").encode() + body


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, content: bytes) -> tuple[str, bytes]:
    """As little HTTP as this server needs, so that the load costs less than what is measured."""
    writer.write(content)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].split()[0])
    return head.split()[1], await reader.readexactly(length)


if __name__ == "__main__":
    main()
