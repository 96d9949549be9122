"""From a trained model to one's own data in one command."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import torch
from safetensors.torch import load_file

from training.resuming import assert_goes_on_exactly
from training.running import here
from urewrite import Dialogue, Rewriter
from urewrite.bundle import WEIGHTS, read_config
from urewrite.pipeline import judge_dialogues
from urewrite.pretrained import MODELS, bundled
from urewrite.rewriter import load_pipeline
from urewrite.training.predict import pipeline_of
from urewrite.training.weights import load_model

NAMES = ("zebra", "Kobe", "walrus", "Anna", "Oslo", "yak", "emu", "Paris")
CHINESE = ("王菲", "刘德华", "张学友", "梁朝伟", "周星驰", "林青霞", "巩俐", "章子怡", "李安", "葛优", "姜文", "舒淇")


@pytest.fixture
def trained(toy_run):
    return toy_run


def own_file(folder, amount=64, name="own"):
    path = folder / f"{name}.jsonl"
    records = [
        {
            "history": [f"Do you know {name} ?", "yes " * (number // len(NAMES) + 1)],  # no two are the same
            "utterance": "show it !",
            "rewrite": f"show {name} !",
            "dialogue_id": str(number),
        }
        for number, name in zip(range(amount), NAMES * amount, strict=False)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def chinese_file(folder, name, people):
    path = folder / f"{name}.jsonl"
    records = [
        {"history": [f"你喜欢{person}吗", "喜欢"], "utterance": "为什么喜欢他", "rewrite": f"为什么喜欢{person}"}
        for person in people
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_model_is_fine_tuned_on_a_file(trained, tmp_path):
    flags = ("--folder", tmp_path / "mine", "--epochs", 24, "--batch-size", 8)
    messages = here("finetune", trained, own_file(tmp_path), *flags)
    assert float(messages.split("best em: ")[1].split()[0]) >= 90
    before, after = read_config(trained), read_config(tmp_path / "mine")
    assert after.connection_words == before.connection_words
    assert after.network == before.network
    assert after.trained_on[: len(before.trained_on)] == before.trained_on
    assert len(after.trained_on) > len(before.trained_on)
    known = load_model(trained).preparer.words
    more = load_model(tmp_path / "mine").preparer.words
    assert more[: len(known)] == known
    assert {"zebra", "walrus"} <= set(more[len(known) :])


def test_any_name_and_any_number_of_steps_will_do(trained, tmp_path, monkeypatch):
    """The name of a file may be Chinese, and a schedule of just 20 steps has a warm-up of one."""
    chosen_by = ("--validation", trained.parent / "validation.jsonl")
    steps = ("--epochs", 1, "--batch-size", 1)
    monkeypatch.chdir(tmp_path)
    here("finetune", trained, own_file(tmp_path, 20, "对话 1"), *chosen_by, *steps)
    assert read_config(tmp_path / "runs" / "toy-_1").name == "toy-_1"


def test_a_killed_fine_tuning_goes_on_exactly(trained, tmp_path):
    """What is killed is a training with the settings of the fine-tuning, save that checkpoints come more often."""
    command = ("finetune", trained, own_file(tmp_path, 256), "--epochs", 6, "--batch-size", 4)
    often = ("train", tmp_path / "whole" / "settings.yaml", "--set", "checkpoint_minutes=0.005")
    assert_goes_on_exactly(tmp_path, *command, first=often)


def test_a_bundled_model_is_fine_tuned_and_handed_on(tmp_path):
    """Its graph is of 8 bits: what goes on learning are the numbers that these stand for; its lexicon stays."""
    started, bundle = load_model(MODELS / "zh-fast"), load_pipeline(MODELS / "zh-fast", threads=1)
    (as_started,), (as_shipped,) = (
        judge_dialogues(pipeline, [Dialogue.of(["你喜欢周杰伦吗", "喜欢"], "为什么喜欢他")])
        for pipeline in (pipeline_of(started), bundle)
    )
    assert np.abs(as_started.probabilities - as_shipped.probabilities).max() < 0.05
    flags = ("--epochs", 1, "--batch-size", 8, "--learning-rate", 1e-4)
    learned_from = (chinese_file(tmp_path, "own", CHINESE), "--validation", chinese_file(tmp_path, "other", ["成龙"]))
    here("finetune", "zh-fast", *learned_from, "--folder", tmp_path / "mine", *flags)
    before, after = started.network.state_dict(), load_model(tmp_path / "mine").network.state_dict()
    unpacked = before.keys() - load_file(MODELS / "zh-fast" / WEIGHTS).keys()
    lexicon = "context_layer.terms.vectors"
    assert {lexicon} < unpacked
    assert torch.equal(after[lexicon], before[lexicon])
    for name in unpacked - {lexicon}:
        change = (after[name][: len(before[name])] - before[name]).abs().max()
        assert 0 < change < 1e-3
    here("export", tmp_path / "mine", "--output", tmp_path / "exported", "--int8")
    result = Rewriter.from_pretrained(tmp_path / "exported").rewrite(["你喜欢周杰伦吗", "喜欢"], "为什么喜欢他")
    assert (result.text, result.reason) == ("为什么喜欢周杰伦", "rewritten")
    assert result.model == "zh-fast-own"


def test_what_is_no_model_or_no_file_is_said(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def said(model, examples, code):
        return here("finetune", model, examples, code=code)

    assert "is no model folder" in said(tmp_path, own_file(tmp_path), 4)
    assert "expected a .jsonl file" in said(trained, "rewrite", 3)
    (tmp_path / "bad.jsonl").write_text('{"history": []}\n', encoding="utf-8")
    assert "line 1" in said(trained, tmp_path / "bad.jsonl", 3)
    for model in bundled()[:1]:
        assert "line 1" in said(model, tmp_path / "bad.jsonl", 3)
    assert not (tmp_path / "runs").exists()
