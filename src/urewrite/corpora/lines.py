"""Reading corpus files: every fault named by file and line, and either raised or collected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from urewrite.errors import BadInputError
from urewrite.files import atomic_writer, decode_line, read_bytes, split_lines, without_mark

T = TypeVar("T")

_JSON_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Reject:
    """A piece of input that was left out: where it stands, why, and its text (bytes that are not UTF-8 as escapes)."""

    file: str
    line: int
    reason: str
    raw: str


@dataclass(slots=True)
class Rejects:
    """Collects bad input instead of stopping at it. Hand one to a reader to skip bad lines and look at them later."""

    items: list[Reject] = field(default_factory=list)
    _known: set[Reject] = field(default_factory=set, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.items)

    def add(self, item: Reject) -> None:
        """Note a reject, once however often its file is read."""
        if item not in self._known:
            self._known.add(item)
            self.items.append(item)

    def write(self, path: Path) -> None:
        """Write one JSON object per reject: `file`, `line`, `reason`, `raw`."""
        with atomic_writer(path) as stream:
            for item in self.items:
                record = {"file": item.file, "line": item.line, "reason": item.reason, "raw": item.raw}
                stream.write(json.dumps(record) + "\n")


def refuse(error: BadInputError, raw: bytes | str, rejects: Rejects | None) -> None:
    """Raise the fault, or note it in `rejects` when there is a collector. The fault must name its file and line."""
    if rejects is None:
        raise error
    data = raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else raw
    reason = error.reason if error.field is None else f"field {error.field!r}: {error.reason}"
    rejects.add(Reject(error.file or "", error.line or 0, reason, data.decode("utf-8", "backslashreplace")))


def read_lines(path: Path) -> list[bytes]:
    """The lines of a file without their ends; blank lines at the end of the file are not counted."""
    lines = split_lines(read_bytes(path), path)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def require_examples(examples: Sequence[T], files: Sequence[Path], rejects: Rejects | None, part: str = "") -> None:
    """Refuse files that give no example; `part` says which part of them was asked for."""
    if examples:
        return
    names = {str(file) for file in files}
    bad = sum(item.file in names for item in rejects.items) if rejects is not None else 0
    what = f"holds no example of the {part} part" if part else "holds no example"
    raise BadInputError(f"{what} besides {bad} bad ones" if bad else what, file=files[0])


def parse_lines(
    path: Path,
    lines: Sequence[bytes],
    parse: Callable[[str, int], T],
    rejects: Rejects | None,
    *,
    first: int = 1,
) -> list[T]:
    """Parse each line (given with its number, counted from `first`); bad ones are raised or collected."""
    parsed: list[T] = []
    for number, raw in enumerate(lines, start=first):
        try:
            parsed.append(parse(decode_line(raw), number))
        except BadInputError as error:  # noqa: PERF203 - each line is judged for itself
            refuse(error.at(file=path, line=number), raw, rejects)
    return parsed


def parse_json_line(line: str) -> Mapping[str, object]:
    """The JSON object a line holds."""
    value, end = _load(line, 0)
    if _skip_blanks(line, end) < len(line):
        raise BadInputError(f"not valid JSON: text after the object (character {end + 1})")
    return as_object(value)


def parse_json_list(
    path: Path, parse: Callable[[Mapping[str, object]], Sequence[T]], rejects: Rejects | None
) -> list[T]:
    """Parse the objects of a file that holds one JSON list; each object may give several results.

    A bad object is raised or collected with its number and the line on which it starts. Where the text stops being
    JSON (a file broken off), what came before it is kept and the rest is one reject.
    """
    text = without_mark(read_bytes(path), path).decode("utf-8", "surrogateescape")
    start = _skip_blanks(text, 0)
    if text[start : start + 1] != "[":
        reason = f"expected a JSON list, found text that starts with {text[start : start + 20]!a}"
        refuse(BadInputError(reason if text[start:] else "the file is empty", file=path, line=1), text, rejects)
        return []
    parsed: list[T] = []
    line, counted = 1, 0
    for number, (start, end, value) in enumerate(_list_items(text), start=1):
        line += text.count("\n", counted, start)
        counted = start
        raw = text[start:end]
        try:
            if isinstance(value, BadInputError):
                raise value
            if not raw.isascii():
                decode_line(raw.encode("utf-8", "surrogateescape"))
            parsed.extend(parse(as_object(value)))
        except BadInputError as error:
            placed = BadInputError(f"item {number}: {error.reason}", file=path, line=line, field=error.field)
            refuse(placed, raw, rejects)
    return parsed


def as_object(value: object) -> Mapping[str, object]:
    """The value, if it is a JSON object."""
    if not isinstance(value, dict):
        raise BadInputError(f"expected a JSON object, found {kind_of(value)}")
    return value


def text_of(record: Mapping[str, object], key: str, *, may_be_empty: bool = False) -> str:
    """The text under a key, without blanks at its ends."""
    if key not in record:
        raise BadInputError("the key is missing", field=key)
    value = record[key]
    if not isinstance(value, str):
        raise BadInputError(f"expected text, found {kind_of(value)}", field=key)
    value = value.strip()
    if not value and not may_be_empty:
        raise BadInputError("the text is empty", field=key)
    return value


def number_of(record: Mapping[str, object], key: str) -> int:
    """The whole number under a key."""
    if key not in record:
        raise BadInputError("the key is missing", field=key)
    value = record[key]
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInputError(f"expected a whole number, found {kind_of(value)}", field=key)
    return value


def texts_of(record: Mapping[str, object], key: str) -> list[str]:
    """The list of texts under a key, each without blanks at its ends."""
    if key not in record:
        raise BadInputError("the key is missing", field=key)
    value = record[key]
    if not isinstance(value, list):
        raise BadInputError(f"expected a list, found {kind_of(value)}", field=key)
    for position, item in enumerate(value):
        if not isinstance(item, str):
            raise BadInputError(f"expected text, found {kind_of(item)}", field=f"{key}[{position}]")
    return [item.strip() for item in value]


def kind_of(value: object) -> str:
    """What a JSON value is, for an error message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {dict: "an object", list: "a list", str: "text", int: "a number", float: "a decimal number"}
    return names.get(type(value), type(value).__name__)


def _list_items(text: str) -> Iterator[tuple[int, int, object]]:
    """Start, end and value of every item of a JSON list; a fault is given as a last item holding the error."""
    position = _skip_blanks(text, _skip_blanks(text, 0) + 1)
    if text[position : position + 1] == "]":
        position += 1
    else:
        while True:
            try:
                value, end = _load(text, position)
            except BadInputError as error:
                yield position, len(text), error
                return
            yield position, end, value
            position = _skip_blanks(text, end)
            separator = text[position : position + 1]
            if separator not in {",", "]"}:
                reason = "expected ',' or ']' after the item before" if separator else "the file breaks off"
                yield position, len(text), BadInputError(f"not valid JSON: {reason}")
                return
            position = _skip_blanks(text, position + 1) if separator == "," else position + 1
            if separator == "]":
                break
    position = _skip_blanks(text, position)
    if position < len(text):
        yield position, len(text), BadInputError("not valid JSON: text after the end of the list")


def _load(text: str, position: int) -> tuple[object, int]:
    """The JSON value at a position and where it ends."""
    start = _skip_blanks(text, position)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        reason = error.msg[0].lower() + error.msg[1:]
        raise BadInputError(f"not valid JSON: {reason} (character {error.pos - start + 1})") from None
    except RecursionError:
        raise BadInputError("not usable JSON: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadInputError(f"not usable JSON: {error}") from None
    return value, end


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in _JSON_BLANKS:
        position += 1
    return position


_DECODER = json.JSONDecoder()
