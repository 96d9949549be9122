"""Lines of a file of any size, or of a stream, some thousand at a time."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from urewrite.errors import BadInputError
from urewrite.files import without_mark

LINES_AT_ONCE = 2048
"""Enough to find lines of like length among them; also what an interruption costs at most."""

BYTES_AT_ONCE = 16 * 1024 * 1024
"""Where lines are long, fewer are taken at once."""

_FINGERPRINTED = 1024 * 1024


_GZIP = b"\x1f\x8b"
"""What gzip begins with, and no text does."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive lines with their numbers, without line ends and blank lines.

    `last` and `offset` are the number of the last line and where it ends, in bytes, unpacked; `start` and `end` tell
    how far the file itself was read before and after, in bytes as they are on disk.
    """

    lines: list[tuple[int, bytes]]
    last: int
    offset: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LineSource:
    """A file, unpacked when its name ends in `.gz`; where `path` is None, standard input, unpacked if it is packed."""

    path: Path | None

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return "standard input" if self.path is None else str(self.path)

    @property
    def is_file(self) -> bool:
        """Whether it has a size, and can be read twice; a pipe cannot."""
        return self.path is not None and self.path.is_file()

    @property
    def size(self) -> int | None:
        """Bytes of the file, packed or not; None where that is not known."""
        return self.path.stat().st_size if self.path is not None and self.is_file else None

    def fingerprint(self) -> dict[str, object]:
        """What tells whether it is the same file still, as far as can be told without reading all of it."""
        if self.path is None or (self.path.exists() and not self.path.is_file() and not self.path.is_dir()):
            return {"input": self.name}
        with self._opened() as (_, raw):
            found = os.fstat(raw.fileno())
            start = hashlib.sha256(raw.read(_FINGERPRINTED)).hexdigest()
        return {"input size": found.st_size, "input time": found.st_mtime_ns, "input start": start}

    def chunks(self, last: int = 0, offset: int = 0) -> Iterator[Chunk]:
        """The lines from an offset on, where line `last` ends. A blank line holds nothing and is passed over."""
        with self._opened() as (stream, raw):
            if offset:
                stream.seek(offset)
            place = raw.tell if self.is_file else lambda: 0
            start = place()
            lines: list[tuple[int, bytes]] = []
            size = 0
            while line := self._line(stream):
                last += 1
                offset += len(line)
                if last == 1:
                    line = without_mark(line, self.name)
                if line.strip():
                    lines.append((last, line.removesuffix(b"\n").removesuffix(b"\r")))
                    size += len(line)
                if len(lines) >= LINES_AT_ONCE or size >= BYTES_AT_ONCE:
                    end = place()
                    yield Chunk(lines, last, offset, start, end)
                    lines, size, start = [], 0, end
            if lines:
                yield Chunk(lines, last, offset, start, place())

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """The stream to read lines from, and the file below it."""
        if self.path is None:
            given = sys.stdin.buffer
            if _is_packed(given):
                with gzip.GzipFile(fileobj=given) as unpacked:
                    yield cast(IO[bytes], unpacked), given
            else:
                yield given, given
            return
        try:
            raw = self.path.open("rb")
        except OSError as error:
            raise BadInputError(f"the file cannot be read: {error.strerror or error}", file=self.path) from error
        with raw:
            if self.path.suffix != ".gz":
                yield raw, raw
            else:
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield cast(IO[bytes], unpacked), raw

    def _line(self, stream: IO[bytes]) -> bytes:
        try:
            return stream.readline()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BadInputError(f"not a complete gzip file ({error})", file=self.name) from error
        except OSError as error:
            raise BadInputError(f"the file cannot be read: {error.strerror or error}", file=self.name) from error


def _is_packed(stream: IO[bytes]) -> bool:
    """Whether what a stream holds is packed by gzip; nothing of it is read away."""
    return isinstance(stream, io.BufferedReader) and stream.peek(len(_GZIP)).startswith(_GZIP)
