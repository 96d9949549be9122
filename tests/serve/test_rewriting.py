"""What the service is for: the same answers as the library's, whoever else asks at the same time."""

from __future__ import annotations

import asyncio
import math
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from serve.server import PATIENCE
from training.toy import CHINESE, NAMES, toy_records
from urewrite import Dialogue

HISTORY = ["well now , do you know Oslo ?", "Sure ."]


def same(answer, expected):
    """The same rewrite but for the last digits of scores, which depend on what was computed together."""
    record = expected.to_record()
    for key in ("text", "utterance", "changed", "reason", "turns_used", "notes", "model"):
        assert answer[key] == record[key], key
    assert answer["pieces"] == [{**piece, "origin": piece["origin"].value} for piece in record["pieces"]]
    assert len(answer["edits"]) == len(record["edits"])
    for found, known in zip(answer["edits"], record["edits"], strict=True):
        assert math.isclose(found.pop("score"), known.pop("score"), abs_tol=1e-4)
        assert found == known
    if record["confidence"] is None:
        assert answer["confidence"] is None
    else:
        assert math.isclose(answer["confidence"], record["confidence"], abs_tol=1e-2)


def test_one_dialogue(server, rewriter):
    answer = server.post("/v1/rewrite", {"history": HISTORY, "utterance": "where is it now ?"})
    assert answer.status_code == 200
    document = answer.json()
    assert document["text"] == "where is Oslo now ?"
    same(document, rewriter.rewrite(HISTORY, "where is it now ?"))
    assert document["grid"] is None
    timing = document["timing"]
    assert 0 <= timing["waited_ms"] + timing["computed_ms"] <= timing["total_ms"]


def test_the_answer_is_what_the_documentation_says(server):
    from urewrite.serve.schemas import RewriteAnswer

    body = {"history": HISTORY, "utterance": "where is it now ?", "return_grid": True}
    RewriteAnswer.model_validate(server.post("/v1/rewrite", body).json(), strict=True, extra="forbid")


def test_messages_keep_their_numbers(server):
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": HISTORY[0]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": HISTORY[1]}, {"type": "image_url", "image_url": {}}],
        },
        {"role": "user", "content": "where is it now ?"},
    ]
    document = server.post("/v1/rewrite", {"messages": messages}).json()
    assert document["text"] == "where is Oslo now ?"
    assert document["edits"][0]["source_turn"] == 1
    assert any("system" in note for note in document["notes"])
    assert any("not text" in note for note in document["notes"])


def test_a_grid_if_asked_for(server, rewriter):
    body = {"history": HISTORY, "utterance": "where is it now ?", "return_grid": True}
    grid = server.post("/v1/rewrite", body).json()["grid"]
    expected = rewriter.rewrite(HISTORY, "where is it now ?").grid
    assert (grid["rows"], grid["columns"]) == (list(expected.rows), list(expected.columns))
    assert grid["row_turns"] == list(expected.row_turns)
    for place, name in enumerate(("substitute", "insert"), 1):
        for found, known in zip(grid[name], expected.probabilities[place], strict=True):
            assert found == pytest.approx(list(known), abs=1e-3)
    assert [region["made"] for region in grid["regions"]] == [region.made for region in expected.regions]


@pytest.mark.parametrize(
    ("wish", "text", "reason"),
    [
        ({"mode": "never"}, "where is it now ?", "never"),
        ({"threshold": 1}, "where is it now ?", "low_confidence"),
        ({"protect": ["it"]}, "where is it now ?", None),
        ({"mode": "always"}, "where is Oslo now ?", "rewritten"),
        ({"lang": "en", "threshold": 0.1}, "where is Oslo now ?", "rewritten"),
    ],
)
def test_wishes(server, wish, text, reason):
    document = server.post("/v1/rewrite", {"history": HISTORY, "utterance": "where is it now ?", **wish}).json()
    assert document["text"] == text
    assert reason in (None, document["reason"])


def test_a_first_turn_needs_no_history(server):
    document = server.post("/v1/rewrite", {"utterance": "where is it now ?"}).json()
    assert (document["text"], document["reason"]) == ("where is it now ?", "no_history")


def test_a_batch_keeps_its_order(server, rewriter):
    records = toy_records(40, 7)
    dialogues = [{"history": record["history"], "utterance": record["utterance"]} for record in records]
    document = server.post("/v1/rewrite/batch", {"dialogues": dialogues}).json()
    expected = rewriter.rewrite_batch([Dialogue.from_record(record) for record in dialogues])
    assert len(document["results"]) == len(expected)
    for answer, known in zip(document["results"], expected, strict=True):
        same(answer, known)


def test_everybody_gets_their_own_answer(server, rewriter):
    """Many at once, all different: alone, in batches, with different wishes, so that batches are mixed and split."""
    chance = random.Random(3)
    asked = []
    for record in toy_records(150, 11):
        history = [*record["history"], " ".join(chance.choices(NAMES + CHINESE, k=chance.randrange(1, 6)))]
        history = history[: chance.randrange(1, 4)]
        wish = chance.choice([{}, {}, {"mode": "always"}, {"mode": "never"}, {"threshold": 0.9}])
        asked.append(({"history": history, "utterance": record["utterance"]}, wish))
    before = server.metric("urewrite_batch_size_count")

    def ask(part):
        if len(part) == 1:
            dialogue, wish = part[0]
            return [server.post("/v1/rewrite", {**dialogue, **wish}).json()]
        return server.post("/v1/rewrite/batch", {"dialogues": [one for one, _ in part], **part[0][1]}).json()["results"]

    parts = []
    for wish in ({}, {"mode": "always"}, {"mode": "never"}, {"threshold": 0.9}):
        alike = [one for one in asked if one[1] == wish]
        while alike:
            size = chance.choice([1, 1, 1, 5])
            parts.append(alike[:size])
            alike = alike[size:]
    chance.shuffle(parts)
    with ThreadPoolExecutor(24) as threads:
        answers = list(threads.map(ask, parts))
    for part, found in zip(parts, answers, strict=True):
        for (dialogue, wish), answer in zip(part, found, strict=True):
            same(answer, rewriter.rewrite_batch([Dialogue.from_record(dialogue)], **wish)[0])
    assert server.metric("urewrite_batch_size_count") - before < len(asked), "nothing was computed together"


def test_models(server):
    listing = server.get("/v1/models").json()
    (model,) = listing["data"]
    assert (listing["object"], model["object"], model["id"]) == ("list", "model", "toy")
    assert server.get("/v1/models/toy").json() == model
    assert server.get("/v1/models/other").status_code == 404


def test_health(server):
    assert server.get("/health/live").json() == {"status": "ok"}
    assert server.get("/health/ready").json() == {"status": "ok"}


def test_a_model_that_fails_gives_the_utterance_back(serving, toy_bundle, tmp_path_factory):
    """Words whose vectors the graph lacks: what is asked with them fails inside, what is asked beside them does not."""
    import json
    import shutil

    broken = tmp_path_factory.mktemp("broken") / "toy"
    shutil.copytree(toy_bundle, broken)
    (broken / "SHA256SUMS").unlink()
    vocabulary = broken / "vocabulary.json"
    document = json.loads(vocabulary.read_text(encoding="utf-8"))
    words = document if isinstance(document, list) else document["words"]
    words.append("zanzibar")
    vocabulary.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    server = serving("--model", broken)
    good = {"history": HISTORY, "utterance": "where is it now ?"}
    bad = {"history": ["do you know zanzibar ?"], "utterance": "where is it now ?"}
    results = server.post("/v1/rewrite/batch", {"dialogues": [good, bad, good]}).json()["results"]
    assert [one["text"] for one in results] == ["where is Oslo now ?", "where is it now ?", "where is Oslo now ?"]
    assert [one["reason"] for one in results] == ["rewritten", "error", "rewritten"]
    assert server.metric("urewrite_model_failures_total") == 1
    assert "zanzibar" not in server.log


def test_with_asyncio_all_at_once(server):
    """One connection pool, no threads: what a service that calls this one does."""
    from urewrite.serve.client import AsyncClient

    async def ask():
        async with AsyncClient(server.address, timeout=PATIENCE) as client:
            return await asyncio.gather(
                *(client.rewrite([f"well now , do you know {name} ?", "Sure ."], "where is it now ?") for name in NAMES)
            )

    assert [str(one) for one in asyncio.run(ask())] == [f"where is {name} now ?" for name in NAMES]
