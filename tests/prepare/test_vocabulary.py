from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite.dialogue import Dialogue
from urewrite.edits.grid import lay_out
from urewrite.errors import BadInputError
from urewrite.prepare import Vocabulary

AXES = lay_out(Dialogue.of(["a b", "a"], "c"))


def test_the_vocabulary_is_saved_and_knows_what_it_does_not_know(tmp_path):
    vocabulary = Vocabulary.of([AXES])
    assert vocabulary.words == ("[PAD]", "[UNK]", "[S]", "[E]", "a", "b", "c")
    assert vocabulary.ids(["a", "zzz", "[S]"]) == [4, 1, 2]
    vocabulary.save(tmp_path / "v.json")
    assert Vocabulary.load(tmp_path / "v.json").words == vocabulary.words
    with pytest.raises(BadInputError):
        Vocabulary(["a"])


def test_rare_words_are_left_out():
    assert Vocabulary.of([AXES], least=2).words[4:] == ("a",)


def test_a_dialogue_becomes_one_sequence_of_words():
    prepared = Vocabulary.of([AXES]).prepare(AXES)
    assert prepared.ids.tolist() == [4, 5, 2, 4, 6, 3]
    assert prepared.owners is None
    assert prepared.shape == AXES.shape == (4, 2)


@given(st.lists(st.text()), st.lists(st.text()))
def test_extending_keeps_every_id(words, more):
    vocabulary = Vocabulary(("[PAD]", "[UNK]", "[S]", "[E]", *dict.fromkeys(words)))
    extended = vocabulary.extended(more)
    assert extended.words[: len(vocabulary)] == vocabulary.words
    assert set(extended.words) == {*vocabulary.words, *more}
    assert len(set(extended.words)) == len(extended)
    assert extended.ids(extended.words) == list(range(len(extended)))
