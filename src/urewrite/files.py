"""Files read line by line, and files written whole or not at all."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from urewrite.errors import BadInputError, DataUnavailableError

_STANDARD_STREAMS = (1, 2)


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked when its name ends in `.gz`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInputError(f"the file cannot be read: {error.strerror or error}", file=path) from error
    if path.suffix != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInputError(f"not a complete gzip file ({error})", file=path) from error


def without_mark(content: bytes, name: str | Path) -> bytes:
    """The content without the mark some programs put before UTF-8; that of UTF-16 is an error."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadInputError("expected UTF-8, found UTF-16", file=name)
    return content.removeprefix(codecs.BOM_UTF8)


def split_lines(content: bytes, name: str | Path) -> list[bytes]:
    """The lines of a content. They end with a line feed, before which a carriage return is dropped."""
    lines = without_mark(content, name).split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines]


def decode_line(raw: bytes) -> str:
    """The text of a line; a byte that is not UTF-8 is named with its position."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, position = raw[error.start], error.start + 1
        raise BadInputError(f"byte {position} (0x{byte:02x}) is not valid UTF-8") from None


def same_place(first: Path, second: Path) -> bool:
    """Whether two paths lead to one file, whether or not it is there."""
    return os.path.realpath(first) == os.path.realpath(second)


@contextmanager
def atomic_writer(path: Path) -> Iterator[TextIO]:
    """Open a text file (UTF-8) that appears under its name only once it is complete and on disk.

    A name that ends in `.gz` gives a gzip file, the same bytes for the same text. A failure inside the block leaves
    whatever stood at `path` before untouched. A symbolic link stays, and what it names is written. A stream (a pipe, a
    device, where stdout goes) is written to as it is.
    """
    packed = path.suffix == ".gz"
    if is_stream(path):
        with path.open("ab") as raw, _text(raw, packed) as stream:
            yield stream
        return
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        try:
            with os.fdopen(handle, "wb", closefd=False) as raw, _text(raw, packed) as stream:
                yield stream
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.chmod(_default_mode())  # mkstemp makes files only the owner can read
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)  # an interruption may come when it is in place already
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path` for others to write to; what they wrote takes the place of `path` once the block is done.

    Beside it, because only within one disk can a file be put in place in one step. A failure leaves `path` as it was.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(_default_mode())  # some writers make files only the owner can read
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _text(raw: io.BufferedWriter, packed: bool) -> TextIO:
    """Text written to a binary stream, packed or as it is."""
    binary = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if packed else raw
    return io.TextIOWrapper(binary, encoding="utf-8", errors="surrogatepass", newline="\n")


def is_stream(path: Path) -> bool:
    """Whether a path is there and is no regular file, or is where stdout or stderr go."""
    try:
        found = path.stat()
    except OSError:
        return False
    return not stat.S_ISREG(found.st_mode) or any(_is_open_as(number, found) for number in _STANDARD_STREAMS)


def _is_open_as(number: int, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(found, os.fstat(number))
    except OSError:  # that stream is closed
        return False


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def exclusive(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock that one process has at a time; it ends with the process, however that ends.

    `waiting` is called once if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as handle:
        if not _lock(handle.fileno(), wait=False):
            waiting()
            while not _lock(handle.fileno(), wait=True):
                pass
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, *, wait: bool) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            # LK_LOCK gives up after ten seconds, so the caller asks again.
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int, *, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def expanded(name: str) -> Path:
    """A path as people write it: `~` is a home folder. No shell has seen the paths that stand in a settings file."""
    try:
        return Path(name).expanduser()
    except RuntimeError:  # a user this machine does not know: no such path, which who reads it will say
        return Path(name)


def local_weights(name: str) -> Path:
    """Where pretrained weights are: the path itself, or of that name in the folder `UREWRITE_WEIGHTS` names.

    So settings can name an encoder as the hub does, and still find it on a machine without the hub.
    """
    given = expanded(name)
    folder = os.environ.get("UREWRITE_WEIGHTS")
    if given.exists() or not folder or not (Path(folder) / name).exists():
        return given
    return Path(folder) / name


@contextmanager
def naming_disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk, a missing permission and the like into an error that says which file could not be written."""
    try:
        yield
    except OSError as error:
        raise DataUnavailableError(f"cannot write {path}: {error.strerror or error}") from error
