"""MULTI (Restoration-200K): the eight-column form, or the original pair of a `.sr` and a `.tr` file."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from urewrite.corpora.lines import Rejects, parse_lines, read_lines, refuse
from urewrite.dialogue import Dialogue, Example, Turn
from urewrite.errors import BadInputError
from urewrite.files import decode_line

_COLUMNS = 8
_CONTEXT_COLUMNS = 4

MISSING_UTTERANCES = {
    "石头剪刀布输了删耳光已经玩过了": "已经玩过了",
    "你求我给个照片啊哈哈": "你求我啊哈哈",
}
"""The utterances the published files leave empty, by their rewrite.

The first (test line 3,223) is known from the original annotation. The second (validation line 1,440) is the rewrite
without the words it copies from the context.
"""

_BROKEN_RECORD = 3223
_EMPTY_UTTERANCE = re.compile(r"\|\|\s*\|")
_REPAIRED_RECORD = (
    "有 没 有 清 新 一 点 的 局 <split> 可 以 丢 手 绢 嘛 <split> 这 个 也 不 错 <split> "
    "石 头 剪 刀 布 输 了 删 耳 光 也 不 错 || 已 经 玩 过 了 | 石 头 剪 刀 布 输 了 删 耳 光"
)
_LATIN = re.compile(r"[A-Za-z0-9]")


def read_columns(path: Path, part: str, *, rejects: Rejects | None = None) -> list[Example]:
    """The examples of an eight-column file: four context turns, utterance, next response, flag, rewrite."""

    def parse(line: str, number: int) -> Example:
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) != _COLUMNS:
            raise BadInputError(f"expected {_COLUMNS} columns separated by tabs, found {len(columns)}")
        utterance, _, flag, rewrite = columns[_CONTEXT_COLUMNS:]
        if flag not in {"0", "1"}:
            raise BadInputError(f"column 7 says whether the utterance was rewritten: expected 0 or 1, found {flag!r}")
        if flag == "0" and rewrite:
            raise BadInputError("column 7 says the utterance was not rewritten, but column 8 holds a rewrite")
        if flag == "1" and not rewrite:
            raise BadInputError("column 7 says the utterance was rewritten, but column 8 is empty")
        return _example(columns[:_CONTEXT_COLUMNS], utterance, rewrite, f"multi-{part}:{number}")

    return parse_lines(path, read_lines(path), parse, rejects)


def read_pair(source: Path, target: Path, part: str, *, rejects: Rejects | None = None) -> list[Example]:
    """The examples of the original pair: `turn <split> turn || utterance | label` and one rewrite a line.

    The text is split into characters there and is joined again. The record of the test part that runs over lines
    3,223 and 3,224 is put together.
    """
    records = _records(source)
    rewrites = read_lines(target)
    if len(records) != len(rewrites):
        raise BadInputError(f"holds {len(rewrites)} rewrites for the {len(records)} records of {source}", file=target)
    examples: list[Example] = []
    for number, ((line, record), rewrite) in enumerate(zip(records, rewrites, strict=True), start=1):
        try:
            context, utterance = _split_record(decode_line(record))
        except BadInputError as error:
            refuse(error.at(file=source, line=line), record, rejects)
            continue
        try:
            examples.append(
                _example(context, utterance, join_characters(decode_line(rewrite)), f"multi-{part}:{number}")
            )
        except BadInputError as error:
            at_fault, place, raw = (target, number, rewrite) if error.field != "utterance" else (source, line, record)
            refuse(error.at(file=at_fault, line=place), raw, rejects)
    return examples


def join_characters(text: str) -> str:
    """Text from blank-separated characters; a blank stays only between Latin words that are not single letters."""
    pieces = text.split()
    joined = "".join(pieces[:1])
    for before, piece in pairwise(pieces):
        words = len(before) > 1 or len(piece) > 1
        joined += " " if words and _LATIN.match(before[-1]) and _LATIN.match(piece[0]) else ""
        joined += piece
    return joined


def _example(context: list[str], utterance: str, rewrite: str, dialogue_id: str) -> Example:
    utterance = utterance or MISSING_UTTERANCES.get(rewrite, "")
    history = tuple(Turn(text) for text in context if text)
    return Example(Dialogue(history, utterance), rewrite or utterance, dialogue_id)


def _records(source: Path) -> list[tuple[int, bytes]]:
    """The records of a source file with the line on which each stands, the broken one repaired."""
    lines = read_lines(source)
    records = list(enumerate(lines, start=1))
    second_half = lines[_BROKEN_RECORD].decode("utf-8", "replace") if len(lines) > _BROKEN_RECORD else ""
    if _EMPTY_UTTERANCE.search(second_half) and source.stem == "test":
        records[_BROKEN_RECORD - 1 : _BROKEN_RECORD + 1] = [(_BROKEN_RECORD, _REPAIRED_RECORD.encode())]
    return records


def _split_record(record: str) -> tuple[list[str], str]:
    record = record.strip()
    bar = record.rfind("|")
    # A "|" that belongs to the last "||" is not the start of a label.
    text = record if bar < 0 or record[bar - 1 : bar] == "|" else record[:bar].rstrip()
    border = text.rfind("||")
    if border < 0:
        raise BadInputError("expected ' || ' between the context and the utterance")
    context = [join_characters(turn) for turn in text[:border].split("<split>")]
    return context, join_characters(text[border + 2 :])
