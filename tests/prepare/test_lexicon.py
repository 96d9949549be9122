"""A run of characters is divided into its likeliest terms, and every token knows its term and its place in it."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite.dialogue import Dialogue
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.errors import BadInputError
from urewrite.prepare import Lexicon, Vocabulary, collate
from urewrite.prepare.lexicon import ALONE, FIRST, LAST, LONGEST, NO_TERM, WITHIN

LEXICON = Lexicon(["我", "喜欢", "周", "周杰伦", "欢", "杰出", "四字成语", "北京"])
SOME = st.text("甲乙丙", min_size=1, max_size=LONGEST)


def cost(lexicon, term):
    """What the module says of Zipf's law, up to what every term costs alike."""
    every = log(log(len(lexicon) + 2.7) + 1)
    if term in lexicon.terms:
        return log(lexicon.terms.index(term) + 1 + 2.7) + every
    return log(len(lexicon) + 2.7) + 2 * every


def every_division(run):
    for amount in range(len(run)):
        for cuts in combinations(range(1, len(run)), amount):
            ends = (*cuts, len(run))
            yield [run[start:end] for start, end in zip((0, *cuts), ends, strict=True)]


@given(st.lists(SOME, unique=True), st.text("甲乙丙丁", max_size=8))
def test_no_other_division_is_likelier(terms, run):
    lexicon = Lexicon(terms)
    found = lexicon.divided(run)
    assert "".join(found) == run
    assert all(len(term) == 1 or term in terms for term in found)
    possible = [
        sum(cost(lexicon, term) for term in division)
        for division in every_division(run)
        if all(len(term) == 1 or term in terms for term in division)
    ]
    if run:
        assert sum(cost(lexicon, term) for term in found) == pytest.approx(min(possible))


def test_characters_know_their_term_and_their_place():
    numbers = {term: number for number, term in enumerate(LEXICON.terms, start=1)}
    keys = ["我", "喜", "欢", "周", "杰", "伦", "[S]", "喜", "?", "iphone", "四", "字", "成", "语", "[E]"]
    assert LEXICON.read([keys]).tolist() == [
        [numbers["我"], ALONE],
        [numbers["喜欢"], FIRST],
        [numbers["喜欢"], LAST],
        [numbers["周杰伦"], FIRST],
        [numbers["周杰伦"], WITHIN],
        [numbers["周杰伦"], LAST],
        [NO_TERM, ALONE],
        [NO_TERM, ALONE],
        [NO_TERM, ALONE],
        [NO_TERM, ALONE],
        *([numbers["四字成语"], place] for place in (FIRST, WITHIN, WITHIN, LAST)),
        [NO_TERM, ALONE],
    ]


@given(st.lists(st.lists(st.one_of(st.text(max_size=2), st.sampled_from("我喜欢周杰伦北京四字成语"))), max_size=4))
def test_every_token_is_told_of_once(texts):
    found = LEXICON.read(texts)
    keys = [key for text in texts for key in text]
    assert found.shape == (len(keys), 2)
    assert found.dtype == np.int32
    assert found.tolist() == [told for text in texts for told in LEXICON.read([text]).tolist()]
    within = 0
    for key, (number, place) in zip(keys, found.tolist(), strict=True):
        within = within + 1 if place in (WITHIN, LAST) else 0
        term = LEXICON.terms[number - 1] if number else None
        assert term is None or key == term or key == term[within]
        assert place != LAST or within == len(term) - 1


def test_long_runs_are_read_as_short_ones_are():
    keys = list("我喜欢周杰伦" * 50)
    assert LEXICON.read([keys]).tolist() == LEXICON.read([keys[:6]]).tolist() * 50


def test_the_most_frequent_terms_are_a_lexicon_too():
    assert LEXICON.first(3).terms == LEXICON.terms[:3]


def test_no_term_goes_from_one_text_into_the_next():
    """Not from a turn into the utterance, and not from one connection word to another or to what stands beside it."""
    words = ConnectionWords(leading=("北", "京"), trailing=("喜",))
    axes = lay_out(Dialogue.of(["周", "我喜欢北"], "京喜欢"), words)
    told = Vocabulary(Vocabulary.of([axes]).words, LEXICON).prepare(axes)
    keys = (*axes.row_keys, *axes.column_keys)
    terms = [LEXICON.terms[number - 1] if number else None for number, _ in told.terms.tolist()]
    assert dict(zip(range(len(keys)), terms, strict=True)) == dict(
        enumerate([None, None, None, "周", None, "我", "喜欢", "喜欢", None, None, None, None, "喜欢", "喜欢", None])
    )
    assert [key for key, term in zip(keys, terms, strict=True) if term is None] == [
        *("北", "京", "[S]", "[S]", "北", "[S]", "喜", "京", "[E]")
    ]


def test_terms_go_into_a_batch_beside_the_words_they_are_of():
    vocabulary = Vocabulary.of([lay_out(Dialogue.of(["我喜欢北京"], "为什么喜欢"))])
    both = [lay_out(Dialogue.of(["我喜欢北京"], "喜欢")), lay_out(Dialogue.of(["我"], "欢"))]
    told = Vocabulary(vocabulary.words, LEXICON)
    batch = collate([told.prepare(axes) for axes in both])
    assert batch.terms.shape == (*batch.ids.shape, 2)
    for row, axes in enumerate(both):
        length = sum(axes.shape)
        assert batch.terms[row, :length].tolist() == LEXICON.read([axes.row_keys, axes.column_keys]).tolist()
        assert not batch.terms[row, length:].any()
    assert collate([vocabulary.prepare(axes) for axes in both]).terms is None
    assert told.extended(["新"]).lexicon is LEXICON


def test_a_lexicon_is_saved_and_read_again(tmp_path):
    LEXICON.save(tmp_path / "lexicon.txt")
    assert (tmp_path / "lexicon.txt").read_text(encoding="utf-8").splitlines() == list(LEXICON.terms)
    assert Lexicon.load(tmp_path / "lexicon.txt").terms == LEXICON.terms
    (tmp_path / "edited.txt").write_text("\n".join(LEXICON.terms), encoding="utf-8")
    assert Lexicon.load(tmp_path / "edited.txt").terms == LEXICON.terms


@pytest.mark.parametrize("content", ["甲\n甲\n", "甲\n\n", "甲乙丙丁戊\n", b"\xff\n"])
def test_what_is_no_lexicon_is_said_with_its_file(tmp_path, content):
    path = tmp_path / "lexicon.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInputError, match=r"lexicon\.txt"):
        Lexicon.load(path)
