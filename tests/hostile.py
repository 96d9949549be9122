"""Dialogues made to break things, as callers have them, and a check that no rewriter breaks.

Scripts that run the other way, marks without letters, halves of characters; strings, pairs and chat messages.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from urewrite import Rewriter
from urewrite.decide import protected
from urewrite.dialogue import Dialogue, HistoryItem
from urewrite.guarantees import failures_logged, violations
from urewrite.language import language_of
from urewrite.rewrite import Rewrite
from urewrite.tokens import tokenize

_PIECES = [
    *("why", "is", "it", "Kobe", "Beijing", "'s", "n't", "do", "not", "?", "!", "...", "x86-64", "C++", "[S]", "[E]"),
    *"北京天气怎么样为什么他它这，。？",
    *("שלום", "مرحبا", "\u202eabc\u202c", "\u200f", "हिन्दी", "ไทย", "한국어", "カタカナ", "ﬁ", "Ⅷ", "²"),
    *(
        "e\u0301",
        "\u0301",
        "a" + "\u0300" * 40,
        "Z\u0351\u036b\u0343\u036a",
        "👨‍👩‍👧‍👦",
        "🇩🇪",
        "🏳️‍🌈",
        "👍🏿",
        "\u200d",
        "\ufe0f",
    ),
    *("\ud800", "\udfff", "\udc80", "\x00", "\x1b[31m", "\x7f", "\r\n", "\t", "\u2028", "\ufeff", "\u00ad", "\u3000"),
    *("<script>alert(1)</script>", "{}", "%s", "\\", '"', "https://a.b/c?d=e", "a@b.cd", "1,000.5", "12:30", "$5"),
]
_SPEAK = ("user", "assistant", "USER", "Alice", "Ai", "客服", "", "us er", "\ud800", "<user>")
_KEEP_SILENT = ("system", "tool", "developer", "function", "System", "TOOL")
_IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}
_NO_TEXT = (None, 5, [], {"url": "Kobe"}, [_IMAGE], [None, 1.5], [{"type": "text"}], [{"type": "tool", "text": "it"}])
_LARGE = 100_000
_TOGETHER = 100
"""Dialogues of one call, which share a mode, a threshold and what else a caller may ask for."""
_MODES = ("auto", "auto", "auto", "auto", "always", "always", "always", "always", "never")
_PROTECTED = ((), (), (), ("it", "他"), ("Why", "is", "n't", "👍🏿"))
_LANGUAGES = (None, None, None, "en", "zh")
_ALONE = 0.25
"""The share of dialogues that are rewritten alone as well."""
_ROUNDING = 1e-3
"""How far probabilities may be apart that were computed in batches of unlike sizes."""


@dataclass(frozen=True)
class Given:
    """A dialogue as a caller has it, and what each turn says in the conversation, nothing if it is not part of it."""

    history: list[HistoryItem]
    utterance: str
    said: list[str]


@dataclass
class Outcome:
    """What became of many dialogues: how often each reason, promises broken, and failures the log tells of."""

    reasons: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def hostile_text(chance: random.Random, most: int = 12) -> str:
    """A handful of pieces, with or without blanks between."""
    amount = chance.randrange(most + 1)
    blank = chance.choice(["", " ", " ", "  "])
    pieces = [
        chance.choice(_PIECES) if chance.random() < 0.9 else chr(chance.randrange(0x110000)) for _ in range(amount)
    ]
    return blank.join(pieces)


def hostile_call(chance: random.Random) -> Given:
    """Mostly a few short turns; now and then thousands of turns, or one of 100 KB."""
    kind = chance.random()
    if kind < 0.002:
        return _many_turns(chance)
    if kind < 0.004:
        return _long_turn(chance)
    history = [hostile_text(chance) for _ in range(chance.randrange(6))]
    return _call(history, _spoken(chance, 10 if kind > 0.006 else 400), chance)


def _many_turns(chance: random.Random) -> Given:
    return _call([hostile_text(chance, 4) for _ in range(3000)], _spoken(chance), chance)


def _long_turn(chance: random.Random) -> Given:
    history = [hostile_text(chance) for _ in range(chance.randrange(6))]
    return _call([*history, _spoken(chance, 30) * 2000], _spoken(chance), chance)


def _long_utterance(chance: random.Random) -> Given:
    return _call([hostile_text(chance)], (_spoken(chance, 30) * _LARGE)[:_LARGE], chance)


def _mixed_languages(chance: random.Random) -> Given:
    return _call(
        ["北京今天下雨了吗", "No, it is sunny in Beijing 北京."],
        chance.choice(["那 Oslo 呢", "what about 上海"]),
        chance,
    )


_EXTREMES = (_many_turns, _long_turn, _long_utterance, _mixed_languages)
"""One of each is among the first dialogues, however few there are."""


def _spoken(chance: random.Random, most: int = 10) -> str:
    """A text that is not blank."""
    text = hostile_text(chance, most)
    while not text.strip():
        text = hostile_text(chance)
    return text


def _call(history: list[str], utterance: str, chance: random.Random) -> Given:
    turns = [_dressed(text, chance) for text in history]
    return Given([item for item, _ in turns], utterance, [said for _, said in turns])


def hostile_dialogue(chance: random.Random) -> Dialogue:
    """The same as a dialogue."""
    given = hostile_call(chance)
    return Dialogue.of(given.history, given.utterance)


def _dressed(text: str, chance: random.Random) -> tuple[HistoryItem, str]:
    """A turn in one of the forms callers may use, and what it says in the conversation."""
    kind = chance.randrange(20)
    if kind < 8:
        return text, text
    speaker = chance.choice(_SPEAK)
    if kind < 12:
        return (speaker, text), text
    if kind < 15:
        return {"role": speaker, "content": text}, text
    if kind < 17:
        cut = chance.randint(0, len(text))
        parts = [{"type": "text", "text": text[:cut]}, _IMAGE, text[cut:]]
        return {"role": speaker, "content": parts}, f"{text[:cut]} {text[cut:]}"
    if kind < 18:
        return {"role": speaker, "content": chance.choice(_NO_TEXT), "tool_calls": []}, ""
    silent = chance.choice(_KEEP_SILENT)
    return ((silent, text) if kind < 19 else {"role": silent, "content": text}), ""


def fuzz(
    rewriter: Rewriter, amount: int, chance: random.Random, *, follow: Callable[[int], object] | None = None
) -> Outcome:
    """Rewrite hostile dialogues together, a share of them alone as well, and gather all that should not be."""
    outcome = Outcome()
    with failures_logged() as outcome.failures:
        for start in range(0, amount, _TOGETHER):
            calls = [] if start else [extreme(chance) for extreme in _EXTREMES][:amount]
            calls += [hostile_call(chance) for _ in range(min(_TOGETHER, amount - start) - len(calls))]
            wish: dict[str, Any] = {
                "mode": chance.choice(_MODES),
                "threshold": chance.choice([None, None, None, 0.0, 1.0, chance.random()]),
                "protect": chance.choice(_PROTECTED),
                "lang": chance.choice(_LANGUAGES),
            }
            given = [(call.history, call.utterance) for call in calls]
            results = rewriter.rewrite_batch(given, **wish, keep_grid=True, follow=follow)
            for call, result in zip(calls, results, strict=True):
                outcome.reasons[str(result.reason)] += 1
                found = _faults(call, result, rewriter, wish)
                if chance.random() < _ALONE:
                    alone = rewriter.rewrite(call.history, call.utterance, **wish)
                    found += [*_faults(call, alone, rewriter, wish), *_differences(alone, result)]
                outcome.broken += [f"{fault}: {call!r:.9999}, {wish}" for fault in found]
    return outcome


def _faults(call: Given, result: Rewrite, rewriter: Rewriter, wish: Mapping[str, Any]) -> list[str]:
    dialogue = Dialogue.of(call.history, call.utterance)
    found = violations(dialogue, result, rewriter.connection_words(wish["lang"] or language_of(dialogue)))
    if [turn.text for turn in dialogue.history] != call.said:
        found.append("a turn is not what was said")
    if wish["mode"] == "never" and (result.changed or result.reason != "never"):
        found.append("rewriting was switched off")
    if protected(wish["protect"]) & set(_edited_away(result)):
        found.append("a protected word is edited away")
    return found


def _edited_away(result: Rewrite) -> Iterator[str]:
    """The words of the utterance, in lower case, that gave way to others."""
    replaced = [(edit.start, edit.end) for edit in result.edits if edit.op == "substitute"]
    if replaced:
        words = tokenize(result.utterance)
        for key, start, end in zip(words.keys, words.starts, words.ends, strict=True):
            if any(first <= start and end <= last for first, last in replaced):
                yield key


def _differences(alone: Rewrite, together: Rewrite) -> list[str]:
    """What is another alone than among others; numbers may differ by rounding."""
    if _without_numbers(alone) != _without_numbers(together):
        return [f"alone it becomes {alone.text!r}"]
    if alone.grid is None or together.grid is None:
        return [] if alone.grid is together.grid else ["it has a grid only once"]
    apart = np.abs(alone.grid.probabilities - together.grid.probabilities).max(initial=0)
    return [] if apart < _ROUNDING else [f"alone its grid is another one, by {apart:.4f}"]


def _without_numbers(result: Rewrite) -> Rewrite:
    sure = None if result.confidence is None else 1.0
    return replace(result, confidence=sure, edits=tuple(replace(edit, score=1.0) for edit in result.edits))
