from __future__ import annotations

import gzip
import io
import sys

import pytest

from urewrite.errors import BadInputError
from urewrite.scoring import read_predictions


@pytest.fixture
def write(tmp_path):
    def write(content, name="out.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", []),
        ("a\nb\n", ["a", "b"]),
        ("a\nb", ["a", "b"]),
        ("\n\n", ["", ""]),
        ("a\n\nb\n", ["a", "", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("one\u2028line\x0bstill\nnext\n", ["one\u2028line\x0bstill", "next"]),
        ("\ufeffa\n", ["a"]),
        ('\n{"prediction": "a"}\n\n{"prediction": "b\\nc", "score": 1}\n', ["a", "b\nc"]),
        ('{"other": 1}\nb\n', ['{"other": 1}', "b"]),
        ("{not json\n", ["{not json"]),
        ('["prediction"]\n', ['["prediction"]']),
    ],
)
def test_plain_and_json_lines(write, content, expected):
    assert read_predictions(write(content)) == expected


def test_the_name_decides_first(write):
    with pytest.raises(BadInputError, match=r"out\.jsonl, line 1: the line is not valid JSON"):
        read_predictions(write("a\n", "out.jsonl"))
    assert read_predictions(write('{"prediction": ""}\n', "out.jsonl")) == [""]


def test_gzip(write):
    assert read_predictions(write(gzip.compress(b"a\nb\n"), "out.txt.gz")) == ["a", "b"]
    assert read_predictions(str(write(gzip.compress(b'{"prediction": "a"}'), "out.jsonl.gz"))) == ["a"]
    for damaged in (b"a\nb\n", gzip.compress(b"a\nb\n" * 50)[:-9], gzip.compress(b"a")[:12] + b"\xff" * 20):
        with pytest.raises(BadInputError, match=r"out\.txt\.gz: not a complete gzip file"):
            read_predictions(write(damaged, "out.txt.gz"))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("你好\n".encode())))
    assert read_predictions("-") == ["你好"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff\n")))
    with pytest.raises(BadInputError, match=r"standard input, line 2: byte 1 \(0xff\) is not valid UTF-8"):
        read_predictions("-")


@pytest.mark.parametrize(
    ("second_line", "reason"),
    [
        ("{", "line 2: the line is not valid JSON"),
        ("[1]", "line 2: expected a JSON object with the key 'prediction', found list"),
        ('{"text": "b"}', "line 2, field 'prediction': the key is missing"),
        ('{"prediction": null}', "line 2, field 'prediction': expected text, found NoneType"),
        ("[" * 100_000, "line 2: the line is not valid JSON"),
    ],
)
def test_bad_json_lines(write, second_line, reason):
    with pytest.raises(BadInputError, match=reason.replace("[", r"\[")):
        read_predictions(write('{"prediction": "a"}\n' + second_line + "\n"))


def test_invalid_utf8_names_the_line(write):
    with pytest.raises(BadInputError, match=r"out\.txt, line 3: byte 3 \(0xe4\) is not valid UTF-8"):
        read_predictions(write(b"a\nb\nc \xe4 d\n"))


def test_utf16_is_called_by_its_name(write):
    with pytest.raises(BadInputError, match=r"out\.txt: expected UTF-8, found UTF-16"):
        read_predictions(write("a\n".encode("utf-16")))


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(BadInputError, match=r"none\.txt: the file cannot be read: No such file"):
        read_predictions(tmp_path / "none.txt")
    with pytest.raises(BadInputError, match="the file cannot be read"):
        read_predictions(tmp_path)
