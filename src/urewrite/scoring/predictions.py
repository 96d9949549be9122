"""Predictions of any system, read from a file: one a line, or JSON objects with the key `prediction`."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from pathlib import Path

from urewrite.errors import BadInputError

STANDARD_INPUT = "-"


def read_predictions(source: str | Path) -> list[str]:
    """All predictions of a file (`.gz` is unpacked; `-` is standard input), in order.

    The file holds JSON lines if its name ends in `.jsonl`, or if its first line that is not blank is a JSON object with
    the key `prediction`; blank lines are then skipped. Otherwise each line is one prediction, and a blank line an empty
    one. Lines end with a line feed, before which a carriage return is dropped.
    """
    name = "standard input" if str(source) == STANDARD_INPUT else str(source)
    lines = _lines(_content(source, name), name)
    suffixes = Path(source).suffixes
    if ".jsonl" in suffixes[-2:] or _starts_with_record(lines):
        return [_prediction(line, name, number) for number, line in enumerate(lines, 1) if line.strip()]
    return lines


def _content(source: str | Path, name: str) -> bytes:
    if str(source) == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        content = Path(source).read_bytes()
        return gzip.decompress(content) if Path(source).suffix == ".gz" else content
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInputError(f"the gzip data is damaged ({error})", file=name) from error
    except OSError as error:
        raise BadInputError(f"the file cannot be read: {error.strerror}", file=name) from error


def _lines(content: bytes, name: str) -> list[str]:
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInputError(f"not valid UTF-8 ({error.reason})", file=name, line=line) from error
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not lines[-1]:
        lines.pop()
    return lines


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
