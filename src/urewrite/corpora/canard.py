"""CANARD: the official JSON files, and the reduced training part (questions and rewrites only)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from urewrite.corpora.lines import Rejects, parse_json_list, read_lines, refuse, text_of, texts_of
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError
from urewrite.files import decode_line

_TITLES = 2
_REDUCED_ID = re.compile(r"(?P<dialogue>.+)_q#(?P<turn>[0-9]{1,6})")


def read_canard(path: Path, *, rejects: Rejects | None = None) -> list[Example]:
    """The examples of an official file. The history starts with the titles of the page and of its section."""
    return parse_json_list(path, _parse, rejects)


def _parse(record: Mapping[str, object]) -> list[Example]:
    texts = texts_of(record, "History")
    history = [Turn(text) for text in texts[:_TITLES]]
    for position, text in enumerate(texts[_TITLES:]):
        history.append(Turn(text, "assistant" if position % 2 else "user"))
    dialogue = Dialogue(tuple(turn for turn in history if turn.text), text_of(record, "Question"))
    return [Example(dialogue, text_of(record, "Rewrite"), text_of(record, "QuAC_dialog_id"))]


def read_reduced(questions: Path, rewrites: Path, *, rejects: Rejects | None = None) -> list[Example]:
    """The reduced training part: lines `<dialogue>_q#<turn> ⇥ text` in two files that go together line by line.

    Titles and answers are missing there, so the history is the rewrites of the earlier turns.
    """
    question_lines, rewrite_lines = read_lines(questions), read_lines(rewrites)
    if len(question_lines) != len(rewrite_lines):
        raise BadInputError(
            f"holds {len(rewrite_lines)} lines for the {len(question_lines)} lines of {questions}", file=rewrites
        )
    rows: list[tuple[str, int, str, str]] = []
    spoken: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for number, (question_line, rewrite_line) in enumerate(zip(question_lines, rewrite_lines, strict=True), start=1):
        at_fault, raw = questions, question_line
        try:
            dialogue_id, turn, question = _parse_reduced(question_line)
            at_fault, raw = rewrites, rewrite_line
            other_id, other_turn, rewrite = _parse_reduced(rewrite_line)
            if (other_id, other_turn) != (dialogue_id, turn):
                raise BadInputError(
                    f"expected the id {dialogue_id}_q#{turn} of {questions.name}, found {other_id}_q#{other_turn}"
                )
            if turn in spoken[dialogue_id]:
                raise BadInputError(f"the id {dialogue_id}_q#{turn} occurs twice")
        except BadInputError as error:
            refuse(error.at(file=at_fault, line=number), raw, rejects)
            continue
        spoken[dialogue_id][turn] = rewrite
        rows.append((dialogue_id, turn, question, rewrite))
    examples: list[Example] = []
    for dialogue_id, turn, question, rewrite in rows:
        earlier = sorted((other, text) for other, text in spoken[dialogue_id].items() if other < turn)
        history = tuple(Turn(text, "user") for _, text in earlier)
        examples.append(Example(Dialogue(history, question), rewrite, dialogue_id))
    return examples


def _parse_reduced(raw: bytes) -> tuple[str, int, str]:
    columns = decode_line(raw).split("\t")
    if len(columns) != 2:
        raise BadInputError(f"expected 2 columns separated by a tab, found {len(columns)}")
    match = _REDUCED_ID.fullmatch(columns[0].strip())
    if match is None:
        raise BadInputError(f"expected an id such as C_0123_0_q#4, found {columns[0]!r:.80}")
    text = columns[1].strip()
    if not text:
        raise BadInputError("the text is empty")
    return match["dialogue"], int(match["turn"]), text
