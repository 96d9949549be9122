"""Greetings, thanks and farewells: they stand on their own whatever was said before, so no network is asked.

Assents (`okay`, `sure`, 好的, 嗯) are not among them: after a question such a word may stand for the whole answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from urewrite.tokens import tokenize

_ENGLISH = """
hi; hello; hey; hi there; hello there; hey there; hi all; hi everyone; hello everyone; greetings
good morning; good afternoon; good evening; good day; good night
thanks; thank you; thanks a lot; thanks so much; thanks again; many thanks; thx
thank you very much; thank you so much; thank you again; thank you kindly; much appreciated
thank you for your help; thanks for your help; thank you for the help; thanks for the help
thank you for your time; thanks for your time; thank you for all your help; thanks for all your help
you're welcome; you are welcome; my pleasure
bye; bye bye; goodbye; good bye; bye for now; see you; see you later; see you soon; see you tomorrow; take care
have a nice day; have a good day; have a great day; have a nice evening; have a good evening; have a good one
have a nice weekend; have a good weekend; have a great weekend
"""
_CHINESE = """
你好; 您好; 你们好; 大家好; 嗨; 哈喽; 哈罗; 早; 早安; 早上好; 上午好; 中午好; 下午好; 晚上好; 晚安
谢谢; 谢谢你; 谢谢您; 谢谢你们; 谢谢大家; 谢谢了; 谢了; 多谢; 多谢了; 感谢; 感谢你; 感谢您; 非常感谢; 十分感谢; 太感谢了
不客气; 不用谢; 别客气
再见; 拜拜; 回见; 回头见; 明天见; 下次见
"""
_PARTICLES = frozenset("啊呀哦噢啦哈哟喽")
"""What a Chinese greeting may end in."""

_SIGNS = regex.compile(r"[\p{P}\p{S}]+")
_MOST_WORDS = 16
"""No pleasantry is longer, so a longer utterance is not looked through."""


def is_pleasantry(keys: Sequence[str]) -> bool:
    """Whether the words of an utterance, in lower case, are such phrases and nothing else but punctuation."""
    if not keys or len(keys) > _MOST_WORDS:
        return False
    phrases = _phrases()
    words = [key for key in keys if not _SIGNS.fullmatch(key)]
    at = 0
    while at < len(words):
        for phrase in phrases.get(words[at], ()):
            if tuple(words[at : at + len(phrase)]) == phrase:
                at += len(phrase)
                break
        else:
            if not at or words[at] not in _PARTICLES:
                return False
            at += 1
    return bool(words)


@cache
def _phrases() -> dict[str, list[tuple[str, ...]]]:
    """By their first word, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for text in (_ENGLISH + _CHINESE).replace("\n", ";").split(";"):
        keys = tokenize(text.strip()).keys
        if keys:
            found.setdefault(keys[0], []).append(keys)
    return {first: sorted(phrases, key=len, reverse=True) for first, phrases in found.items()}
