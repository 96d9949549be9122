"""What people say does not get into the log, whatever happens, unless that is asked for."""

from __future__ import annotations

import socket

import httpx2

from serve.server import PATIENCE, SLOW, until

SECRET = "Rosebud"


def ask_in_every_way(server):
    history = [f"do you know {SECRET} ?"]
    server.post("/v1/rewrite", {"history": history, "utterance": f"where is {SECRET} now ?"})
    server.post("/v1/rewrite", {"history": history, "utterance": "fail"})
    server.post("/v1/rewrite", {"history": history, "utterance": 5, SECRET: 1})
    server.post("/v1/rewrite/batch", {"dialogues": [{"history": [SECRET, 3], "utterance": SECRET}]})
    server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": SECRET}], "n": SECRET})
    httpx2.post(server.address + "/v1/rewrite", content=f'{{"{SECRET}"', timeout=PATIENCE)
    httpx2.post(
        server.address + "/v1/rewrite",
        content=f'{{"{SECRET}"',
        headers={"content-type": "application/json"},
        timeout=PATIENCE,
    )
    server.get(f"/{SECRET}?q={SECRET}")
    server.get("/v1/models/" + SECRET)
    server.get("/", headers={"user-agent": SECRET, "x-request-id": f"{SECRET} {SECRET}"})
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
        connection.sendall(f"{SECRET} / HTTP/1.1\r\n\r\n".encode())
        connection.recv(1000)


def test_no_text_in_the_log(serving):
    server = serving("--log-level", "debug", program=SLOW)
    ask_in_every_way(server)
    failed = server.post("/v1/rewrite", {"history": [SECRET], "utterance": "fail"}).json()
    assert (failed["text"], failed["reason"]) == ("fail", "error")
    server.get("/health/live", headers={"x-request-id": "the-last-one"})
    until(lambda: "the-last-one" in server.log)
    assert SECRET not in server.log
    assert "RuntimeError" in server.log
    assert '"POST /v1/rewrite" 200' in server.log
    assert '"GET -" 404' in server.log


def test_text_in_the_log_if_asked_for(serving):
    server = serving("--log-text", program=SLOW)
    ask_in_every_way(server)
    assert f"where is {SECRET} now ?" in server.log
    assert f"was told to by do you know {SECRET}" in server.log
