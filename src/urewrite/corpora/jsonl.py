"""The native format: one JSON object a line, `{"history": [...], "utterance": "...", "rewrite": "..."}`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from urewrite.corpora.lines import Rejects, parse_json_line, parse_lines, read_lines, require_examples
from urewrite.dialogue import Example


def read_jsonl(path: Path, *, rejects: Rejects | None = None) -> list[Example]:
    """The examples of a file (`.gz` too); `messages` may stand in place of `history` and `utterance`."""
    examples = parse_lines(path, read_lines(path), lambda line, _: Example.from_record(parse_json_line(line)), rejects)
    require_examples(examples, [path], rejects)
    return examples


def write_jsonl(examples: Iterable[Example], stream: TextIO) -> None:
    """Write examples so that `read_jsonl` gives them back."""
    for example in examples:
        line = json.dumps(example.to_record(), ensure_ascii=False)
        try:
            line.encode("utf-8")
        except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot hold
            line = json.dumps(example.to_record())
        stream.write(line + "\n")
