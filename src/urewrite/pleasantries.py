"""Greetings, thanks, farewells and the like: they stand on their own whatever was said before, so no network is asked.

Assents (`okay`, `great`, 好的, 嗯) may stand beside such a phrase, but are none: after a question an assent may stand
for the whole answer, and is left to the model, with laughter before it too. So is whatever is asked (`Hello?`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import regex

from urewrite.tokens import tokenize

_PHRASES = """
hi; hello; hey; hi there; hello there; hey there; hi all; hi everyone; hello everyone; greetings
good morning; good afternoon; good evening; good day; good night
thanks; thank you; thanks a lot; thanks so much; thanks again; many thanks; thx; thank u; thankyou; cheers
thank you very much; thank you so much; thank you again; thank you kindly; much appreciated
thank you for your help; thanks for your help; thank you for the help; thanks for the help
thank you so much for your help; thank you very much for your help; thanks a lot for your help
thank you for your time; thanks for your time; thank you for all your help; thanks for all your help
you're welcome; you are welcome; my pleasure
bye; bye bye; goodbye; good bye; bye for now; see you; see you later; see you soon; see you tomorrow; take care
have a nice day; have a good day; have a great day; have a nice evening; have a good evening; have a good one
have a nice weekend; have a good weekend; have a great weekend
你好; 您好; 你们好; 你們好; 大家好; 嗨; 哈喽; 哈囉; 哈罗; 早安; 早上好; 上午好; 中午好; 下午好; 晚上好; 晚安
谢谢; 谢谢你; 谢谢您; 谢谢你们; 谢谢大家; 谢谢了; 谢了; 多谢; 多谢你; 多谢了; 太谢谢了; 太谢谢你了; 谢谢你的帮助
感谢; 感谢你; 感谢您; 感谢大家; 非常感谢; 十分感谢; 太感谢了; 辛苦了
謝謝; 謝謝你; 謝謝您; 謝謝你們; 謝謝大家; 謝謝了; 謝了; 多謝; 多謝你; 多謝了; 太謝謝了; 感謝; 感謝你; 感謝您; 非常感謝
不客气; 不客氣; 不用谢; 不用謝; 别客气; 別客氣
再见; 再見; 再会; 再會; 拜拜; 回见; 回头见; 回頭見; 明天见; 明天見; 下次见; 下次見
对不起; 對不起; 不好意思; 抱歉
"""
_ASSENTS = """
ok; okay; alright; all right; great; perfect; wonderful; excellent; good; nice; cool
好; 好的; 好吧; 好滴; 好嘞; 行; 嗯; 嗯嗯; 哦; 可以
"""
_LAUGHTER = "哈哈; 呵呵; 嘿嘿; 嘻嘻"
_PARTICLES = frozenset("啊呀哦噢啦哈哟喽吧嘞咯")
"""What a Chinese greeting may end in."""

_SIGNS = regex.compile(r"[\p{P}\p{S}\p{M}]+")
_QUESTION_MARKS = frozenset("?？")
_MOST_KEYS = 40
"""No pleasantry has more words and signs, so a longer utterance is not looked through."""


def is_pleasantry(keys: Sequence[str]) -> bool:
    """Whether the words of an utterance, in lower case, are such phrases, maybe with assents, or laughter alone."""
    if len(keys) > _MOST_KEYS or not _QUESTION_MARKS.isdisjoint(keys):
        return False
    phrases = _phrases()
    begins = next((key for key in keys if key.isalpha() or not _SIGNS.fullmatch(key)), None)
    if begins not in phrases:  # as nearly always
        return False
    words = [key.replace("’", "'") for key in keys if not _SIGNS.fullmatch(key)]
    at, kinds = 0, set[str]()
    while at < len(words):
        for phrase, kind in phrases.get(words[at], ()):
            if tuple(words[at : at + len(phrase)]) == phrase:
                at += len(phrase)
                kinds.add(kind)
                break
        else:
            if not at or words[at] not in _PARTICLES:
                return False
            at += 1
    return _PHRASES in kinds or kinds == {_LAUGHTER}


@cache
def _phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """By their first word, the longest first, each with the list it is from."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for listed in (_PHRASES, _ASSENTS, _LAUGHTER):
        for text in listed.strip().replace("\n", ";").split(";"):
            keys = tokenize(text.strip()).keys
            found.setdefault(keys[0], []).append((keys, listed))
    return {first: sorted(phrases, key=lambda one: -len(one[0])) for first, phrases in found.items()}
