from __future__ import annotations

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

from training.trained import predict
from urewrite.corpora import read_jsonl
from urewrite.dialogue import Dialogue
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.training.weights import load_model


@pytest.fixture(scope="module")
def model(toy_run):
    return load_model(toy_run)


@pytest.fixture(scope="module")
def dialogues(toy_run):
    return [example.dialogue for example in read_jsonl(toy_run.parent / "validation.jsonl")]


def test_predictions_come_in_the_order_of_the_dialogues_whatever_the_batches(model, dialogues):
    mixed = [Dialogue.of([], "why ?"), *dialogues, Dialogue.of(["word " * 500, "Do you know Oslo ?"], "and why ?")]
    expected = predict(model, mixed)
    assert [rewrite.utterance for rewrite in expected] == [dialogue.utterance for dialogue in mixed]
    assert sum(rewrite.changed for rewrite in expected) > len(dialogues) / 2
    for batch_size in (1, 7, 500):
        found = predict(model, mixed, batch_size=batch_size)
        assert [rewrite.text for rewrite in found] == [rewrite.text for rewrite in expected]


def test_predictions_are_those_of_the_validation(model, toy_run, dialogues):
    """What training measured after its best epoch is what the saved model gives."""
    examples = read_jsonl(toy_run.parent / "validation.jsonl")
    found = predict(model, dialogues)
    exact = sum(rewrite.text == example.rewrite for rewrite, example in zip(found, examples, strict=True))
    header, *rows = [line.split(",") for line in (toy_run / "log" / "metrics.csv").read_text().splitlines()]
    best = max(float(row[header.index("em")]) for row in rows if row[header.index("em")])
    assert best > 50
    assert 100 * exact / len(examples) == pytest.approx(best, abs=1e-3)


def test_edits_carry_probabilities(model, dialogues):
    scores = [edit.score for rewrite in predict(model, dialogues) for edit in rewrite.edits]
    assert scores
    assert all(1 / 3 <= score < 1 for score in scores)


def test_progress_is_told(model, dialogues):
    told = []
    predict(model, dialogues, batch_size=25, follow=told.append)
    assert sum(told) == 60
    assert predict(model, [], follow=told.append) == []
    assert sum(told) == 60


def test_a_network_in_training_predicts_without_dropout(model, dialogues):
    expected = predict(model, dialogues)
    model.network.train()
    assert predict(model, dialogues) == expected
    assert not model.network.training


def test_what_is_no_model_folder_is_said(toy_run, tmp_path):
    with pytest.raises(DataUnavailableError, match=r"no config\.json"):
        load_model(tmp_path)
    for name in ("config.json", "vocabulary.json"):
        (tmp_path / name).write_bytes((toy_run / name).read_bytes())
    with pytest.raises(DataUnavailableError, match=r"no model\.safetensors"):
        load_model(tmp_path)
    (tmp_path / "model.safetensors").write_bytes((toy_run / "model.safetensors").read_bytes()[:100])
    with pytest.raises(BadInputError, match=r"model\.safetensors"):
        load_model(tmp_path)
