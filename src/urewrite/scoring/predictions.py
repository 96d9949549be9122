"""Predictions of any system, read from a file: one a line, or JSON objects with the key `prediction`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from urewrite.errors import BadInputError
from urewrite.files import decode_line, read_bytes, split_lines

STANDARD_INPUT = "-"


def read_predictions(source: str | Path) -> list[str]:
    """All predictions of a file (`.gz` is unpacked; `-` is standard input), in order.

    The file holds JSON lines if its name ends in `.jsonl`, or if its first line that is not blank is a JSON object with
    the key `prediction`; blank lines are then skipped. Otherwise each line is one prediction, and a blank line an empty
    one. Lines end with a line feed, before which a carriage return is dropped.
    """
    name = name_of(source)
    content = sys.stdin.buffer.read() if str(source) == STANDARD_INPUT else read_bytes(Path(source))
    lines = [_decoded(line, name, number) for number, line in enumerate(split_lines(content, name), 1)]
    suffixes = Path(source).suffixes
    if ".jsonl" in suffixes[-2:] or _starts_with_record(lines):
        return [_prediction(line, name, number) for number, line in enumerate(lines, 1) if line.strip()]
    return lines


def name_of(source: str | Path) -> str:
    """What a source of predictions is called in messages."""
    return "standard input" if str(source) == STANDARD_INPUT else str(source)


def _decoded(raw: bytes, name: str, number: int) -> str:
    try:
        return decode_line(raw)
    except BadInputError as error:
        raise error.at(file=name, line=number) from None


def _starts_with_record(lines: list[str]) -> bool:
    first = next((line for line in lines if line.strip()), "")
    if not first.lstrip().startswith("{"):
        return False
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return "prediction" in record


def _prediction(line: str, name: str, number: int) -> str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"the line is not valid JSON ({error})", file=name, line=number) from error
    if not isinstance(record, dict):
        raise BadInputError(
            f"expected a JSON object with the key 'prediction', found {type(record).__name__}", file=name, line=number
        )
    if "prediction" not in record:
        raise BadInputError("the key is missing", file=name, line=number, field="prediction")
    prediction = record["prediction"]
    if not isinstance(prediction, str):
        raise BadInputError(
            f"expected text, found {type(prediction).__name__}", file=name, line=number, field="prediction"
        )
    return prediction
