from __future__ import annotations

import pytest

from urewrite.corpora import CORPORA, PARTS, load_corpus
from urewrite.corpora.stats import PAPER, measure, together

SIZES = {
    ("rewrite", "train"): 17_000,
    ("rewrite", "validation"): 1_000,
    ("rewrite", "test"): 2_000,
    ("multi", "validation"): 5_095,
    ("multi", "test"): 5_104,
    ("task", "train"): 1_976,
    ("task", "validation"): 229,
    ("task", "test"): 539,
    ("canard", "train"): 31_526,
    ("canard", "validation"): 3_430,
    ("canard", "test"): 5_571,
    ("qrecc", "train"): 3_618,
    ("qrecc", "validation"): 382,
    ("qrecc", "test"): 2_000,
}


@pytest.fixture(scope="module")
def parts(corpora_dir):
    return {key: load_corpus(*key, mirror=corpora_dir) for key in SIZES}


@pytest.fixture(scope="module")
def measured(parts):
    return {key: measure(examples) for key, examples in parts.items() if key[0] != "qrecc"}


def test_sizes(parts):
    assert {key: len(examples) for key, examples in parts.items()} == SIZES


def test_the_paper_s_parts(parts):
    def size(corpus, *names):
        return sum(len(parts[corpus, name]) for name in names)

    assert size("rewrite", "train", "validation") == 18_000
    assert size("task", "train", "validation") == 2_205
    assert size("qrecc", "train", "validation") == 4_000


@pytest.mark.parametrize("corpus", CORPORA)
def test_no_dialogue_is_in_two_parts(parts, corpus):
    ids = [{item.dialogue_id for item in parts[corpus, part]} for part in PARTS if (corpus, part) in parts]
    assert len(set.union(*ids)) == sum(map(len, ids))


@pytest.mark.parametrize("key", [("task", "validation"), ("qrecc", "validation"), ("canard", "train")])
def test_loading_again_gives_the_same(parts, corpora_dir, key):
    assert load_corpus(*key, mirror=corpora_dir) == parts[key]


def test_texts_are_clean(parts):
    for examples in parts.values():
        for item in examples:
            for text in (item.dialogue.utterance, item.rewrite, *(turn.text for turn in item.dialogue.history)):
                assert text
                assert text == text.strip()
            assert item.dialogue_id


def test_repaired_utterances(parts):
    assert parts["multi", "test"][3222].dialogue.utterance == "已经玩过了"
    assert parts["multi", "validation"][1439].dialogue.utterance == "你求我啊哈哈"


def test_known_examples(parts):
    first = parts["rewrite", "train"][0]
    assert [turn.text for turn in first.dialogue.history] == ["能给我签名吗", "出专辑再议"]
    assert (first.dialogue.utterance, first.rewrite) == ("我现在就要", "我现在就要签名")
    second = parts["canard", "test"][1]
    assert len(second.dialogue.history) == 4
    assert second.dialogue.history[0].text == "Anna Politkovskaya"
    assert second.rewrite == "How did FSB target the murdered journalist Anna Politkovskaya's email?"


def test_reduced_history_grows_with_the_dialogue(parts):
    longest = 0
    for before, item in zip(parts["canard", "train"], parts["canard", "train"][1:], strict=False):
        if before.dialogue_id == item.dialogue_id:
            assert item.dialogue.history[-1].text == before.rewrite
            longest = max(longest, len(item.dialogue.history))
    assert longest >= 10


@pytest.mark.parametrize(
    ("corpus", "part", "field", "tolerance"),
    [
        ("canard", "train", "utterance", 0.05),
        ("canard", "train", "rewrite", 0.05),
        ("canard", "test", "context", 1.0),
        ("task", "all", "context", 1.5),
        ("task", "all", "utterance", 0.5),
        ("task", "all", "rewrite", 0.5),
        ("rewrite", "all", "context", 0.5),
        ("rewrite", "all", "utterance", 0.2),
        ("multi", "all", "utterance", 0.2),
    ],
)
def test_lengths_are_near_the_paper_s(measured, corpus, part, field, tolerance):
    chosen = [measured[key] for key in measured if key[0] == corpus and part in (key[1], "all")]
    assert getattr(together(chosen).tokens, field) == pytest.approx(
        getattr(PAPER[corpus].lengths, field), abs=tolerance
    )


def test_characters_of_rewrite_are_what_the_paper_counts(measured):
    lengths = together([measured["rewrite", part] for part in PARTS]).characters
    assert round(lengths.context, 1) == 17.7
    assert round(lengths.utterance, 1) == 6.5


def test_parts_together_are_measured_like_one(parts):
    first, second = parts["task", "train"], parts["task", "test"]
    whole, summed = measure(first + second), together([measure(first), measure(second)])
    assert whole.to_record() == summed.to_record()


def test_turns_of_task_with_two_versions_can_give_two_examples(corpora_dir):
    first = load_corpus("task", "train", mirror=corpora_dir)
    every = load_corpus("task", "train", mirror=corpora_dir, every_version=True)
    assert (len(first), len(every)) == (1_976, 2_693)
    assert set(first) <= set(every)
    assert {example.rewrite for example in every} == {example.rewrite for example in first}
