from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from urewrite.corpora import assert_no_overlap, find_overlap, load_corpus, load_training, training, without_overlap
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import DataUnavailableError, OverlapError


def example(dialogue_id: str, utterance: str, rewrite: str, *questions: str) -> Example:
    return Example(Dialogue(tuple(Turn(text, "user") for text in questions), utterance), rewrite, dialogue_id)


TEST = [
    example("t1", "Did she win?", "Did Ann win?"),
    example("t1", "Where was the prize given?", "Where was Ann's prize given?", "Did she win?"),
    example("t2", "Did she win?", "Did Bea win the race?"),
    example("t2", "Who timed that race?", "Who timed Bea's race?", "Did she win?"),
]


def test_a_shared_question_is_no_overlap():
    assert_no_overlap([example("a", "Did she win?", "Did Cleo win?")], TEST)
    assert_no_overlap([example("a", "Who timed that race?", "Who timed Cleo's race?")], TEST)


@pytest.mark.parametrize(
    ("ground", "train"),
    [
        ("by_id", example("t1", "Why?", "Why Ann?")),
        ("by_rewrite", example("a", "Did she?", "did  ANN win ?")),
        ("by_rewrite", example("a", "Why?", "Why did Ann win?", "Did Ann win?")),
        ("by_questions", example("a", "Who timed that race?", "Who did it?", "Did she win?", "Why?")),
    ],
)
def test_grounds(ground, train):
    test = [*TEST, example("t2", "Why?", "Why Bea?")]
    found = find_overlap([train], test)
    assert getattr(found, ground) == {train.dialogue_id}
    with pytest.raises(OverlapError, match=f"1 training examples in 1 dialogues.*'{train.dialogue_id}'"):
        assert_no_overlap([train], test)


def test_questions_asked_in_several_test_dialogues_prove_nothing():
    test = [example(name, utterance, f"{utterance} {name}") for name in ("t1", "t2") for utterance in ("Who?", "Why?")]
    assert_no_overlap([example("a", "Who?", "Who, a?", "Why?")], test)


def test_quac_ids_decide_for_themselves():
    ours, theirs = f"C_{'0' * 32}_0", f"C_{'1' * 32}_0"
    test = [example(theirs, "Who?", "Who is Ann?"), example(theirs, "Why?", "Why Ann?")]
    assert_no_overlap([example(ours, "Who?", "Who is Bea?", "Why?")], test)


def test_whole_dialogues_are_removed():
    train = [
        example("a", "Who?", "Who is Cleo?"),
        example("b", "Did she?", "Did Ann win?"),
        example("b", "Why?", "Why Dora?"),
        example("c", "Why?", "Why Eve?"),
    ]
    kept, removed = without_overlap(train, TEST)
    assert [item.dialogue_id for item in kept] == ["a", "c"]
    assert [item.dialogue_id for item in removed] == ["b", "b"]


WORDS = st.sampled_from(["Who?", "Why?", "When was it?", "Did Ann win?", "Where?"])
EXAMPLES = st.lists(st.builds(example, st.sampled_from("abcdef"), WORDS, WORDS, WORDS, WORDS), max_size=12)


@given(EXAMPLES, EXAMPLES)
def test_what_is_kept_does_not_overlap(train, test):
    kept, removed = without_overlap(train, test)
    assert_no_overlap(kept, test)
    assert len(kept) + len(removed) == len(train)


def test_training_parts_of_the_real_corpora_are_clean(corpora_dir):
    test = load_corpus("canard", "test", mirror=corpora_dir)
    test_rewrites = {item.rewrite for item in test}
    for corpus, part in [("canard", "train"), ("canard", "validation"), ("qrecc", "train"), ("task", "train")]:
        training = load_training(corpus, part, mirror=corpora_dir)
        assert training.checked
        assert_no_overlap(training.examples, test)
        assert not test_rewrites & {item.rewrite for item in training.examples}
        assert len(training.examples) + len(training.removed) == len(load_corpus(corpus, part, mirror=corpora_dir))


def test_the_overlap_of_qrecc_is_refused(corpora_dir):
    test = load_corpus("canard", "test", mirror=corpora_dir)
    sample = [item for part in ("train", "validation") for item in load_corpus("qrecc", part, mirror=corpora_dir)]
    found = find_overlap(sample, test)
    assert found.shared_rewrites >= 41
    assert len(found.by_questions) > 100
    with pytest.raises(OverlapError):
        assert_no_overlap(sample, test)


def test_training_on_qrecc_needs_canard_test(tmp_path, no_data_elsewhere):
    rows = [{"conversation": "", "question": f"Who {n}?", "label": f"Who is Ann {n}?"} for n in range(5)]
    (tmp_path / "qrecc").mkdir()
    sample = tmp_path / "qrecc" / "train_sample_4k_human_rewrite.jsonl"
    sample.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataUnavailableError, match=r"canard/test\.json"):
        load_training("qrecc", mirror=tmp_path)


def test_what_removing_leaves_is_checked_again(tmp_path, no_data_elsewhere, monkeypatch):
    monkeypatch.setattr(training, "without_overlap", lambda examples, test: (examples, []))
    record = {"History": ["P", "S"], "QuAC_dialog_id": "C", "Question": "Why?", "Rewrite": "Why P?"}
    (tmp_path / "canard").mkdir()
    for name in ("dev.json", "test.json"):
        (tmp_path / "canard" / name).write_text(json.dumps([record]))
    with pytest.raises(OverlapError):
        load_training("canard", "validation", mirror=tmp_path)


def test_chinese_is_not_checked(tmp_path, no_data_elsewhere):
    (tmp_path / "multi").mkdir()
    (tmp_path / "multi" / "valid.txt").write_text("a\tb\tc\td\t问\t回\t0\t\n")
    training = load_training("multi", "validation", mirror=tmp_path)
    assert (len(training.examples), training.removed, training.checked) == (1, [], False)


def test_task_is_checked_when_it_can_be(tmp_path, no_data_elsewhere):
    user = {"transcript_complete": "Hi", "transcript_with_ellipsis": "", "transcript_with_coreference": ""}
    dialogue = {"dialogue_id": 0, "dial": [{"usr": user, "sys": {"sent": "Hello."}}]}
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / "CamRest676_annotated.json").write_text(json.dumps([dialogue]))
    assert not load_training("task", mirror=tmp_path).checked
    (tmp_path / "canard").mkdir()
    record = {"History": ["P", "S"], "QuAC_dialog_id": "C", "Question": "Hi", "Rewrite": "hi"}
    (tmp_path / "canard" / "test.json").write_text(json.dumps([record]))
    training = load_training("task", mirror=tmp_path)
    assert (training.checked, training.examples, len(training.removed)) == (True, [], 1)
