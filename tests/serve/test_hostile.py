"""Attacks, each with the answer it gets. The server stands all of them, in this order, and answers well afterwards."""

from __future__ import annotations

import json
import socket
import time
from contextlib import closing, suppress

import pytest

from serve.server import PATIENCE

PLACE = "/v1/rewrite"
GOOD = {"history": ["well now , do you know Oslo ?", "Sure ."], "utterance": "where is it now ?"}
MOST = 65_536


@pytest.fixture(scope="module")
def guarded(serving):
    return serving(
        *("--max-body-bytes", MOST, "--max-turns", 5, "--max-turn-chars", 100, "--max-batch-items", 3),
        *("--body-seconds", 1.5),
    )


def connect(server):
    return closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE))


def received(connection):
    """Everything until the other side closes, or resets once it has answered."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts).decode("latin-1")


def raw(server, content):
    """The whole answer to raw bytes."""
    with connect(server) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # it was answered already
            connection.sendall(content)
        return received(connection)


def request(body, *headers, place=PLACE, kind="application/json"):
    lines = [f"POST {place} HTTP/1.1", "host: x", f"content-type: {kind}", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1") + body


def fields(**values):
    return json.dumps({**GOOD, **values}).encode()


DEEP = b'{"utterance": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"
ATTACKS = {
    "no JSON": (b"history=x", 400, None),
    "bad UTF-8": (b'{"utterance": "\xff\xfe\x80"}', 400, None),
    "cut off": (b'{"utterance": "a', 400, None),
    "deep": (DEEP, 400, None),
    "deep, whole": (b"[" * 30_000, 400, None),
    "a long number": (b'{"utterance": "a", "threshold": 0.' + b"1" * 10_000 + b"e99999999}", 422, "threshold"),
    "a long whole number": (b'{"utterance": "a", "threshold": ' + b"1" * 10_000 + b"}", 400, None),
    "empty": (b"", 422, None),
    "null": (b"null", 422, None),
    "a list": (b"[]", 422, None),
    "NaN": (b'{"utterance": "a", "threshold": NaN}', 422, "threshold"),
    "Infinity": (b'{"utterance": "a", "threshold": Infinity}', 422, "threshold"),
    "beyond the range": (fields(threshold=1.1), 422, "threshold"),
    "threshold as text": (fields(threshold="0.5"), 422, "threshold"),
    "threshold as truth": (fields(threshold=True), 422, "threshold"),
    "lone surrogate": (b'{"utterance": "a\\ud800"}', 422, "utterance"),
    "lone surrogate in a turn": (b'{"utterance": "a", "history": ["\\udfff"]}', 422, "history[0]"),
    "lone surrogate in a message": (
        b'{"messages": [{"role": "user", "content": [{"type": "text", "text": "\\ud800"}]}]}',
        422,
        "messages[0].content[0].text",
    ),
    "lone surrogate in a role": (b'{"messages": [{"role": "\\ud800", "content": "a"}]}', 422, "messages[0].role"),
    "lone surrogate in a word": (b'{"utterance": "a", "protect": ["\\ud800"]}', 422, "protect[0]"),
    "lone surrogate in a key": (b'{"utterance": "a", "\\ud800": 1}', 422, None),
    "number as text": (fields(utterance=5), 422, "utterance"),
    "object as text": (fields(utterance={"a": 1}), 422, "utterance"),
    "no utterance": (b'{"history": []}', 422, "utterance"),
    "an empty utterance": (fields(utterance=" \n"), 422, "utterance"),
    "text as history": (fields(history="abc"), 422, "history"),
    "a pair as turn": (fields(history=[["user", "a"]]), 422, "history[0]"),
    "null as turn": (fields(history=["a", None]), 422, "history[1]"),
    "a message without role": (fields(history=[{"content": "a"}]), 422, "history[0].role"),
    "content of numbers": (fields(history=[{"role": "user", "content": [1]}]), 422, "history[0].content[0]"),
    "both forms": (fields(messages=[{"role": "user", "content": "a"}]), 422, "messages"),
    "nobody speaks": (b'{"messages": [{"role": "system", "content": "a"}]}', 422, "messages"),
    "an unknown field": (fields(temperature=1), 422, "temperature"),
    "an unknown mode": (fields(mode="maybe"), 422, "mode"),
    "an unknown language": (fields(lang="tlh"), 422, "lang"),
    "too many turns": (fields(history=["a"] * 6), 422, "history"),
    "too long a turn": (fields(history=["a", "b" * 101]), 422, "history[1]"),
    "too long an utterance": (fields(utterance="b" * 101), 422, "utterance"),
    "too long a message": (
        json.dumps({"messages": [{"role": "user", "content": "b" * 101}]}).encode(),
        422,
        "messages[0]",
    ),
    "too many words": (fields(protect=["a"] * 101), 422, "protect"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_bad_bodies(guarded, name):
    body, status, field = ATTACKS[name]
    head, _, content = raw(guarded, request(body)).partition("\r\n\r\n")
    assert head.split()[1] == str(status), content
    problem = json.loads(content.encode("latin-1"))["error"]
    assert problem["param"] == field
    assert problem["message"]
    assert problem["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("dialogues", "field"),
    [
        ([], "dialogues"),
        ([GOOD] * 4, "dialogues"),
        ([GOOD, {"history": ["a"]}], "dialogues[1].utterance"),
        ([GOOD, GOOD, {"history": ["a" * 101], "utterance": "b"}], "dialogues[2].history[0]"),
        ([GOOD, {**GOOD, "mode": "never"}], "dialogues[1].mode"),
        ("abc", "dialogues"),
    ],
)
def test_bad_batches(guarded, dialogues, field):
    answer = guarded.post("/v1/rewrite/batch", {"dialogues": dialogues})
    assert (answer.status_code, answer.json()["error"]["param"]) == (422, field)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (request(fields(), kind="text/plain"), 415),
        (request(fields(), kind="application/x-www-form-urlencoded"), 415),
        (request(fields(), kind="multipart/form-data; boundary=x"), 415),
        (request(b"\x1f\x8b", "content-encoding: gzip"), 415),
        (request(b" " * (MOST + 1)), 413),
        (f"POST {PLACE} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
         f"content-length: {10**30}\r\n\r\n".encode(), 400),
        (b"POST /v1/nothing HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n"
         b"connection: close\r\n\r\n{}", 404),
        (b"DELETE /v1/rewrite HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 405),
        (b"GET /v1/rewrite HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n", 405),
        (b"BREW / HTTP/1.1\r\nhost: x\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400),
    ],
)  # fmt: skip
def test_bad_requests(guarded, content, status):
    assert raw(guarded, content).split()[1] == str(status)


def test_a_body_of_a_hundred_megabytes_is_refused_at_once(guarded):
    began = time.monotonic()
    with connect(guarded) as connection:
        head = (
            f"POST {PLACE} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert received(connection).split()[1] == "413"
    assert time.monotonic() - began < 60


def test_a_body_without_a_length_is_counted_while_it_comes(guarded):
    with connect(guarded) as connection:
        head = (
            f"POST {PLACE} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        connection.sendall(head.encode())
        chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
        with suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(1000):  # 16 MB, were they all taken
                connection.sendall(chunk)
        assert received(connection).split()[1] == "413"


def test_a_slow_body(guarded):
    with connect(guarded) as connection:
        connection.sendall(request(b"")[:-2].replace(b"content-length: 0", b"content-length: 50") + b"\r\n{")
        answer = received(connection)
    assert answer.split()[1] == "408"
    assert "body_timeout" in answer


def test_slow_headers(guarded):
    with connect(guarded) as connection:
        connection.sendall(b"POST /v1/rewrite HTTP/1.1\r\nhost: x\r\n")
        assert received(connection).split()[1] == "408"


def test_a_caller_who_says_nothing(guarded):
    with connect(guarded) as connection:
        assert received(connection) == ""


def test_a_body_that_nobody_reads_does_not_keep_a_connection(guarded):
    """Answered 415 before the body, of which nothing more comes."""
    with connect(guarded) as connection:
        connection.sendall(
            b"POST /v1/rewrite HTTP/1.1\r\nhost: x\r\ncontent-type: a/b\r\ncontent-length: 9999\r\n\r\n{"
        )
        assert received(connection).split()[1] == "415"


@pytest.mark.parametrize(
    "content",
    [
        b"GET / HTTP/1.1\r\n" + b"".join(b"x-%d: y\r\n" % number for number in range(20_000)) + b"\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"y" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
    ],
    ids=["many", "long", "address"],
)
def test_header_floods(guarded, content):
    assert raw(guarded, content).split()[1] == "431"


def test_a_flood_of_trailers(guarded):
    head = f"POST {PLACE} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    content = head.encode() + b"2\r\n{}\r\n0\r\n" + b"x: y\r\n" * 100_000
    assert raw(guarded, content).split()[1:2] in ([], ["422"])  # the request may be answered before the flood is seen


def test_it_still_works(guarded):
    """After all of the above."""
    assert guarded.process.poll() is None
    assert guarded.post(PLACE, GOOD).json()["text"] == "where is Oslo now ?"
    assert " 500 " not in guarded.log
    assert "Traceback" not in guarded.log
    assert guarded.metric("urewrite_requests_in_flight") == 0
