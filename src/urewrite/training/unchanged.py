"""Examples whose utterance stays as it is, made from those of a corpus, so that leaving alone is learned too.

Corpora of rewriting hold few: people were asked to write down what needs rewriting.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from urewrite.dialogue import Dialogue, Example
from urewrite.language import Language, language_of

PLEASANTRIES: dict[Language, tuple[str, ...]] = {  # no assents: corpora rewrite them nearly always
    "en": (
        "Hello!",
        "Hi",
        "Hi there!",
        "Hey",
        "Good morning.",
        "Good evening!",
        "Thanks!",
        "Thank you.",
        "Thank you very much!",
        "Thanks a lot!",
        "Great, thanks",
        "No, thank you.",
        "No thanks, that is all.",
        "You're welcome",
        "Sorry",
        "Never mind.",
        "Nice!",
        "Interesting.",
        "Cool",
        "Haha",
        "Goodbye!",
        "Bye",
        "See you later.",
        "Have a nice day!",
    ),
    "zh": (
        "你好",
        "您好",
        "你好啊",
        "大家好",
        "早上好",
        "晚上好",
        "晚安",
        "谢谢",
        "谢谢你",
        "谢谢啦",
        "非常感谢",
        "多谢",
        "不客气",
        "不用谢",
        "哈哈",
        "哈哈哈",
        "不好意思",
        "对不起",
        "没关系",
        "没事",
        "再见",
        "拜拜",
        "明天见",
        "祝你开心",
    ),
}
"""What people say that is about no topic at all."""


def already_rewritten(examples: Sequence[Example], share: float, chance: random.Random) -> list[Example]:
    """Gold rewrites as utterances of their own dialogue: they stand on their own by definition."""
    return [_unchanged(example, example.rewrite) for example in _drawn(examples, share, chance)]


def topic_changes(examples: Sequence[Example], share: float, chance: random.Random) -> list[Example]:
    """Gold rewrites as utterances of another dialogue, and so about something else than its history."""
    return [_unchanged(example, chance.choice(examples).rewrite) for example in _drawn(examples, share, chance)]


def pleasantries(examples: Sequence[Example], share: float, chance: random.Random) -> list[Example]:
    """Greetings, thanks and the like after the history of a dialogue."""
    return [
        _unchanged(example, chance.choice(PLEASANTRIES[language_of(example.dialogue)]))
        for example in _drawn(examples, share, chance)
    ]


def _drawn(examples: Sequence[Example], share: float, chance: random.Random) -> list[Example]:
    return [example for example in examples if chance.random() < share]


def _unchanged(example: Example, utterance: str) -> Example:
    return Example(Dialogue(example.dialogue.history, utterance), utterance, example.dialogue_id)
