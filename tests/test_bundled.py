"""The models that come with the package: small, whole, and of use."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hostile import fuzz
from urewrite import Rewriter
from urewrite.bundle import CARD, FILES, WEIGHTS, read_config, verify_checksums
from urewrite.corpora.sources import CORPORA
from urewrite.dialogue import Dialogue
from urewrite.pipeline import judge_dialogues
from urewrite.pretrained import MODELS, bundled
from urewrite.rewriter import load_pipeline

MEGABYTES = {"en": 30, "zh": 30, "en-fast": 10, "zh-fast": 10}
HISTORIES = {
    "en": ["Is it raining in Oslo?", "No, it is sunny in Oslo."],
    "zh": ["上海下雨了吗", "没有，上海是晴天"],
}
FOLLOW_UPS = {
    "en": [
        (["Who wrote Dune?", "Frank Herbert wrote Dune."], "When was he born?"),
        (["I need a cheap restaurant in the north of town.", "What kind of food would you like?"], "Italian, please."),
        (["What is the capital of Peru?", "The capital of Peru is Lima."], "How many people live there?"),
        ([f"Room {number} is free on day {number}." for number in range(30)], "Is it quiet?"),
    ],
    "zh": [
        (["你看过泰坦尼克号吗", "看过，很好看"], "谁导演的"),
        (["你喜欢周杰伦吗", "喜欢"], "为什么喜欢他"),
        (["北京今天天气怎么样", "北京今天是阴天"], "为什么总是这样"),
        ([f"第{number}天去第{number}个城市" for number in range(30)], "那里怎么样"),
    ],
}
SELF_CONTAINED = {
    "en": ["Hello!", "Thanks a lot!", "Good morning.", "Please book a table for two at eight o'clock tonight."],
    "zh": ["你好", "谢谢", "再见"],
}


@pytest.fixture(scope="module")
def rewriters():
    return {name: Rewriter.from_pretrained(name) for name in MEGABYTES}


def language(name):
    return name.removesuffix("-fast")


def test_these_and_no_others_are_bundled():
    assert set(bundled()) == set(MEGABYTES)


@pytest.mark.parametrize("name", MEGABYTES)
def test_a_model_is_whole_small_and_says_what_it_is(name):
    folder = MODELS / name
    verify_checksums(folder)
    assert {path.name for path in folder.iterdir()} <= set(FILES)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= MEGABYTES[name] * 1e6
    assert (folder / WEIGHTS).is_file()  # what is needed to go on training
    config = read_config(folder)
    assert (config.name, config.languages) == (name, (language(name),))
    assert config.calibration
    card = (folder / CARD).read_text(encoding="utf-8")
    for line in config.trained_on:
        shown = next(shown for shown in card.splitlines() if shown.startswith(f"- {line}"))
        assert "licence" in shown or line.partition(":")[0] not in CORPORA


@pytest.mark.parametrize("name", MEGABYTES)
def test_what_stands_on_its_own_is_left_alone(rewriters, name):
    for utterance in SELF_CONTAINED[language(name)]:
        result = rewriters[name].rewrite(HISTORIES[language(name)], utterance)
        assert (result.text, result.edits) == (utterance, ())
        assert result.reason in ("self_contained", "low_confidence")


@pytest.mark.parametrize(
    ("name", "history", "utterance", "word"),
    [
        ("en", ["Who wrote Dune?", "Frank Herbert wrote Dune."], "When was he born?", "Herbert"),
        ("en-fast", ["Who wrote Dune?", "Frank Herbert wrote Dune."], "When was he born?", "Herbert"),
        ("zh", ["你看过泰坦尼克号吗", "看过，很好看"], "谁导演的", "泰坦尼克号"),
        ("zh-fast", ["你喜欢周杰伦吗", "喜欢"], "为什么喜欢他", "周杰伦"),
    ],
)
def test_a_follow_up_is_completed_from_its_history(rewriters, name, history, utterance, word):
    result = rewriters[name].rewrite(history, utterance)
    assert word in result.text
    assert result.reason == "rewritten"
    assert 0 < result.confidence <= 1
    assert any(word in edit.text and edit.source_turn is not None for edit in result.edits)


@pytest.mark.parametrize("name", MEGABYTES)
def test_a_dialogue_is_judged_alone_as_among_others(name):
    """Rows of 8 bits are rounded each by its own scale, so that no other dialogue has a say."""
    pipeline = load_pipeline(MODELS / name, threads=1)
    dialogues = [Dialogue.of(history, utterance) for history, utterance in FOLLOW_UPS[language(name)]]
    alone, together = (judge_dialogues(pipeline, dialogues, batch_size=size) for size in (1, len(dialogues)))
    for first, second in zip(alone, together, strict=True):
        assert np.abs(first.probabilities - second.probabilities).max() < 1e-3


@pytest.mark.parametrize(("name", "amount"), {"en": 300, "zh": 300, "en-fast": 2000, "zh-fast": 2000}.items())
def test_hostile_dialogues_break_no_promise(rewriters, name, amount):
    outcome = fuzz(rewriters[name], amount, random.Random(3))
    assert (outcome.broken, outcome.failures, outcome.reasons["error"]) == ([], [], 0)
    assert outcome.reasons.total() == amount
    assert outcome.reasons["rewritten"] > amount / 20


def test_hostile_dialogues_of_all_languages_break_no_promise():
    outcome = fuzz(Rewriter.from_pretrained("auto-fast"), 500, random.Random(4))
    assert (outcome.broken, outcome.failures, outcome.reasons["error"]) == ([], [], 0)
    assert min(outcome.reasons[reason] for reason in ("rewritten", "self_contained", "never", "no_history")) > 0


def test_auto_takes_the_model_of_the_language():
    dialogues = [(["Who is Bob?"], "Is he old?"), (["鲍勃是谁"], "他老吗")]
    for name, models in {"auto": ("en", "zh"), "auto-fast": ("en-fast", "zh-fast")}.items():
        english, chinese = Rewriter.from_pretrained(name).rewrite_batch(dialogues)
        assert (english.model, chinese.model) == models
