"""What is learned from: sources, what is kept back, what test parts hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pydantic", reason="not provided: pydantic, which the extra train brings")
pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from urewrite.corpora import find_overlap, load_corpus, read_jsonl
from urewrite.edits.grid import ConnectionWords
from urewrite.errors import BadInputError
from urewrite.training.data import derive_gold, insertions, load_examples
from urewrite.training.settings import DataSettings, load_settings
from urewrite.training.unchanged import PLEASANTRIES


def file_of(path, *numbers):
    records = [
        {"history": [f"turn {n}"], "utterance": f"it {n}", "rewrite": f"turn {n} it", "dialogue_id": f"d{n}"}
        for n in numbers
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def loaded(tmp_path, **settings):
    said = []
    examples = load_examples(DataSettings(**settings), seed=1, mirror=tmp_path / "none", notify=said.append)
    return examples, said


def said_in(examples):
    return [example.dialogue.utterance for example in examples]


def test_several_files_are_learned_from_and_another_chooses(tmp_path):
    one, two = file_of(tmp_path / "one.jsonl", 1, 2, 3), file_of(tmp_path / "two.jsonl", 4)
    held = file_of(tmp_path / "held.jsonl", 9, 2)
    found, said = loaded(tmp_path, corpus=[one, two], validation=held)
    assert said_in(found.train) == ["it 1", "it 3", "it 4"]  # what the validation part holds is not trained on
    assert said_in(found.validation) == ["it 9", "it 2"]
    assert any("left out 1 examples of" in line for line in said)
    assert found.described(found.train) == ("one.jsonl: 2 examples", "two.jsonl: 1 examples")


def test_only_what_was_really_learned_from_is_counted(tmp_path):
    """An example whose rewrite cannot be made, and one without a history, teach nothing."""
    records = [
        {"history": ["old wok"], "utterance": "where is it ?", "rewrite": "where is old wok ?"},
        {"history": ["old wok"], "utterance": "where is it ?", "rewrite": "where is another place ?"},
        {"history": [], "utterance": "where is it ?", "rewrite": "where is it ?"},
    ]
    file = tmp_path / "one.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    settings = DataSettings(corpus=[str(file)], validation=[file_of(tmp_path / "held.jsonl", 9)])
    found = load_examples(settings, seed=1, mirror=tmp_path / "none", notify=lambda _: None)
    gold = derive_gold(found.train, ConnectionWords(), settings, lambda given: given)
    for only_exact, amount in ((True, 1), (False, 2)):
        learned_from = gold.to_learn_from(only_exact=only_exact).examples
        assert found.described(learned_from) == (f"one.jsonl: {amount} of 3 examples",)


def test_a_file_alone_keeps_some_dialogues_back(tmp_path):
    found, _ = loaded(tmp_path, corpus=file_of(tmp_path / "one.jsonl", *range(100)), held_out=0.3)
    assert 15 < len(found.validation) < 45
    assert not set(said_in(found.train)) & set(said_in(found.validation))
    assert len(found.train) + len(found.validation) == 100


def test_examples_that_no_grid_can_make_are_left_out_on_request(tmp_path):
    with (tmp_path / "some.jsonl").open("w", encoding="utf-8") as stream:
        for rewrite in ("Beijing is cold", "Shanghai is cold"):
            stream.write(json.dumps({"history": ["Beijing"], "utterance": "it is cold", "rewrite": rewrite}) + "\n")
    examples = read_jsonl(tmp_path / "some.jsonl")
    gold = derive_gold(examples, ConnectionWords(), DataSettings(corpus=("some.jsonl",)), list)
    assert gold.exact == [True, False]
    assert len(gold.to_learn_from(only_exact=False).grids) == 2
    assert [e.rewrite for e in gold.to_learn_from(only_exact=True).examples] == ["Beijing is cold"]


def test_changes_of_topic_and_pleasantries_are_added_as_utterances_that_stay(tmp_path):
    one, held = file_of(tmp_path / "one.jsonl", *range(200)), file_of(tmp_path / "held.jsonl", 999)
    found, _ = loaded(tmp_path, corpus=one, validation=held, topic_changes=0.5, pleasantries=0.25)
    added = found.train[200:]
    assert all(example.dialogue.utterance == example.rewrite for example in added)
    polite = [example for example in added if example.rewrite in PLEASANTRIES["en"]]
    assert 30 < len(polite) < 75
    rewrites = {example.rewrite: example.dialogue.history for example in found.train[:200]}
    elsewhere = [rewrites[example.rewrite] != example.dialogue.history for example in added[: -len(polite)]]
    assert 70 < len(elsewhere) < 130
    assert sum(elsewhere) > 0.9 * len(elsewhere)


def test_too_few_dialogues_to_keep_some_back_is_said(tmp_path):
    with pytest.raises(BadInputError, match="too few dialogues"):
        loaded(tmp_path, corpus=file_of(tmp_path / "one.jsonl", 1))


def test_rewrites_are_added_as_utterances_that_stay(tmp_path):
    one, held = file_of(tmp_path / "one.jsonl", *range(200)), file_of(tmp_path / "held.jsonl", 999)
    found, _ = loaded(tmp_path, corpus=one, validation=held, unchanged=0.5)
    added = found.train[200:]
    assert 70 < len(added) < 130
    assert all(example.dialogue.utterance == example.rewrite for example in added)


def test_no_dialogue_of_a_test_part_is_trained_on(corpora_dir):
    said = []
    settings = DataSettings(corpus=["rewrite", "multi:validation"], validation="multi:validation")
    found = load_examples(settings, seed=1, mirror=corpora_dir, notify=said.append)
    held = {
        (*(turn.text for turn in example.dialogue.history), example.dialogue.utterance)
        for corpus in ("rewrite", "multi")
        for example in load_corpus(corpus, "test", mirror=corpora_dir)
    }
    for example in (*found.train, *found.validation):
        assert (*(turn.text for turn in example.dialogue.history), example.dialogue.utterance) not in held
    assert len(found.train) > 17_000
    assert said


@pytest.mark.parametrize("settings", [{"corpus": "rewrite:test"}, {"corpus": "x.jsonl", "validation": "task:test"}])
def test_nothing_is_learned_from_or_chosen_by_a_test_part(tmp_path, monkeypatch, settings):
    monkeypatch.chdir(tmp_path)
    file_of(tmp_path / "x.jsonl", 1, 2)
    with pytest.raises(BadInputError, match=":test is what results are reported on"):
        loaded(tmp_path, **settings)


def test_no_dialogue_of_canard_validation_is_trained_on_under_another_id(corpora_dir):
    settings = DataSettings(corpus=["canard:validation", "qrecc"], validation="canard:validation", held_out=0.33)
    found = load_examples(settings, seed=1, mirror=corpora_dir, notify=lambda _: None)
    assert not find_overlap(found.train, found.validation).dialogues
    assert not find_overlap(found.train, load_corpus("qrecc", "test", mirror=corpora_dir)).dialogues


def test_settings_are_changed_by_key(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("name: x\ndata: {corpus: rewrite}\n", encoding="utf-8")
    changes = ["optimiser.epochs=3", "network.similarities=[cosine]", "name=other", "data.validation=null"]
    changed = load_settings(path, changes)
    assert (changed.optimiser.epochs, changed.network.similarities, changed.name) == (3, ("cosine",), "other")
    for change, place in [
        ("optimiser.epochs", "KEY=VALUE"),
        ("=3", "KEY=VALUE"),
        ("name.x=1", "name.x"),
        ("optimiser.epochs=many", "optimiser.epochs"),
        ("optimiser.epoch=1", "optimiser.epoch"),
    ]:
        with pytest.raises(BadInputError, match=place):
            load_settings(path, [change])


def test_a_file_that_holds_test_dialogues_loses_them(corpora_dir, tmp_path):
    test = load_corpus("rewrite", "test", mirror=corpora_dir)[:5]
    path = tmp_path / "mine.jsonl"
    own = [json.dumps(example.to_record(), ensure_ascii=False) for example in test]
    own += [json.dumps({"history": [f"h{n}"], "utterance": f"u{n}", "rewrite": f"h{n} u{n}"}) for n in range(40)]
    path.write_text("\n".join(own) + "\n", encoding="utf-8")
    said = []
    found = load_examples(DataSettings(corpus=str(path)), seed=1, mirror=corpora_dir, notify=said.append)
    assert len(found.train) + len(found.validation) == 40
    assert any("left out 5 examples of mine.jsonl" in line for line in said)


def test_word_vectors_beside_an_encoder_are_refused(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("name: x\ndata: {corpus: rewrite}\nstart: {vectors: v}\n", encoding="utf-8")
    with pytest.raises(BadInputError, match=r"start\.vectors"):
        load_settings(path, ["network.encoder={model: m}"])


def test_labels_without_substitution_put_what_is_copied_before_the_words():
    grid = np.array([[0, 1, 1, 0], [2, 0, 0, 1]], dtype=np.int8)
    assert insertions(grid).tolist() == [[0, 2, 0, 0], [2, 0, 0, 2]]


def test_validation_may_have_several_sources(tmp_path):
    paths = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for path in paths:
        records = [
            {"history": [f"{path.stem}{n}"], "utterance": f"it {n}", "rewrite": f"{path.stem}{n} {n}", "dialogue_id": n}
            for n in range(50)
        ]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    both = DataSettings(corpus=str(paths[0]), validation=[str(path) for path in paths])
    found = load_examples(both, seed=1, mirror=tmp_path, notify=lambda _: None)
    own = [example for example in found.validation if example.rewrite.startswith("a")]
    assert 0 < len(own) < 50
    assert len(found.validation) == len(own) + 50
    assert len(found.train) == 50 - len(own)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "configs").glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_settings_file_is_whole_and_called_by_its_name(path):
    assert load_settings(path).name == path.stem
