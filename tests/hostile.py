"""Dialogues made to break things: scripts that run the other way, marks without letters, halves of characters."""

from __future__ import annotations

import random

from urewrite.dialogue import Dialogue

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


def hostile_text(chance: random.Random, most: int = 12) -> str:
    """A handful of pieces, with or without blanks between."""
    amount = chance.randrange(most + 1)
    blank = chance.choice(["", " ", " ", "  "])
    pieces = [
        chance.choice(_PIECES) if chance.random() < 0.9 else chr(chance.randrange(0x110000)) for _ in range(amount)
    ]
    return blank.join(pieces)


def hostile_dialogue(chance: random.Random) -> Dialogue:
    """Mostly a few short turns; now and then thousands of turns, or one of 100 KB."""
    kind = chance.random()
    history = [hostile_text(chance) for _ in range(chance.randrange(6))]
    if kind < 0.002:
        history = [hostile_text(chance, 4) for _ in range(3000)]
    elif kind < 0.004:
        history.append(hostile_text(chance, 30) * 2000)
    utterance = hostile_text(chance, 10 if kind > 0.006 else 400)
    while not utterance.strip():
        utterance = hostile_text(chance)
    return Dialogue.of(history, utterance)
