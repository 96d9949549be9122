"""Greetings, thanks and farewells are left alone by rule, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite import Dialogue, Rewriter
from urewrite.pleasantries import is_pleasantry
from urewrite.tokens import tokenize


def polite(text: str) -> bool:
    return is_pleasantry(tokenize(text).keys)


@pytest.mark.parametrize(
    "text",
    [
        "Hi",
        "hello there!",
        "Thank you, goodbye.",
        "Thanks for your help! Bye.",
        "You're welcome :)",
        "Good evening, thanks 🙏",
        "你好",
        "你好啊！",
        "谢谢你，再见。",
        "晚安～",
        "好的，谢谢",
        "好的再见",
        "太谢谢了",
        "謝謝你",
        "明天见吧",
        "哈哈哈",
        "不好意思啊",
        "Great, thanks!",
        "you’re welcome",
        "thanks ❤️",
        "谢谢" + "！" * 20,
    ],
)
def test_pleasantries_are_known(text):
    assert polite(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!!",
        "Okay",
        "ok great",
        "Hello?",
        "再见？",
        "早",
        "好的，嗯",
        "哈哈可以",
        "No, thank you.",
        "Hi, who wrote it?",
        "Thanks to whom?",
        "thank",
        "Thank you for the address",
        "好的",
        "嗯",
        "啊",
        "谢谢谁",
        "你好吗",
        "再见到他是什么时候",
        "Hello " * 41,
    ],
)
def test_all_else_is_left_to_the_model(text):
    assert not polite(text)


@given(st.lists(st.sampled_from(["Hi", "thank you", "Goodbye", "谢谢", "晚安"]), min_size=1, max_size=4))
def test_any_row_of_them_is_one(phrases):
    assert polite(", ".join(phrases) + ".")
    assert not polite(", ".join([*phrases, "why"]))


@pytest.mark.parametrize(("name", "history"), [("en-fast", "Do you know Paris?"), ("zh-fast", "你喜欢周杰伦吗")])
def test_the_rule_holds_in_auto_mode_alone_and_together(name, history):
    rewriter = Rewriter.from_pretrained(name, threads=1)
    utterance = {"en-fast": "Thank you, goodbye!", "zh-fast": "谢谢你，再见！"}[name]
    alone = rewriter.rewrite([history], utterance, threshold=0.0)
    (together,) = rewriter.rewrite_batch([Dialogue.of([history], utterance)])
    for result in (alone, together):
        assert (result.text, result.reason, result.confidence) == (utterance, "self_contained", None)
    asked = rewriter.rewrite([history], utterance, mode="always")
    assert asked.confidence is not None  # the network was asked
    assert rewriter.rewrite([], utterance).reason == "no_history"
