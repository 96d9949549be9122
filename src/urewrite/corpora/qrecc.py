"""QReCC: the training sample with its conversations as text, and the development sample."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from urewrite.corpora.lines import (
    Rejects,
    number_of,
    parse_json_line,
    parse_json_list,
    parse_lines,
    read_lines,
    text_of,
    texts_of,
)
from urewrite.corpora.parts import opening, split_by_dialogue
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError

_EXCHANGE = re.compile(r"Q: (?P<question>.*?) A:(?: (?P<answer>.*))?", re.DOTALL)
_VALIDATION_SHARE = 0.1


def read_sample(path: Path, part: str, *, rejects: Rejects | None = None) -> list[Example]:
    """The train or the validation part of the training sample, whole conversations each."""
    examples = parse_lines(path, read_lines(path), _parse_line, rejects)
    train, validation = split_by_dialogue(examples, _VALIDATION_SHARE)
    return validation if part == "validation" else train


def read_development(path: Path, *, rejects: Rejects | None = None) -> list[Example]:
    """The examples of the development sample, our test part."""
    return parse_json_list(path, _parse_item, rejects)


def parse_conversation(conversation: str) -> tuple[Turn, ...]:
    """The turns of a conversation of lines `Q: question A: answer`.

    An answer given as "." stands for one that is not known; it is left out, as the empty answers of the development
    sample are.
    """
    turns: list[Turn] = []
    for number, line in enumerate(conversation.split("\n") if conversation else [], start=1):
        match = _EXCHANGE.fullmatch(line)
        if match is None or not match["question"].strip():
            raise BadInputError(f"line {number} of the text: expected 'Q: question A: answer'", field="conversation")
        turns.append(Turn(match["question"].strip(), "user"))
        answer = (match["answer"] or "").strip()
        if answer not in {"", "."}:
            turns.append(Turn(answer, "assistant"))
    return tuple(turns)


def _parse_line(line: str, _: int) -> Example:
    record = parse_json_line(line)
    history = parse_conversation(text_of(record, "conversation", may_be_empty=True))
    dialogue = Dialogue(history, text_of(record, "question"))
    # The sample numbers no conversations; those that open with the same question are taken for one.
    return Example(dialogue, text_of(record, "label"), f"qrecc:{opening(dialogue).lower()}")


def _parse_item(record: Mapping[str, object]) -> list[Example]:
    number = number_of(record, "Conversation_no")
    history = tuple(
        Turn(text, "assistant" if position % 2 else "user")
        for position, text in enumerate(texts_of(record, "NewContext"))
        if text not in {"", "."}
    )
    dialogue = Dialogue(history, text_of(record, "Question"))
    return [Example(dialogue, text_of(record, "Truth_rewrite"), f"qrecc:{number}")]
