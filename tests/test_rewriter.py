"""The rewriter people use, on a model that really learned a toy language."""

from __future__ import annotations

import json
import logging
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

from urewrite import Dialogue, Rewriter
from urewrite.corpora import read_jsonl
from urewrite.decide import MOST_WORDS
from urewrite.errors import BadInputError, DataUnavailableError

HISTORY = ["well now , do you know Oslo ?", "Sure ."]
QUESTION = "where is it now ?"


@pytest.fixture(scope="module")
def rewriter(toy_bundle):
    return Rewriter.from_pretrained(toy_bundle)


@pytest.fixture(scope="module")
def examples(toy_run):
    return read_jsonl(toy_run.parent / "validation.jsonl")


def test_a_follow_up_is_rewritten(rewriter):
    result = rewriter.rewrite(HISTORY, QUESTION)
    assert str(result) == "where is Oslo now ?"
    assert result.changed
    assert result.reason == "rewritten"
    assert result.turns_used == 2
    (edit,) = result.edits
    assert (edit.op, edit.text, edit.source_turn) == ("substitute", "Oslo", 0)
    assert HISTORY[0][edit.source_start : edit.source_end] == "Oslo"
    assert result.grid is not None


def test_a_batch_gives_what_each_would_give_alone(rewriter, examples):
    dialogues = [example.dialogue for example in examples]
    mixed = [Dialogue.of([], "why ?"), *dialogues, Dialogue.of(["word " * 500, "Do you know Oslo ?"], "and why ?")]
    alone = [rewriter.rewrite([turn.text for turn in one.history], one.utterance) for one in mixed]
    assert sum(result.changed for result in alone) > len(dialogues) / 2
    for batch_size in (1, 7, 500):
        told: list[int] = []
        together = rewriter.rewrite_batch(mixed, batch_size=batch_size, follow=told.append)
        assert [result.text for result in together] == [result.text for result in alone]
        assert [result.reason for result in together] == [result.reason for result in alone]
        assert sum(told) == len(mixed)
    right = [result.text == example.rewrite for result, example in zip(alone[1:-1], examples, strict=True)]
    assert sum(right) >= 0.9 * len(right)
    assert rewriter.rewrite_batch([]) == []


@pytest.mark.parametrize(
    "history",
    [
        [("user", HISTORY[0]), ("assistant", HISTORY[1])],
        [
            {"role": "system", "content": "You are Paris."},
            {"role": "user", "content": HISTORY[0]},
            {"role": "tool", "content": "Tokyo"},
            {"role": "assistant", "content": [{"type": "text", "text": HISTORY[1]}, {"type": "image_url"}]},
        ],
    ],
)
def test_histories_come_in_several_forms(rewriter, history):
    result = rewriter.rewrite(history, QUESTION)
    assert result.text == "where is Oslo now ?"
    assert len(result.notes) == (3 if len(history) == 4 else 0)
    assert result.edits[0].source_turn == history.index(next(one for one in history if HISTORY[0] in str(one)))


@pytest.mark.parametrize(
    ("history", "utterance", "reason"),
    [([], QUESTION, "no_history"), ([" ", "\u200b"], QUESTION, "no_history"), (HISTORY, "\u200b", "self_contained")],
)
def test_what_needs_no_network(rewriter, history, utterance, reason):
    result = rewriter.rewrite(history, utterance)
    assert (result.text, result.reason) == (utterance, reason)


def test_never_means_never(rewriter):
    result = rewriter.rewrite(HISTORY, QUESTION, mode="never")
    assert (result.text, result.reason, result.confidence) == (QUESTION, "never", None)


def test_thresholds_and_protected_words(rewriter):
    assert not rewriter.rewrite(HISTORY, QUESTION, threshold=1.0).changed
    assert rewriter.rewrite(HISTORY, QUESTION, threshold=0.0).changed
    assert "it" in rewriter.rewrite(HISTORY, QUESTION, protect=["It"]).text.split()


def test_a_long_utterance_is_left_alone(rewriter):
    long = "it " * (MOST_WORDS + 1)
    result = rewriter.rewrite(HISTORY, long)
    assert (result.text, result.reason) == (long, "self_contained")
    assert f"more than {MOST_WORDS}" in result.notes[0]


def test_a_long_history_keeps_the_latest_turns(rewriter):
    result = rewriter.rewrite([*["Do you know Paris ?"] * 2000, *HISTORY], QUESTION)
    assert result.turns_used is not None
    assert 2 < result.turns_used < 200
    left_out = f"{2002 - result.turns_used:,}"
    assert result.notes == (f"the first {left_out} turns of the history do not fit the model's window",)
    assert all(edit.source_turn is not None and edit.source_turn > 1800 for edit in result.edits)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"history": "x", "utterance": "y"}, "history"),
        ({"history": [3], "utterance": "y"}, "history[0]"),
        ({"history": [], "utterance": " "}, "utterance"),
        ({"history": [], "utterance": "x", "mode": "often"}, "mode"),
        ({"history": [], "utterance": "x", "threshold": 1.5}, "threshold"),
        ({"history": [], "utterance": "x", "threshold": float("nan")}, "threshold"),
        ({"history": [], "utterance": "x", "lang": "fr"}, "lang"),
        ({"history": [], "utterance": "x", "protect": "x"}, "protect"),
        ({"history": None, "utterance": "y"}, "history"),
        ({"history": {"role": "user", "content": "x"}, "utterance": "y"}, "history"),
        ({"history": {"x"}, "utterance": "y"}, "history"),
        ({"history": b"x", "utterance": "y"}, "history"),
        ({"history": 3, "utterance": "y"}, "history"),
        ({"history": [], "utterance": None}, "utterance"),
        ({"history": [], "utterance": "x", "threshold": "0.5"}, "threshold"),
        ({"history": [], "utterance": "x", "threshold": True}, "threshold"),
        ({"history": [], "utterance": "x", "threshold": [0.5]}, "threshold"),
        ({"history": [], "utterance": "x", "mode": None}, "mode"),
        ({"history": [], "utterance": "x", "protect": None}, "protect"),
        ({"history": [], "utterance": "x", "protect": {"x": 1}}, "protect"),
        ({"history": [], "utterance": "x", "protect": ["x", 3]}, "protect[1]"),
    ],
)
def test_what_cannot_be_used_is_named(rewriter, arguments, field):
    with pytest.raises(BadInputError) as caught:
        rewriter.rewrite(**arguments)
    assert caught.value.field == field
    history, utterance = arguments.pop("history"), arguments.pop("utterance")
    with pytest.raises(BadInputError) as caught:
        rewriter.rewrite_batch([(history, utterance)], **arguments)
    assert caught.value.field == (field if arguments else f"dialogues[0].{field}")


def test_what_is_as_good_as_a_list_or_a_number_can_be_used(rewriter):
    result = rewriter.rewrite(iter(HISTORY), QUESTION, threshold=np.float32(0), protect={"Oslo"})
    assert result.text == "where is Oslo now ?"
    assert rewriter.rewrite(HISTORY, QUESTION, threshold=1, protect=iter(["it"])).text == QUESTION
    (result,) = rewriter.rewrite_batch(iter([(tuple(HISTORY), QUESTION)]), batch_size=np.int64(2))
    assert result.text == "where is Oslo now ?"


@pytest.mark.parametrize("dialogues", [None, {"history": [], "utterance": "x"}, "why", Dialogue.of([], "why")])
def test_what_is_no_list_of_dialogues_is_named(rewriter, dialogues):
    with pytest.raises(BadInputError, match="expected a list of dialogues") as caught:
        rewriter.rewrite_batch(dialogues)
    assert caught.value.field == "dialogues"


@pytest.mark.parametrize("count", [0, -1, "2", 1.5, True])
def test_counts_are_whole_numbers(rewriter, toy_bundle, count):
    with pytest.raises(BadInputError, match="at least 1") as caught:
        rewriter.rewrite_batch([], batch_size=count)
    assert caught.value.field == "batch_size"
    with pytest.raises(BadInputError, match="at least 1") as caught:
        Rewriter.from_pretrained(toy_bundle, threads=count)
    assert caught.value.field == "threads"


ENGLISH, CHINESE = (["Who wrote Dune?"], "When was it written?"), (["鲍勃是谁"], "他老吗")


@pytest.mark.parametrize(("lang", "models"), [(None, ["en", "zh"]), ("en", ["en", "en"]), ("zh", ["zh", "zh"])])
def test_the_language_chooses_the_model_of_auto(lang, models):
    rewriter = Rewriter.from_pretrained("auto")
    together = rewriter.rewrite_batch([ENGLISH, CHINESE], lang=lang)
    alone = [rewriter.rewrite(*ENGLISH, lang=lang), rewriter.rewrite(*CHINESE, lang=lang)]
    for results in (together, alone):
        assert [result.model for result in results] == models
        assert all(not result.notes for result in results)


def test_a_single_model_is_used_whatever_the_language_and_says_so():
    rewriter = Rewriter.from_pretrained("zh-fast")
    plain = rewriter.rewrite(*CHINESE)
    assert rewriter.rewrite(*CHINESE, lang="zh") == plain
    asked = rewriter.rewrite(*CHINESE, lang="en")
    assert asked == replace(plain, notes=("the model zh-fast is for zh; asking it for en changes nothing",))
    (together,) = rewriter.rewrite_batch([CHINESE], lang="en", keep_grid=True)
    assert (together.text, together.model, together.notes) == (plain.text, "zh-fast", asked.notes)


def test_a_model_that_does_not_say_its_languages_is_not_spoken_for(rewriter):
    (pipeline,) = rewriter._loaded.values()
    silent = Rewriter.of(replace(pipeline, config=replace(pipeline.config, languages=())))
    assert silent.rewrite(HISTORY, QUESTION, lang="zh").notes == ()


def test_a_bad_dialogue_of_a_batch_is_named(rewriter):
    with pytest.raises(BadInputError) as caught:
        rewriter.rewrite_batch([([], "x"), (["y"], "")])
    assert caught.value.field == "dialogues[1].utterance"
    with pytest.raises(BadInputError, match="at least 1"):
        rewriter.rewrite_batch([], batch_size=0)


def test_a_failure_inside_gives_the_utterance_back(toy_bundle, caplog):
    """A run that fails on one dialogue fails for that one alone, also in a batch."""
    rewriter = Rewriter.from_pretrained(toy_bundle)
    (pipeline,) = rewriter._loaded.values()

    def run(arrays):
        if (arrays.widths == 4).any():
            raise RuntimeError("out of memory, say")
        return pipeline.run(arrays)

    rewriter = Rewriter.of(replace(pipeline, run=run))
    with caplog.at_level(logging.WARNING, logger="urewrite"):
        failed, good = rewriter.rewrite_batch([(HISTORY, "why is it"), (HISTORY, QUESTION)])
    assert (failed.text, failed.reason, failed.confidence) == ("why is it", "error", None)
    assert (good.text, good.reason) == ("where is Oslo now ?", "rewritten")
    assert "out of memory, say" in caplog.text


def test_threads_may_share_a_rewriter(rewriter, examples):
    dialogues = [example.dialogue for example in examples]
    expected = [result.text for result in rewriter.rewrite_batch(dialogues)]

    def one(dialogue):
        return rewriter.rewrite(dialogue.history, dialogue.utterance).text

    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            assert list(pool.map(one, dialogues)) == expected


def test_results_can_be_pickled_and_told_as_json(rewriter):
    result = rewriter.rewrite(HISTORY, QUESTION)
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    for name in ("rows", "columns", "row_turns", "regions"):
        assert getattr(again.grid, name) == getattr(result.grid, name) != ()
    np.testing.assert_array_equal(again.grid.probabilities, result.grid.probabilities)
    record = json.loads(json.dumps(result.to_record()))
    assert record["text"] == result.text
    assert record["edits"][0]["source_turn"] == 0


def test_a_saved_model_is_the_same_and_damage_is_noticed(rewriter, toy_bundle, tmp_path):
    folder = tmp_path / "copy"
    rewriter.save_pretrained(folder)
    assert Rewriter.from_pretrained(str(folder)).rewrite(HISTORY, QUESTION) == rewriter.rewrite(HISTORY, QUESTION)
    graph = folder / "model.onnx"
    graph.write_bytes(graph.read_bytes()[:-1] + b"x")
    with pytest.raises(DataUnavailableError, match=r"model\.onnx is damaged"):
        Rewriter.from_pretrained(folder)
    graph.unlink()
    with pytest.raises(DataUnavailableError, match=r"it holds no model\.onnx"):
        Rewriter.from_pretrained(folder)


def test_saving_takes_the_place_of_another_model_but_not_of_itself(toy_bundle, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(toy_bundle, source)
    target.mkdir()
    (target / "tokenizer.json").write_text("{}")
    rewriter = Rewriter.from_pretrained(source)
    rewriter.save_pretrained(target)
    assert sorted(path.name for path in target.iterdir()) == sorted(path.name for path in source.iterdir())
    with pytest.raises(BadInputError, match="already is in"):
        rewriter.save_pretrained(source)
    config = source / "config.json"
    config.write_text(config.read_text() + "\n")
    with pytest.raises(DataUnavailableError, match=r"config\.json is damaged"):
        rewriter.save_pretrained(tmp_path / "third")


@pytest.mark.parametrize(
    ("sums", "reason"), [(b"", "no checksum of config.json"), (b"\xff\xfe  x\n", "name of a model file")]
)
def test_checksums_that_are_none_are_not_taken_for_some(toy_bundle, tmp_path, sums, reason):
    folder = tmp_path / "copy"
    shutil.copytree(toy_bundle, folder)
    (folder / "SHA256SUMS").write_bytes(sums)
    with pytest.raises((BadInputError, DataUnavailableError), match=reason):
        Rewriter.from_pretrained(folder)


@pytest.mark.parametrize(("key", "value"), [("most_rows", "x"), ("name", 5), ("thresholds", {"cell": "much"})])
def test_a_configuration_of_other_kinds_is_named(toy_bundle, tmp_path, key, value):
    folder = tmp_path / "copy"
    shutil.copytree(toy_bundle, folder)
    (folder / "SHA256SUMS").unlink()
    document = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**document, key: value}))
    with pytest.raises(BadInputError, match=f"{key}.*: expected"):
        Rewriter.from_pretrained(folder)


def test_no_model_is_no_name():
    for given in (None, "", 5):
        with pytest.raises(BadInputError, match="expected the name of a model"):
            Rewriter.from_pretrained(given)


def test_a_rewriter_is_not_sent_to_other_processes(rewriter):
    with pytest.raises(TypeError, match="load one in each process"):
        pickle.dumps(rewriter)


def test_checksums_lead_nowhere_else(toy_bundle, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(toy_bundle, folder)
    (folder / "SHA256SUMS").write_text("0" * 64 + "  ../secret\n")
    with pytest.raises(BadInputError, match="name of a model file"):
        Rewriter.from_pretrained(folder)


def test_a_graph_of_something_else_is_refused(toy_bundle, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(toy_bundle, folder)
    (folder / "SHA256SUMS").unlink()
    (folder / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(BadInputError, match="no graph that can be run"):
        Rewriter.from_pretrained(folder)


def test_a_run_that_was_not_exported_says_how(toy_run):
    with pytest.raises(DataUnavailableError, match="urewrite export"):
        Rewriter.from_pretrained(toy_run)
