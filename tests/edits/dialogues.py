"""Dialogues made up for property tests: real scripts, awkward spacing, and rewrites known to be reachable."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from urewrite.dialogue import Dialogue, Example

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "Zeta", "ETA", "theta"])
CHARACTERS = st.sampled_from("北京天气今明阴晴")


@dataclass(frozen=True)
class Reachable:
    """An example whose rewrite was made by editing its utterance with spans of its history."""

    example: Example
    edits: int


@st.composite
def reachable_examples(draw: st.DrawFn) -> Reachable:
    """Random edits of a random utterance.

    Reachable by construction: every edit copies rows that no other edit copies, so that no two edits can melt in the
    grid; spans for one place follow the order of the history; something replaces whatever is removed.
    """
    chinese = draw(st.booleans())
    word, blank = (CHARACTERS, "") if chinese else (WORDS, " ")
    turns = draw(st.lists(st.lists(word, min_size=1, max_size=8), min_size=1, max_size=3))
    utterance = draw(st.lists(word, min_size=1, max_size=7))
    unused = [(turn, position) for turn, words in enumerate(turns) for position in range(len(words))]
    rewrite: list[str] = []
    column = made = 0
    first_free = 0  # columns from here on may be edited
    for _ in range(draw(st.integers(0, 3))):
        if first_free > len(utterance):
            break
        left = draw(st.integers(first_free, len(utterance)))
        right = left if left == len(utterance) or draw(st.booleans()) else draw(st.integers(left + 1, len(utterance)))
        copied: list[str] = []
        after = (-1, 0)
        for _ in range(draw(st.integers(1, 3))):
            starts = [place for place in unused if place > after]
            if not starts:
                break
            turn, start = draw(st.sampled_from(starts))
            end = start + 1
            while (turn, end) in unused and draw(st.booleans()):
                end += 1
            unused = [place for place in unused if place[0] != turn or not start <= place[1] < end]
            copied += turns[turn][start:end]
            after = (turn, end)
        if copied:
            rewrite += utterance[column:left] + copied
            column, first_free = right, max(right, left + 1)
            made += 1
    rewrite += utterance[column:]
    dialogue = Dialogue.of([blank.join(turn) for turn in turns], blank.join(utterance))
    return Reachable(Example(dialogue, blank.join(rewrite)), made)


awkward_text = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            [
                *"北京天气。？",
                "why",
                "Kobe",
                "'s",
                "n't",
                "?",
                ".",
                "...",
                "(",
                ")",
                "-",
                "$",
                " ",
                "  ",
                "\n",
                "😀",
                "é",
            ]
        ),
        max_size=12,
    ).map("".join),
)


@st.composite
def awkward_dialogues(draw: st.DrawFn) -> Dialogue:
    """Any text at all."""
    history = draw(st.lists(awkward_text, max_size=3))
    return Dialogue.of(history, draw(awkward_text.filter(lambda text: text.strip())))
