from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from urewrite.files import atomic_writer, local_weights, same_place, split_lines

PROGRAM = """
import sys
from pathlib import Path
from urewrite.files import atomic_writer
with atomic_writer(Path(sys.argv[1])) as stream:
    stream.write("written\\n")
"""


def write(path: Path, text: str = "new") -> None:
    with atomic_writer(path) as stream:
        stream.write(text)


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "file"
    write(path, "old")
    with pytest.raises(TypeError), atomic_writer(path) as stream:
        stream.writelines(["new", None])  # type: ignore[list-item]
    assert path.read_text() == "old"
    write(path)
    assert path.read_text() == "new"
    assert [file.name for file in path.parent.iterdir()] == ["file"]


def test_an_interruption_that_comes_too_late_stays_one(tmp_path, monkeypatch):
    replace = Path.replace

    def replaced_and_interrupted(self: Path, target: Path) -> Path:
        replace(self, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", replaced_and_interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "file")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_packed_files_are_the_same_bytes_for_the_same_text(tmp_path):
    write(tmp_path / "a.gz", "你好")
    write(tmp_path / "b.gz", "你好")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).decode() == "你好"


def test_a_link_stays_and_what_it_names_is_written(tmp_path):
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "link", tmp_path / "there" / "target"
    link.symlink_to(Path("there") / "target")
    for text in ("first", "second"):  # not yet there, and there already
        write(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert [file.name for file in target.parent.iterdir()] == ["target"]
    assert same_place(link, target)


@pytest.mark.skipif(sys.platform == "win32", reason="not provided: Windows has no pipes with a path")
def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write(pipe)
    reader.join(timeout=10)
    assert got == ["new"]
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(sys.platform == "win32", reason="not provided: Windows has no devices with a path")
def test_devices_are_written_to(tmp_path):
    write(Path("/dev/null"))
    assert Path("/dev/null").is_char_device()
    command = [sys.executable, "-c", PROGRAM, "/dev/stdout"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"written\n"
    path = tmp_path / "out"
    path.write_text("before\n")
    with path.open("ab") as stream:
        subprocess.run(command, stdout=stream, check=True)
        subprocess.run(command, stdout=stream, check=True)
    assert path.read_text() == "before\nwritten\nwritten\n"


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OSError, match=r"directory|Permission"):
        write(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"\xef\xbb\xbfa\r\n\nb", [b"a", b"", b"b"]),
        ("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c".encode()]),
    ],
)
def test_lines_end_at_line_feeds_only(content, lines):
    assert split_lines(content, "name") == lines


def test_weights_may_lie_in_the_home_folder(home):
    assert local_weights("~/vectors.txt") == home / "vectors.txt"
    assert local_weights("~not a user/vectors.txt") == Path("~not a user/vectors.txt")
    assert local_weights("owner/name~") == Path("owner/name~")
