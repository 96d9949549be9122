"""Files written whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def atomic_writer(path: Path) -> Iterator[TextIO]:
    """Open a text file (UTF-8) that appears under its name only once it is complete and on disk.

    A name that ends in `.gz` gives a gzip file, the same bytes for the same text. A failure inside the block leaves
    whatever stood at `path` before untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        try:
            with os.fdopen(handle, "wb", closefd=False) as raw, ExitStack() as layers:
                binary = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else raw
                stream = io.TextIOWrapper(binary, encoding="utf-8", errors="surrogatepass", newline="\n")
                yield layers.enter_context(stream)
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.chmod(_default_mode())  # mkstemp makes files only the owner can read
        temporary.replace(path)
    except BaseException:
        temporary.unlink()
        raise


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
