"""More than can be done: said at once, and nobody small waits behind somebody large."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from serve.server import PATIENCE, SLOW, until

HISTORY = ["well now , do you know Oslo ?", "Sure ."]
QUICK = {"history": HISTORY, "utterance": "where is it now ?"}
LONG_ENOUGH = ("--request-seconds", 500, "--stop-seconds", 600)


def held(name):
    return {"history": HISTORY, "utterance": f"hold {name}"}


@pytest.fixture(scope="module")
def gates(tmp_path_factory):
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="module")
def narrow(serving, gates):
    """Room for three requests and four dialogues, of which one is computed at a time."""
    return serving(
        *("--max-concurrent-requests", 3, "--max-waiting-dialogues", 4, "--max-batch-items", 4, "--max-batch-size", 1),
        *LONG_ENOUGH,
        program=SLOW,
        GATES=str(gates),
    )


def test_one_too_many_is_told_so_at_once(narrow, gates):
    with ThreadPoolExecutor(3) as threads:
        busy = [threads.submit(narrow.post, "/v1/rewrite", held("a")) for _ in range(3)]
        until(lambda: narrow.metric("urewrite_requests_in_flight") == 3)
        refused = narrow.post("/v1/rewrite", QUICK)
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["error"]["code"] == "too_many_requests"
        assert narrow.get("/health/live").is_success
        (gates / "a").touch()
        assert [one.result().status_code for one in busy] == [200] * 3
    assert narrow.post("/v1/rewrite", QUICK).status_code == 200
    assert narrow.metric('urewrite_requests_rejected_total{cause="concurrency"}') == 1


def test_a_queue_that_is_full(narrow, gates):
    with ThreadPoolExecutor(1) as threads:
        busy = threads.submit(narrow.post, "/v1/rewrite/batch", {"dialogues": [held("b")] * 4})
        until(lambda: narrow.metric("urewrite_requests_in_flight") == 1)
        refused = narrow.post("/v1/rewrite/batch", {"dialogues": [QUICK] * 4})
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "too_many_waiting")
        assert int(refused.headers["retry-after"]) >= 1
        (gates / "b").touch()
        assert busy.result().status_code == 200


def test_who_hangs_up_is_not_computed_for(narrow, gates):
    before = narrow.metric("urewrite_batch_size_sum")
    body = json.dumps({"dialogues": [held("c")] * 4}).encode()
    with socket.create_connection(("127.0.0.1", narrow.port), PATIENCE) as connection:
        head = "POST /v1/rewrite/batch HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        until(lambda: narrow.metric("urewrite_requests_in_flight") == 1)
    until(lambda: narrow.metric("urewrite_requests_in_flight") == 0)
    (gates / "c").touch()
    assert narrow.post("/v1/rewrite", QUICK).status_code == 200
    assert narrow.metric("urewrite_batch_size_sum") - before == 2  # the one that was begun, and the quick one


def test_the_client_comes_back_later(narrow, gates):
    from urewrite.serve.client import Client, ServiceError

    with ThreadPoolExecutor(4) as threads, Client(narrow.address, timeout=PATIENCE, retries=50) as client:
        busy = [threads.submit(narrow.post, "/v1/rewrite", held("d")) for _ in range(3)]
        until(lambda: narrow.metric("urewrite_requests_in_flight") == 3)
        with Client(narrow.address, timeout=PATIENCE, retries=0) as impatient, pytest.raises(ServiceError) as caught:
            impatient.rewrite(HISTORY, "where is it now ?")
        assert caught.value.status == 503
        before = narrow.metric("urewrite_requests_rejected_total")
        patient = threads.submit(client.rewrite, HISTORY, "where is it now ?")
        until(lambda: narrow.metric("urewrite_requests_rejected_total") > before)
        (gates / "d").touch()
        assert str(patient.result()) == "where is Oslo now ?"
        assert [one.result().status_code for one in busy] == [200] * 3


def test_the_time_limit(serving, gates):
    server = serving("--request-seconds", 1, "--max-batch-size", 1, program=SLOW, GATES=str(gates))
    refused = server.post("/v1/rewrite/batch", {"dialogues": [held("e")] * 4})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "time_limit")
    assert server.metric('urewrite_requests_rejected_total{cause="time"}') == 1
    (gates / "e").touch()
    until(lambda: server.post("/v1/rewrite", QUICK).status_code == 200)
    assert server.metric("urewrite_batch_size_sum") == 1 + server.metric("urewrite_batch_size_count") - 1
    assert server.metric('urewrite_rewrites_total{reason="rewritten"}') >= 1
    assert server.metric("urewrite_rewrites_total") < 4  # what was left of the batch was not computed


def test_requests_take_turns_and_long_dialogues_are_apart(serving, gates):
    server = serving("--max-batch-size", 2, *LONG_ENOUGH, program=SLOW, GATES=str(gates))
    many = [held(f"many-{number}") for number in range(20)]
    wide = {"history": ["do you know Oslo ? " * 400], "utterance": "hold wide " + "and " * 120}
    with ThreadPoolExecutor(3) as threads:
        long = threads.submit(server.post, "/v1/rewrite", wide)
        large = threads.submit(server.post, "/v1/rewrite/batch", {"dialogues": many})
        until(lambda: server.metric("urewrite_requests_in_flight") == 2)
        small = threads.submit(server.post, "/v1/rewrite", QUICK)
        until(lambda: server.metric("urewrite_requests_in_flight") == 3)
        for number in range(3):  # two of the first batch, and one beside the small request in the second
            (gates / f"many-{number}").touch()
        assert small.result().json()["text"] == "where is Oslo now ?"
        assert not large.done()
        assert not long.done()
        for number in range(20):
            (gates / f"many-{number}").touch()
        assert large.result().status_code == 200
        assert not long.done()
        (gates / "wide").touch()
        assert long.result().json()["reason"] in ("self_contained", "rewritten", "low_confidence")
