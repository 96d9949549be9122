from __future__ import annotations

from collections import deque

import pytest

from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError


def test_a_history_of_strings_pairs_turns_and_messages():
    history = ["one", ("user", "two"), Turn("three"), {"role": "assistant", "content": "four"}]
    dialogue = Dialogue.of(history, "five")
    assert dialogue.history == (Turn("one"), Turn("two", "user"), Turn("three"), Turn("four", "assistant"))
    assert dialogue.skipped == ()


def test_messages_end_with_the_utterance():
    dialogue = Dialogue.from_messages(
        [
            {"role": "system", "content": "be nice"},
            {"role": "user", "content": "Who is Kobe?"},
            {"role": "assistant", "content": [{"type": "text", "text": "A"}, {"type": "text", "text": "player."}]},
            {"role": "tool", "content": "{}"},
            {"role": "assistant", "content": None, "tool_calls": []},
            {
                "role": "user",
                "content": [{"type": "text", "text": "How tall?"}, {"type": "image_url", "image_url": {}}],
            },
        ]
    )
    silent = Turn("")  # keeps its place, so that turns have the numbers the caller knows
    assert dialogue.history == (silent, Turn("Who is Kobe?", "user"), Turn("A player.", "assistant"), silent, silent)
    assert dialogue.utterance == "How tall?"
    assert [note.split(":")[0] for note in dialogue.skipped] == [f"messages[{index}]" for index in (0, 3, 4, 5)]


@pytest.mark.parametrize("role", ["Alice", "customer", "model", "chatbot", "用户", "User1"])
def test_whoever_does_not_instruct_or_compute_speaks(role):
    assert Dialogue.of([(role, "Who wrote Dune?")], "When?").history == (Turn("Who wrote Dune?", role),)


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "input_text", "text": "A"}, {"type": "output_text", "text": "b"}],
        ({"type": "text", "text": "A"}, "b"),
        {"type": "text", "text": "A b"},
    ],
)
def test_parts_that_are_text_by_any_name(content):
    dialogue = Dialogue.of([{"role": "user", "content": content}], "x")
    assert (dialogue.history, dialogue.skipped) == ((Turn("A b", "user"),), ())


def test_an_answer_that_is_still_to_come_is_not_the_utterance():
    asked = {"role": "user", "content": "How tall?"}
    assert Dialogue.from_messages([asked, {"role": "assistant", "content": ""}]).utterance == "How tall?"
    assert Dialogue.from_messages([asked, {"role": "assistant", "content": "Tall."}]).utterance == "Tall."
    with pytest.raises(BadInputError, match="the utterance is empty"):
        Dialogue.from_messages([asked, {"role": "user", "content": " "}])


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({}, "history"),
        ({"history": []}, "utterance"),
        ({"utterance": "x"}, "history"),
        ({"history": "x", "utterance": "y"}, "history"),
        ({"history": [], "utterance": 5}, "utterance"),
        ({"history": [], "utterance": " \n"}, "utterance"),
        ({"history": [3], "utterance": "x"}, r"history\[0\]"),
        ({"history": [{"content": "x"}], "utterance": "x"}, r"history\[0\]"),
        ({"history": [[1, "x"]], "utterance": "x"}, r"history\[0\]"),
        ({"messages": []}, "messages"),
        ({"messages": "x"}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages"),
        ({"messages": [], "utterance": "x"}, "messages"),
    ],
)
def test_bad_records_are_named(record, field):
    with pytest.raises(BadInputError, match=field):
        Dialogue.from_record(record)


@pytest.mark.parametrize("given", ["hello", b"hello", None, 5, {"role": "user", "content": "x"}, {"x"}])
def test_what_is_no_list_is_named(given):
    with pytest.raises(BadInputError, match="expected a list of turns, found") as caught:
        Dialogue.of(given, "x")
    assert caught.value.field == "history"
    with pytest.raises(BadInputError, match="expected a list of messages, found") as caught:
        Dialogue.from_messages(given)
    assert caught.value.field == "messages"


def test_what_can_be_gone_through_in_order_is_as_good_as_a_list():
    for history in (["a", "b"], ("a", "b"), deque(["a", "b"]), iter(["a", "b"])):
        assert Dialogue.of(history, "x").history == (Turn("a"), Turn("b"))


@pytest.mark.parametrize("rewrite", [None, 5, "", "  "])
def test_an_example_needs_a_rewrite(rewrite):
    with pytest.raises(BadInputError, match="rewrite"):
        Example.from_record({"history": [], "utterance": "x", "rewrite": rewrite})


@pytest.mark.parametrize(("given", "read"), [(None, ""), ("d1", "d1"), (7, "7")])
def test_dialogue_ids(given, read):
    record = {"history": [], "utterance": "x", "rewrite": "y", "dialogue_id": given}
    assert Example.from_record(record).dialogue_id == read


@pytest.mark.parametrize("given", [{}, [], 1.5, True])
def test_bad_dialogue_ids(given):
    with pytest.raises(BadInputError, match="dialogue_id"):
        Example.from_record({"history": [], "utterance": "x", "rewrite": "y", "dialogue_id": given})


def test_records_are_read_back():
    example = Example(Dialogue.of(["a", ("user", "b")], "c"), "d", "id")
    assert Example.from_record(example.to_record()) == example


def test_errors_name_their_place():
    error = BadInputError("too short", field="utterance").at(file="x.jsonl", line=3)
    assert str(error) == "x.jsonl, line 3, field 'utterance': too short"
