from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite.corpora import split_by_dialogue
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError


def example(dialogue_id: str, utterance: str = "u", *history: str) -> Example:
    return Example(Dialogue(tuple(Turn(text) for text in history), utterance), "r", dialogue_id)


@given(st.lists(st.integers(0, 30)), st.floats(0, 1))
def test_no_dialogue_is_cut_and_nothing_lost(numbers, fraction):
    examples = [example(f"d{number}", str(position)) for position, number in enumerate(numbers)]
    rest, held_out = split_by_dialogue(examples, fraction)
    assert not {item.dialogue_id for item in rest} & {item.dialogue_id for item in held_out}
    assert sorted(rest + held_out, key=lambda item: int(item.dialogue.utterance)) == examples


def test_about_the_fraction_is_held_out():
    examples = [example(f"dialogue {number}") for number in range(5000)]
    assert 0.08 < len(split_by_dialogue(examples, 0.1)[1]) / 5000 < 0.12
    assert split_by_dialogue(examples, 0.0)[1] == []
    assert split_by_dialogue(examples, 1.0)[0] == []


def test_the_side_of_a_dialogue_depends_on_nothing_else():
    examples = [example(f"dialogue {number}") for number in range(200)]
    _, held_out = split_by_dialogue(examples, 0.3)
    random.seed(1)
    state = random.getstate()
    assert split_by_dialogue(examples[::-1], 0.3)[1] == held_out[::-1]
    assert split_by_dialogue(examples[:100], 0.3)[1] == [item for item in held_out if item in examples[:100]]
    assert random.getstate() == state
    assert [item.dialogue_id for item in held_out[:3]] == ["dialogue 0", "dialogue 3", "dialogue 6"]


def test_examples_without_an_id_go_by_their_first_turn():
    examples = [example("", f"u{number}", "the same opening", f"{number}") for number in range(50)]
    assert min(map(len, split_by_dialogue(examples, 0.5))) == 0


def test_a_fraction_outside_is_refused():
    with pytest.raises(BadInputError, match=r"between 0 and 1, found 1\.5"):
        split_by_dialogue([], 1.5)
