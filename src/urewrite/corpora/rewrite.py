"""REWRITE: one example a line, `context ⇥⇥ context ⇥⇥ utterance ⇥⇥ rewrite`."""

from __future__ import annotations

from pathlib import Path

from urewrite.corpora.lines import Rejects, parse_lines, read_lines
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError

_COLUMNS = 4


def read_rewrite(path: Path, part: str, *, rejects: Rejects | None = None) -> list[Example]:
    """The examples of a part, in file order; only the lines of that part are looked at."""
    lines = read_lines(path)
    wanted = part_of_lines(len(lines), part)
    return parse_lines(path, lines[wanted.start : wanted.stop], _parse, rejects, first=wanted.start + 1)


def part_of_lines(total: int, part: str) -> range:
    """Which lines (from 0) make up a part.

    The last tenth is the test part, as in the paper; the eighteenth before it is the validation part: of 20,000 lines
    17,000 train, 1,000 validation, 2,000 test. A bad line keeps its place, so skipping it moves no other line.
    """
    test = total - total // 10
    validation = test - test // 18
    return {"train": range(validation), "validation": range(validation, test), "test": range(test, total)}[part]


def _parse(line: str, number: int) -> Example:
    columns = [column.strip() for column in line.split("\t\t")]
    if len(columns) != _COLUMNS:
        raise BadInputError(f"expected {_COLUMNS} columns separated by two tabs, found {len(columns)}")
    *context, utterance, rewrite = columns
    history = tuple(Turn(text) for text in context if text)
    return Example(Dialogue(history, utterance), rewrite, f"rewrite:{number}")
