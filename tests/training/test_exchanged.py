"""Names exchanged for others like them."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from urewrite.corpora import load_corpus
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.supervise import supervise
from urewrite.tokens import tokenize
from urewrite.training.data import DataSettings, load_examples
from urewrite.training.exchanged import exchanged_names, names_of

FOODS = ("Chinese", "Indian", "French", "Thai")
PLACES = ("Golden Wok", "Curry Prince", "La Raza", "Little Seoul")


def example(food: str, place: str, asked: str = "What is its address?") -> Example:
    history = [f"I want some {food} food, but not at {place}.", f"They say that {place} serves {food.lower()} food."]
    return Example(Dialogue.of(history, asked), f"What is {place} 's address?")


EXAMPLES = [example(food, place) for food in FOODS for place in PLACES]


def spoken(made: Example) -> list[str]:
    return [*(turn.text for turn in made.dialogue.history), made.dialogue.utterance, made.rewrite]


def test_names_are_told_by_capitals_and_alike_by_their_neighbours():
    names = names_of(EXAMPLES)
    assert {" ".join(name) for name in names.alike} == {name.lower() for name in (*FOODS, *PLACES)}
    assert {other[0] for other in names.alike["chinese",]} == {"indian", "french", "thai"}
    assert len(names.alike["golden", "wok"]) == 3


def test_a_name_is_exchanged_all_through_a_dialogue_and_keeps_its_case():
    for one, made in zip(EXAMPLES, exchanged_names(EXAMPLES, 1, random.Random(1)), strict=True):
        foods = [food for food in FOODS if food in made.dialogue.history[0].text]
        places = [place for place in PLACES if place in made.rewrite]
        assert made == example(foods[0], places[0])
        assert not set(spoken(made)[:2]) & set(spoken(one)[:2])


def test_names_that_share_a_word_stay():
    both = Example(Dialogue.of(["I like Golden Wok.", "The Golden is fine."], "Where is it?"), "Where is Golden Wok?")
    assert exchanged_names([*EXAMPLES, both], 1, random.Random(1))[len(EXAMPLES) :] == []


def chinese(name: str) -> Example:
    return Example(Dialogue.of([f"你喜欢{name}吗", f"喜欢{name}的歌"], "为什么喜欢他"), f"为什么喜欢{name}")


def test_names_without_capitals_are_what_was_copied_more_than_once():
    singers = ("周杰伦", "李健", "陈奕迅")
    names = names_of([chinese(name) for name in singers for _ in range(2)] + [chinese("王菲")])
    assert {"".join(name) for name in names.alike} == set(singers), "王菲 was copied once"
    assert {"".join(other) for other in names.alike["李", "健"]} == {"周杰伦", "陈奕迅"}
    made = exchanged_names([chinese(name) for name in singers] * 2, 1, random.Random(1))
    assert len(made) == 6
    for before, after in zip([chinese(name) for name in singers] * 2, made, strict=True):
        assert after != before
        assert after in [chinese(name) for name in singers]


def test_of_names_without_capitals_only_what_the_rewrite_took_is_exchanged():
    examples = [chinese(name) for name in ("周杰伦", "李健", "陈奕迅")] * 2
    both = Example(Dialogue.of(["你喜欢周杰伦吗", "喜欢李健的歌"], "为什么喜欢他"), "为什么喜欢李健")
    made = exchanged_names([*examples, *[both] * 4], 1, random.Random(1))[len(examples) :]
    assert len(made) == 4
    assert {one.rewrite for one in made} == {"为什么喜欢陈奕迅"}
    assert {one.dialogue.history[0].text for one in made} == {"你喜欢周杰伦吗"}


def test_no_name_is_what_no_history_holds_or_is_too_short_or_too_long():
    for copied, asked in (("他", "他呢"), ("一二三四五六七", "呢"), ("周杰伦", "呢")):
        history = [f"你喜欢{'谁' if copied == '周杰伦' else copied}吗"]
        assert not names_of([Example(Dialogue.of(history, asked), f"{copied}呢")] * 9).copied


def test_a_name_within_a_longer_one_is_not_taken_for_it():
    names = names_of([chinese("北京") for _ in range(3)] + [chinese("北京大学") for _ in range(3)])
    tokens = tokenize("北京大学在北京")
    assert [(first, end) for first, end, _ in names.runs(tokens)] == [(0, 4), (5, 7)]


@pytest.mark.parametrize(("share", "least", "most"), [(0.5, 3, 13), (1, 16, 16), (2.5, 35, 45)])
def test_share(share, least, most):
    assert least <= len(exchanged_names(EXAMPLES, share, random.Random(3))) <= most


@settings(max_examples=60)
@given(st.lists(st.lists(st.text(max_size=30), min_size=3, max_size=3), min_size=1, max_size=4), st.integers(0, 99))
def test_any_text_keeps_its_shape(texts, seed):
    """As many turns as before, and outside of names the same words."""
    odd = [
        Example(Dialogue.of([turn, f"Golden Wok {turn}"], f"x {utterance}"), f"y {rewrite}")
        for turn, utterance, rewrite in texts
    ]
    given = [*EXAMPLES, *odd]
    names = names_of(given)

    def outside_names(one: Example) -> list[list[str]]:
        return [[key for key in tokenize(text).keys if key not in names.words] for text in spoken(one)]

    before = [outside_names(one) for one in given]
    for made in exchanged_names(given, 1, random.Random(seed)):
        assert outside_names(made) in before


def test_on_task_what_could_be_learned_still_can_be(corpora_dir):
    """The grid of an exchanged example makes its rewrite as often as that of the original."""
    examples = load_corpus("task", "train", mirror=corpora_dir)[:400]
    made = exchanged_names(examples, 1, random.Random(1))
    assert len(made) > 0.7 * len(examples)
    before, after = (sum(supervise(one).exact for one in some) / len(some) for some in (examples, made))
    assert after > before - 0.03


def test_no_dialogue_of_a_held_out_part_is_made(tmp_path):
    """Some pairs of food and place are learned from, and exchanging makes others, which are held out."""
    parts = EXAMPLES[::3], [one for one in EXAMPLES if one not in EXAMPLES[::3]]
    files = [tmp_path / name for name in ("train.jsonl", "validation.jsonl")]
    for file, part in zip(files, parts, strict=True):
        file.write_text("".join(json.dumps(one.to_record()) + "\n" for one in part), encoding="utf-8")
    held = {tuple(spoken(one)) for one in parts[1]}
    assert any(tuple(spoken(one)) in held for one in exchanged_names(parts[0], 9, random.Random(1)))
    settings = DataSettings(corpus=[str(files[0])], validation=[str(files[1])], exchanged_names=9)
    found = load_examples(settings, seed=1, mirror=None, notify=lambda _: None)
    assert len(found.train) > len(parts[0])
    assert not any(tuple(spoken(one)) in held for one in found.train)
    assert any("names exchanged" in name for name, _ in found.sources)


def test_on_rewrite_what_could_be_learned_still_can_be(corpora_dir):
    """The same in a script without capital letters."""
    examples = load_corpus("rewrite", "train", mirror=corpora_dir)[:3000]
    made = exchanged_names(examples, 1, random.Random(1))
    assert len(made) > 0.3 * len(examples)
    before, after = (sum(supervise(one).exact for one in some) / len(some) for some in (examples, made))
    assert after > before - 0.03
