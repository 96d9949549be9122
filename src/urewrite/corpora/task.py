"""TASK (CamRest676 with annotated ellipsis and coreference): one example per user turn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from urewrite.corpora.lines import Rejects, as_object, kind_of, number_of, parse_json_list, text_of
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError

_FIRST_TEST_DIALOGUE = 540


def read_task(path: Path, part: str, *, rejects: Rejects | None = None, every_version: bool = False) -> list[Example]:
    """The examples of a part, in file order; a dialogue with a bad turn is bad as a whole.

    Many turns have two incomplete versions, one with an ellipsis and one with a coreference. The paper takes the first;
    with `every_version` the other gives an example of its own.
    """

    def parse(dialogue: Mapping[str, object]) -> list[Example]:
        number = number_of(dialogue, "dialogue_id")
        return _examples(dialogue, number, every_version) if part_of_dialogue(number) == part else []

    return parse_json_list(path, parse, rejects)


def part_of_dialogue(number: int) -> str:
    """The part a dialogue belongs to: test from 540 on, as in the paper; of the others, every tenth is validation."""
    if number >= _FIRST_TEST_DIALOGUE:
        return "test"
    return "validation" if number % 10 == 9 else "train"


def _examples(dialogue: Mapping[str, object], number: int, every_version: bool) -> list[Example]:
    turns = dialogue.get("dial")
    if not isinstance(turns, list):
        raise BadInputError(f"expected a list, found {kind_of(turns)}", field="dial")
    history: list[Turn] = []
    examples: list[Example] = []
    for position, item in enumerate(turns):
        try:
            turn = as_object(item)
            user, system = as_object(turn.get("usr")), as_object(turn.get("sys"))
            complete = text_of(user, "transcript_complete")
            ellipsis = text_of(user, "transcript_with_ellipsis", may_be_empty=True)
            coreference = text_of(user, "transcript_with_coreference", may_be_empty=True)
            reply = text_of(system, "sent")
        except BadInputError as error:
            raise BadInputError(f"turn {position + 1}: {error.reason}", field=error.field) from None
        versions = [version for version in dict.fromkeys((ellipsis, coreference)) if version] or [complete]
        before = tuple(history)
        taken = versions if every_version else versions[:1]
        examples += [Example(Dialogue(before, utterance), complete, f"task:{number}") for utterance in taken]
        history += [Turn(complete, "user"), Turn(reply, "assistant")]
    return examples
