from __future__ import annotations

import pytest

from urewrite.dialogue import Dialogue
from urewrite.language import language_of, languages_of


@pytest.mark.parametrize(
    ("history", "utterance", "expected"),
    [
        ([], "Why is that?", "en"),
        ([], "为什么", "zh"),
        ([], "为什么 iPhone 这么贵", "zh"),
        ([], "How far is 北京 from here?", "en"),
        (["北京怎么样"], "Why is that so?", "en"),
        (["北京怎么样"], "OK", "zh"),
        (["How are you?", "Fine."], "OK", "en"),
        (["iPhone 15 多少钱?", "5999 元。"], "那 iPhone 15 Pro Max 呢", "zh"),
        (["你好", "Hello, how can I help you?"], "How far is 北京 from here?", "en"),
        (["How are you?", "很好"], "?!", "zh"),
        (["很好", "How are you?"], "2 + 2", "en"),
        (["..."], "42", "en"),
        ([], "لماذا؟", "en"),
    ],
)
def test_the_script_decides(history, utterance, expected):
    assert language_of(Dialogue.of(history, utterance)) == expected


def test_only_the_start_of_a_long_text_is_looked_at():
    assert language_of(Dialogue.of([], "好" * 1500 + " word" * 100_000)) == "zh"


def test_the_languages_of_many_dialogues_are_those_of_a_good_part():
    english, chinese = Dialogue.of([], "Where is it?"), Dialogue.of([], "它在哪里")
    assert languages_of([]) == ()
    assert languages_of([english] * 50 + [chinese]) == ("en",)
    assert languages_of([chinese] * 3 + [english]) == ("en", "zh")
