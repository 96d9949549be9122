"""The client: the library's results and errors over the wire, and patience with a server that has none."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from serve.server import PATIENCE
from training.toy import toy_records
from urewrite import Dialogue, Turn
from urewrite.errors import BadInputError
from urewrite.serve.client import AsyncClient, Client, ServiceError

HISTORY = ["well now , do you know Oslo ?", ("assistant", "Sure .")]
EMPTY = {
    "text": "a",
    "utterance": "a",
    "edits": [],
    "pieces": [],
    "reason": "no_history",
    "confidence": None,
    "turns_used": 0,
    "notes": [],
    "model": "stub",
    "grid": None,
}


@pytest.fixture(scope="module")
def client(server):
    with Client(server.address, timeout=PATIENCE) as client:
        yield client


def test_the_result_is_the_librarys(client, rewriter):
    found = client.rewrite(HISTORY, "where is it now ?", keep_grid=True)
    expected = rewriter.rewrite(HISTORY, "where is it now ?")
    assert (found.text, found.pieces, found.reason, found.notes, found.model) == (
        expected.text,
        expected.pieces,
        expected.reason,
        expected.notes,
        expected.model,
    )
    assert [edit.text for edit in found.edits] == [edit.text for edit in expected.edits]
    assert found.grid.rows == expected.grid.rows
    assert np.allclose(found.grid.probabilities, expected.grid.probabilities, atol=1e-3)
    assert "Oslo" in found.explain(colour=False)


def test_every_form_of_history(client):
    history = [Turn("well now , do you know Oslo ?", "user"), {"role": "system", "content": "x"}, Turn("Sure .")]
    found = client.rewrite(history, "where is it now ?")
    assert str(found) == "where is Oslo now ?"
    assert found.edits[0].source_turn == 0
    assert len(found.notes) == 1


def test_batches(client, rewriter):
    dialogues = [Dialogue.from_record(record) for record in toy_records(30, 5)]
    found = client.rewrite_batch(dialogues, batch_size=7)
    assert [str(one) for one in found] == [str(one) for one in rewriter.rewrite_batch(dialogues)]
    assert client.rewrite_batch([]) == []
    assert str(client.rewrite_batch([(HISTORY, "where is it now ?")], mode="never")[0]) == "where is it now ?"


@pytest.mark.parametrize(
    ("history", "utterance", "wish", "field"),
    [
        ([], " ", {}, "utterance"),
        ([], "a\ud800", {}, "utterance"),
        ([5], "a", {}, "history[0]"),
        ("abc", "a", {}, "history"),
        ([], "a", {"threshold": float("nan")}, "threshold"),
        ([], "a", {"mode": "x"}, "mode"),
    ],
)
def test_bad_input_is_named_as_by_the_library(client, rewriter, history, utterance, wish, field):
    with pytest.raises(BadInputError) as caught:
        client.rewrite(history, utterance, **wish)
    assert caught.value.field == field


def test_models_and_health(client, server):
    assert client.models() == ["toy"]
    assert client.is_ready()
    with Client("http://127.0.0.1:9", retries=0) as nobody:
        assert not nobody.is_ready()


def test_the_same_with_asyncio(server):
    async def ask():
        async with AsyncClient(server.address, timeout=PATIENCE) as client:
            assert await client.is_ready()
            assert await client.models() == ["toy"]
            with pytest.raises(BadInputError):
                await client.rewrite([], "")
            many = await client.rewrite_batch([(HISTORY, "where is it now ?")] * 3, batch_size=2)
            return [await client.rewrite(HISTORY, "where is it now ?"), *many]

    assert [str(one) for one in asyncio.run(ask())] == ["where is Oslo now ?"] * 4


@pytest.fixture
def stub():
    """A server that answers from a list: a status with headers, or nothing at all."""
    answers = []
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            seen.append(dict(self.headers))
            answer = answers.pop(0)
            if answer is None:
                self.close_connection = True
                return
            status, headers, body = answer
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", answers, seen
        server.shutdown()
        thread.join()


NOT_NOW = (503, {}, {"error": {"message": "later", "param": None, "code": "x"}})


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_it_tries_again(stub, kind):
    address, answers, seen = stub
    answers += [NOT_NOW, None, NOT_NOW, (200, {}, EMPTY)]
    assert str(_rewrite(kind(address, api_key="a-key"))) == "a"
    assert len(seen) == 4
    assert seen[0]["authorization"] == "Bearer a-key"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_but_not_for_ever(stub, kind):
    address, answers, seen = stub
    answers += [NOT_NOW] * 3
    with pytest.raises(ServiceError, match="later") as caught:
        _rewrite(kind(address, retries=2))
    assert (caught.value.status, caught.value.code, len(seen)) == (503, "x", 3)


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        ((401, {}, {"error": {"message": "a key is needed", "code": "invalid_api_key"}}), 401, "a key is needed"),
        ((500, {}, b"oops"), 500, "something else than JSON"),
        ((404, {}, []), 404, "no reason given"),
    ],
)
def test_other_problems_are_raised_at_once(stub, answer, status, said):
    address, answers, seen = stub
    answers.append(answer)
    with pytest.raises(ServiceError, match=said) as caught:
        _rewrite(Client(address))
    assert (caught.value.status, len(seen)) == (status, 1)


def test_it_waits_as_long_as_it_is_told(stub, monkeypatch):
    address, answers, _ = stub
    slept = []
    monkeypatch.setattr("urewrite.serve.client.time.sleep", slept.append)
    answers += [(503, {"retry-after": "3"}, {}), (503, {"retry-after": "9999"}, {}), (200, {}, EMPTY)]
    _rewrite(Client(address))
    assert slept == [3, 10]


def test_nobody_there():
    with pytest.raises(ServiceError, match="does not answer") as caught:
        _rewrite(Client("http://127.0.0.1:9", retries=1))
    assert caught.value.status is None


def _rewrite(client):
    if isinstance(client, Client):
        with client:
            return client.rewrite([], "a")

    async def ask():
        async with client:
            return await client.rewrite([], "a")

    return asyncio.run(ask())
