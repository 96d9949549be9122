from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from urewrite.corpora.lines import (
    Rejects,
    parse_json_line,
    parse_json_list,
    parse_lines,
    read_lines,
    text_of,
    texts_of,
)
from urewrite.errors import BadInputError


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def only_text(record):
    return [text_of(record, "t")]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\xef\xbb\xbfa\n", [b"a"]),
        (b"a\n\nb\n\n \n", [b"a", b"", b"b"]),
        ("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c".encode()]),
        (b"", []),
    ],
)
def test_lines_end_at_line_feeds_only(tmp_path, content, lines):
    assert read_lines(write(tmp_path / "f", content)) == lines


def test_gzip_is_unpacked_and_a_broken_one_named(tmp_path):
    packed = gzip.compress(b"a\nb\n")
    assert read_lines(write(tmp_path / "f.gz", packed)) == [b"a", b"b"]
    with pytest.raises(BadInputError, match=r"g\.gz: not a complete gzip file"):
        read_lines(write(tmp_path / "g.gz", packed[:-6]))
    with pytest.raises(BadInputError, match=r"h\.gz: not a complete gzip file"):
        read_lines(write(tmp_path / "h.gz", b"plain"))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(BadInputError, match=r"absent: the file cannot be read: No such file"):
        read_lines(tmp_path / "absent")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_called_by_its_name(tmp_path, encoding):
    path = write(tmp_path / "f.json", "\ufeff[]\n".encode(encoding))
    for read in (read_lines, lambda path: parse_json_list(path, only_text, Rejects())):
        with pytest.raises(BadInputError, match=r"f\.json: expected UTF-8, found UTF-16"):
            read(path)


def test_a_reject_is_noted_once_however_often_its_file_is_read(tmp_path):
    path = write(tmp_path / "f", b"bad \xff\nbad \xff\n")
    rejects = Rejects()
    for _ in range(3):
        parse_lines(path, read_lines(path), lambda line, _: line, rejects)
    assert [item.line for item in rejects.items] == [1, 2]


def test_invalid_utf8_names_file_line_and_byte(tmp_path):
    path = write(tmp_path / "f", b"fine\nbad \xff here\n")
    with pytest.raises(BadInputError, match=r"f, line 2: byte 5 \(0xff\) is not valid UTF-8") as caught:
        parse_lines(path, read_lines(path), lambda line, _: line, None)
    assert (caught.value.file, caught.value.line) == (str(path), 2)


def test_rejects_keep_place_reason_and_text(tmp_path):
    path = write(tmp_path / "f", b"fine\nbad \xff\\here\nalso fine\n")
    rejects = Rejects()
    assert parse_lines(path, read_lines(path), lambda line, _: line, rejects) == ["fine", "also fine"]
    rejects.write(tmp_path / "out" / "rejects.jsonl")
    (record,) = map(json.loads, (tmp_path / "out" / "rejects.jsonl").read_text().splitlines())
    assert record == {
        "file": str(path),
        "line": 2,
        "reason": "byte 5 (0xff) is not valid UTF-8",
        "raw": "bad \\xff\\here",
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": 1', "not valid JSON"),
        ("", "not valid JSON"),
        ("{} {}", "text after the object"),
        ("[1]", "expected a JSON object, found a list"),
        ("null", "found null"),
        ("true", "found true or false"),
        ("1", "found a number"),
        ('"x"', "found text"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "1" * 10_000 + "}", "not usable JSON"),
    ],
)
def test_a_line_must_be_one_json_object(line, reason):
    with pytest.raises(BadInputError, match=reason):
        parse_json_line(line)


@pytest.mark.parametrize("content", ["[]", " [ ] \n", '[{"t": "a"}]', '\ufeff[{"t": " a "},\r\n {"t": "b"}]\n'])
def test_json_lists_are_read_whole(tmp_path, content):
    path = write(tmp_path / "f.json", content.encode())
    expected = [record["t"].strip() for record in json.loads(content.removeprefix("\ufeff"))]
    assert parse_json_list(path, only_text, None) == expected


@pytest.mark.parametrize(
    ("content", "line", "reason", "kept"),
    [
        (b"", 1, "line 1: the file is empty", []),
        (b" \n", 1, "line 1: the file is empty", []),
        (b'{"t": "a"}', 1, "line 1: expected a JSON list, found text that starts with '{", []),
        (b'[{"t": "a"},\n {"t": "b', 2, "item 2: not valid JSON: unterminated string", ["a"]),
        (b'[{"t": "a"},\n\n', 3, "item 2: not valid JSON: expecting value", ["a"]),
        (b'[{"t": "a"}\n', 2, "item 2: not valid JSON: the file breaks off", ["a"]),
        (b'[{"t": "a"}\n{"t": "b"}]', 2, "item 2: not valid JSON: expected ','", ["a"]),
        (b'[{"t": "a"}]\n]', 2, "item 2: not valid JSON: text after the end", ["a"]),
        (b'[{"t": "a"},\n{"x": 1}, {"t": "c"}]', 2, "item 2: the key is missing", ["a", "c"]),
        (b'[{"t": "a"},\n{"t": 1}, {"t": "c"}]', 2, "item 2: expected text, found a number", ["a", "c"]),
        (b'[{"t": "a"},\n{"t": " "}, {"t": "c"}]', 2, "item 2: the text is empty", ["a", "c"]),
        (b'[{"t": "a"},\n7, {"t": "c"}]', 2, "item 2: expected a JSON object, found a number", ["a", "c"]),
        (b'[{"t": "a"},\n{"t": "\xc3("}, {"t": "c"}]', 2, r"item 2: byte 8 \(0xc3\) is not valid UTF-8", ["a", "c"]),
    ],
)
def test_a_fault_in_a_json_list_names_item_and_line(tmp_path, content, line, reason, kept):
    path = write(tmp_path / "f.json", content)
    with pytest.raises(BadInputError, match=reason) as caught:
        parse_json_list(path, only_text, None)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    rejects = Rejects()
    assert parse_json_list(path, only_text, rejects) == kept
    assert [item.line for item in rejects.items] == [line]
    assert len(rejects) == 1


def test_lists_of_texts_are_checked():
    assert texts_of({"h": [" a ", ""]}, "h") == ["a", ""]
    for record, reason in [({}, "missing"), ({"h": "a"}, "expected a list, found text"), ({"h": [1]}, r"h\[0\]")]:
        with pytest.raises(BadInputError, match=reason):
            texts_of(record, "h")
