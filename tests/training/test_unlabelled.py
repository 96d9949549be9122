"""Dialogues without a rewrite: cut from turns, kept apart from what is held out, learned from a teacher alone."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import torch
from hypothesis import given
from hypothesis import strategies as st

from training.running import here, written
from training.toy import toy_settings, write_toy
from urewrite.corpora import load_corpus
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.edits.grid import ConnectionWords
from urewrite.errors import BadInputError
from urewrite.training.batches import OUTSIDE
from urewrite.training.data import derive_gold, load_examples
from urewrite.training.loss import grid_loss
from urewrite.training.settings import DataSettings, TeacherSettings, check_settings
from urewrite.training.unlabelled import turns_as_utterances

NO_WORDS = ConnectionWords()


def said_in(dialogue):
    return (*(turn.text for turn in dialogue.history), dialogue.utterance)


def dialogue_of(*said):
    return Example(Dialogue(tuple(map(Turn, said[:-1])), said[-1]), said[-1])


def file_of(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def record(*said):
    return {"history": list(said[:-1]), "utterance": said[-1], "rewrite": f"{said[0]} {said[-1]}"}


def test_every_turn_is_an_utterance_after_those_before_it():
    found = turns_as_utterances([dialogue_of("a", "b", "c", "d"), dialogue_of("b", "c", "d"), dialogue_of("a")], 2)
    assert [said_in(example.dialogue) for example in found] == [("a", "b", "c"), ("b", "c", "d")]


@given(st.lists(st.lists(st.sampled_from(["a", "b", " ", "c d"]), max_size=7)), st.integers(1, 4))
def test_each_dialogue_stands_in_a_source_as_it_is_and_only_once(begun, history):
    said = [[*turns, "e"] for turns in begun]
    found = [said_in(one.dialogue) for one in turns_as_utterances([dialogue_of(*turns) for turns in said], history)]
    assert len(found) == len(set(found))
    there = {tuple(turns[end - history - 1 : end]) for turns in said for end in range(history + 1, len(turns) + 1)}
    assert set(found) == {window for window in there if window[-1].strip()}


def load(data, teacher):
    return load_examples(data, seed=1, mirror=None, notify=lambda _: None, teacher=teacher)


def test_what_is_held_out_is_not_asked_about(tmp_path):
    learned = file_of(tmp_path / "learned.jsonl", record("x", "y", "z"))
    held = file_of(tmp_path / "held.jsonl", record("b", "c", "d"))
    asked = file_of(tmp_path / "asked.jsonl", record("a", "b", "c", "d"), record("b", "c", "d"))
    found = load(DataSettings(corpus=learned, validation=held), TeacherSettings(model="m", unlabelled=asked, history=2))
    assert [said_in(example.dialogue) for example in found.unlabelled] == [("a", "b", "c")]
    assert said_in(found.train[0].dialogue) == ("x", "y", "z")
    assert len(found.train) == 1


def test_of_what_is_chosen_by_only_the_rest_is_asked_about(tmp_path):
    both = file_of(tmp_path / "both.jsonl", *(record(f"a{n}", f"b{n}", f"c{n}") for n in range(60)))
    found = load(DataSettings(corpus=both, held_out=0.3), TeacherSettings(model="m", unlabelled=both, history=1))
    held = {said for example in found.validation for said in said_in(example.dialogue)}
    assert held
    assert len(found.unlabelled) == 2 * len(found.train) == 2 * (60 - len(found.validation))
    assert held.isdisjoint(said for example in found.unlabelled for said in said_in(example.dialogue))


def test_they_are_counted_apart_and_have_no_labels(tmp_path):
    learned = file_of(tmp_path / "learned.jsonl", record("x", "y", "z"), record("u", "v", "w"))
    held = file_of(tmp_path / "held.jsonl", record("h", "i", "j"))
    asked = file_of(tmp_path / "asked.jsonl", record("a", "b", "c"), record(" ", "  ", "d"))
    data = DataSettings(corpus=learned, validation=held)
    found = load(data, TeacherSettings(model="m", unlabelled=asked))
    gold = derive_gold(found.train, NO_WORDS, data, lambda given: given).to_learn_from(only_exact=False)
    every = gold.with_unlabelled(found.unlabelled, NO_WORDS, data.most_rows)
    assert every.grids[:2] == gold.grids
    assert len(every.grids) == 3  # a history without words has no rows, so nothing is learned from it
    assert every.grids[2].shape == every.axes[2].shape
    assert (every.grids[2] == OUTSIDE).all()
    assert found.described(every.examples) == (
        "learned.jsonl: 2 examples",
        "asked.jsonl (turns, labelled by the teacher alone): 1 of 2 examples",
    )


def test_a_batch_without_any_label_changes_nothing():
    logits = torch.randn(2, 3, 4, 5, requires_grad=True)
    loss = grid_loss(logits, torch.full((2, 4, 5), OUTSIDE), torch.tensor([0.2, 0.3, 0.5]), 0.1)
    loss.backward()
    assert loss == 0
    assert logits.grad is not None
    assert not logits.grad.any()


def test_a_source_of_shorter_dialogues_is_refused(tmp_path):
    learned, held = (file_of(tmp_path / f"{name}.jsonl", record(name, "y", "z")) for name in "ab")
    asked = file_of(tmp_path / "asked.jsonl", record("a", "b"))
    with pytest.raises(BadInputError, match="has 2 turns before it") as caught:
        load(DataSettings(corpus=learned, validation=held), TeacherSettings(model="m", unlabelled=asked))
    assert caught.value.field == "teacher.history"


@pytest.mark.parametrize("source", ["rewrite:tset", "nothing"])
def test_a_source_that_is_none_is_refused_before_anything_else(tmp_path, source):
    settings = {**toy_settings(tmp_path), "teacher": {"model": "m", "unlabelled": source}}
    with pytest.raises(BadInputError, match=source.rpartition(":")[2]) as caught:
        check_settings(settings)
    assert caught.value.field == "teacher.unlabelled"


def test_a_test_part_is_refused(tmp_path):
    settings = check_settings({**toy_settings(tmp_path), "teacher": {"model": "m", "unlabelled": "rewrite:test"}})
    with pytest.raises(BadInputError, match="rewrite:test is what results are reported on"):
        load(settings.data, settings.teacher)


def test_a_pupil_learns_what_only_dialogues_without_rewrites_show(tmp_path, toy_run):
    """Its own examples are a dozen that are never edited, so all it can it has from what its teacher labelled."""
    settings = toy_settings(tmp_path, epochs=14)
    asked, _ = write_toy(tmp_path, 480, 60)
    records = [json.loads(line) for line in asked.read_text(encoding="utf-8").splitlines()]
    few = [{**one, "rewrite": one["utterance"]} for one in records[:12]]
    settings["data"]["corpus"] = file_of(tmp_path / "few.jsonl", *few)
    settings["teacher"] = {"model": str(toy_run), "weight": 0.9, "unlabelled": str(asked)}
    messages = here("train", written(tmp_path, settings), "--folder", tmp_path / "run")
    assert "with those that only the teacher labels" in messages
    assert float(messages.split("best em: ")[1].split()[0]) >= 90


def test_no_dialogue_of_a_test_part_is_asked_about(corpora_dir):
    data = DataSettings(corpus="rewrite", examples=10)
    teacher = TeacherSettings(model="m", unlabelled="multi:validation")
    found = load_examples(data, seed=1, mirror=corpora_dir, notify=lambda _: None, teacher=teacher)
    held = {
        said_in(example.dialogue)
        for corpus in ("rewrite", "multi")
        for example in load_corpus(corpus, "test", mirror=corpora_dir)
    } | {said_in(example.dialogue) for example in found.validation}
    assert len(found.unlabelled) > 10_000
    assert held.isdisjoint(said_in(example.dialogue) for example in found.unlabelled)
