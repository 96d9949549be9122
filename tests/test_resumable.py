from __future__ import annotations

import gzip
import json

import pytest

from urewrite.errors import BadInputError
from urewrite.resumable import part_files

JOB = {"input size": 10, "threshold": None, "protect": ("a",)}


@pytest.fixture
def paths(tmp_path):
    return [tmp_path / "new" / "out.jsonl", tmp_path / "new" / "rejects.jsonl"]


def left_of(path):
    return sorted(entry.name for entry in path.parent.iterdir())


def interrupt(paths, content=(b"one\n", b""), torn=b""):
    """A job that is broken off after one commit, perhaps in the middle of writing on."""
    with part_files(paths, JOB) as files:  # left without `finish`
        for number, piece in enumerate(content):
            files.write(number, piece)
        files.commit({"lines": 1})
        files.write(0, torn)


def test_names_are_given_at_the_end(paths):
    with part_files(paths, JOB) as files:
        files.write(0, b"one\n")
        files.commit({"lines": 1})
        assert not any(path.exists() for path in paths)
        files.finish()
    assert [path.read_bytes() for path in paths] == [b"one\n", b""]
    assert left_of(paths[0]) == ["out.jsonl", "rejects.jsonl"]


def test_what_follows_the_last_commit_is_cut_off(paths):
    interrupt(paths, (b"one\n", b"bad\n"), torn=b"half a li")
    assert (paths[0].parent / "out.jsonl.part").read_bytes() == b"one\nhalf a li"
    with part_files(paths, JOB) as files:
        assert files.progress == {"lines": 1}
        files.write(0, b"two\n")
        files.finish()
    assert [path.read_bytes() for path in paths] == [b"one\ntwo\n", b"bad\n"]


def test_what_broke_off_before_anything_was_done_stands_in_nobodys_way(paths):
    with part_files(paths, JOB):
        pass
    assert left_of(paths[0]) == ["out.jsonl.part", "out.jsonl.part.json", "rejects.jsonl.part"]
    with part_files(paths, {**JOB, "input size": 11}) as files:
        assert not files.progress
        files.write(0, b"one\n")
        files.finish()
    assert left_of(paths[0]) == ["out.jsonl", "rejects.jsonl"]


def test_packed_files_go_on_too(tmp_path):
    paths = [tmp_path / "out.jsonl.gz", tmp_path / "rejects.gz"]
    interrupt(paths, torn=b"torn")
    with part_files(paths, JOB) as files:
        files.write(0, b"two\n")
        files.finish()
    assert [gzip.decompress(path.read_bytes()) for path in paths] == [b"one\ntwo\n", b""]


def test_another_job_is_refused_with_what_differs(paths):
    interrupt(paths)
    with pytest.raises(BadInputError, match=r"out.jsonl.part: was begun with another input size, mode: .*--restart"):
        part_files(paths, {**JOB, "input size": 11, "mode": "always"}).__enter__()
    with part_files(paths, {"mode": "always"}, restart=True) as files:
        assert files.progress == {}
        files.finish()
    assert paths[0].read_bytes() == b""


def test_a_job_that_cannot_be_resumed_starts_again(paths):
    interrupt(paths)
    with part_files(paths, JOB, resumable=False) as files:
        assert files.progress == {}


def test_files_of_others_are_not_overwritten(paths):
    paths[0].parent.mkdir()
    part = paths[0].parent / "out.jsonl.part"
    part.write_bytes(b"a download")
    with pytest.raises(BadInputError, match=r"no out\.jsonl\.part\.json says what it is part of"):
        part_files(paths, JOB).__enter__()
    assert part.read_bytes() == b"a download"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', '{"job": {}, "sizes": [0, 0], "format": 9}'])
def test_a_damaged_state_is_an_error(paths, content):
    interrupt(paths)
    (paths[0].parent / "out.jsonl.part.json").write_text(content)
    with pytest.raises(BadInputError, match="--restart"):
        part_files(paths, JOB).__enter__()


def test_a_part_that_was_cut_is_an_error(paths):
    interrupt(paths)
    (paths[0].parent / "out.jsonl.part").write_bytes(b"o")
    with pytest.raises(BadInputError, match="shorter than it was"):
        part_files(paths, JOB).__enter__()


def test_one_process_at_a_time(paths):
    with part_files(paths, JOB), pytest.raises(BadInputError, match="another process is writing it"):
        part_files(paths, JOB).__enter__()


def test_names_that_were_not_all_given_are_given_later(paths):
    interrupt(paths, (b"one\n", b"bad\n"))
    state = paths[0].parent / "out.jsonl.part.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "complete": True}))
    (paths[0].parent / "out.jsonl.part").replace(paths[0])
    with part_files(paths, JOB) as files:
        assert files.complete
        files.finish()
    assert [path.read_bytes() for path in paths] == [b"one\n", b"bad\n"]
    assert left_of(paths[0]) == ["out.jsonl", "rejects.jsonl"]


def test_a_link_stays_a_link(tmp_path):
    real = tmp_path / "real.jsonl"
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    with part_files([link, tmp_path / "rejects"], JOB) as files:
        files.write(0, b"one\n")
        files.finish()
    assert link.is_symlink()
    assert real.read_bytes() == b"one\n"
