from __future__ import annotations

import gzip
import os

import pytest

from urewrite import chunks
from urewrite.chunks import LineSource
from urewrite.errors import BadInputError

CONTENT = b"\xef\xbb\xbfone\r\n\n  \ntwo\nthree \xff\nfour"
LINES = [(1, b"one"), (4, b"two"), (5, b"three \xff"), (6, b"four")]


@pytest.fixture(params=["in.jsonl", "in.jsonl.gz"])
def source(request, tmp_path):
    path = tmp_path / request.param
    path.write_bytes(gzip.compress(CONTENT) if path.suffix == ".gz" else CONTENT)
    return LineSource(path)


def test_lines_with_their_numbers(source):
    (chunk,) = source.chunks()
    assert chunk.lines == LINES
    assert (chunk.last, chunk.offset, chunk.start, chunk.end) == (6, len(CONTENT), 0, source.size)


@pytest.mark.parametrize("limit", ["LINES_AT_ONCE", "BYTES_AT_ONCE"])
def test_chunks_are_bounded_and_can_be_gone_on_from(source, monkeypatch, limit):
    monkeypatch.setattr(chunks, limit, 1)
    found = list(source.chunks())
    assert [chunk.lines for chunk in found] == [[line] for line in LINES]
    for position, chunk in enumerate(found):
        rest = [one.lines for one in source.chunks(chunk.last, chunk.offset)]
        assert rest == [[line] for line in LINES[position + 1 :]]


def test_a_fingerprint_tells_files_apart(source):
    before = source.fingerprint()
    assert before == source.fingerprint()
    found = source.path.stat()
    source.path.write_bytes(source.path.read_bytes()[:-1] + b"!")
    os.utime(source.path, ns=(found.st_atime_ns, found.st_mtime_ns))
    after = source.fingerprint()
    assert [name for name in before if before[name] != after[name]] == ["input start"]


def test_files_that_cannot_be_read_are_named(tmp_path):
    for path in (tmp_path / "absent.jsonl", tmp_path):
        with pytest.raises(BadInputError, match="cannot be read"):
            LineSource(path).fingerprint()
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(CONTENT * 100)[:-20])
    with pytest.raises(BadInputError, match="not a complete gzip file"):
        list(LineSource(broken).chunks())
    (tmp_path / "wide.jsonl").write_bytes("one".encode("utf-16"))
    with pytest.raises(BadInputError, match="found UTF-16"):
        list(LineSource(tmp_path / "wide.jsonl").chunks())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="not provided: named pipes")
def test_a_pipe_is_not_read_to_tell_it_apart(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    source = LineSource(tmp_path / "pipe")
    assert source.fingerprint() == {"input": str(tmp_path / "pipe")}
    assert (source.is_file, source.size) == (False, None)
