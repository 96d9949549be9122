"""Files that take long to write: under other names until they are complete, and gone on with after an interruption."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO

from urewrite.errors import BadInputError
from urewrite.files import atomic_writer, exclusive

FORMAT = 1


def packed(path: Path, content: bytes) -> bytes:
    """As a file of this name holds it. Packed pieces one after the other unpack to the pieces one after the other."""
    return gzip.compress(content, 6, mtime=0) if path.suffix == ".gz" else content


@dataclass(slots=True)
class _State:
    """What `NAME.part.json` holds: which job, how large each part was, how far the job was, whether it was done."""

    job: dict[str, object]
    sizes: list[int]
    progress: dict[str, int] = field(default_factory=dict)
    complete: bool = False
    format: int = FORMAT


class PartFiles:
    """Files written together, piece by piece, each as `NAME.part` until all are complete.

    `commit` notes in the first one's `NAME.part.json` how far the files have got, and the caller with them. What is
    found beyond the last commit when the job is taken up again is cut off, so the caller goes on from what `progress`
    says and the files come out as if nothing had happened.
    """

    def __init__(self, paths: Sequence[Path], job: Mapping[str, object]) -> None:
        """Prefer `part_files`."""
        self.paths = [Path(os.path.realpath(path)) for path in paths]
        self.parts = [path.with_name(f"{path.name}.part") for path in self.paths]
        self._noted = self.paths[0].with_name(f"{self.paths[0].name}.part.json")
        self._state = _State(json.loads(json.dumps(job)), [0] * len(self.paths))
        self._streams: list[BinaryIO] = []

    @property
    def progress(self) -> Mapping[str, int]:
        """What the last commit said of the caller; empty at the start."""
        return self._state.progress

    @property
    def complete(self) -> bool:
        """Whether everything was written already, and only the names are to be given."""
        return self._state.complete

    def write(self, number: int, content: bytes) -> None:
        """Append to one of the files, packed if its name says so."""
        if content:
            self._streams[number].write(packed(self.paths[number], content))

    def commit(self, progress: Mapping[str, int], *, complete: bool = False) -> None:
        """Let everything written so far stay, whatever happens next."""
        for stream in self._streams:
            stream.flush()
            os.fsync(stream.fileno())
        self._state.sizes = [stream.tell() for stream in self._streams]
        self._state.progress = dict(progress)
        self._state.complete = complete
        self._note()

    def finish(self) -> None:
        """Give the files their names. Done again, it does what an interruption has left undone."""
        if not self.complete:
            for path, stream in zip(self.paths, self._streams, strict=True):
                if not stream.tell():  # a packed file of nothing is not nothing
                    stream.write(packed(path, b""))
            self.commit(self.progress, complete=True)
        self.close()
        for part, path in zip(self.parts, self.paths, strict=True):
            if part.exists():
                part.replace(path)
        self._noted.unlink()

    def begin(self, *, resumable: bool, restart: bool) -> None:
        """Take up what is there, or start; what belongs to another job is only replaced on `restart`."""
        found = None if restart else self._found()
        if found is not None and resumable:
            self._state = found
        else:
            for part in self.parts:
                part.unlink(missing_ok=True)
            self._note()  # before the files, so that no part is without
        if not self.complete:
            for part, size in zip(self.parts, self._state.sizes, strict=True):
                self._streams.append(_opened(part, size))

    def close(self) -> None:
        """Leave the parts for another time."""
        for stream in self._streams:
            stream.close()

    def _note(self) -> None:
        with atomic_writer(self._noted) as stream:
            json.dump(asdict(self._state), stream, indent=2)

    def _found(self) -> _State | None:
        """What an earlier attempt has noted, if that was at the same job."""
        try:
            found = _State(**json.loads(self._noted.read_bytes()))
        except FileNotFoundError:
            for part in self.parts:
                if part.exists():
                    reason = f"is there, but no {self._noted.name} says what it is part of: --restart writes over it"
                    raise BadInputError(reason, file=part) from None
            return None
        except (OSError, ValueError, TypeError) as error:
            raise BadInputError(f"cannot be used ({error}): begin anew with --restart", file=self._noted) from error
        if found.format != FORMAT:
            raise BadInputError("is of another version: begin anew with --restart", file=self._noted)
        job = self._state.job
        others = [name for name in {**found.job, **job} if found.job.get(name) != job.get(name)]
        if others and not found.progress and not found.complete:
            return None  # it broke off before anything was done
        if others:
            reason = f"was begun with another {', '.join(others)}: finish it as it was, or begin anew with --restart"
            raise BadInputError(reason, file=self.parts[0])
        return found


@contextmanager
def part_files(
    paths: Sequence[Path], job: Mapping[str, object], *, resumable: bool = True, restart: bool = False
) -> Iterator[PartFiles]:
    """Files to write for this job, which its settings tell from others; one process at a time may.

    A job that is not `resumable`, because its input is gone, starts from nothing each time.
    """
    files = PartFiles(paths, job)
    for path in files.paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    lock = files.paths[0].with_name(f".{files.paths[0].name}.lock")

    def busy() -> None:
        raise BadInputError("another process is writing it", file=files.parts[0])

    with exclusive(lock, busy):
        try:
            files.begin(resumable=resumable, restart=restart)
            yield files
        finally:
            files.close()
            with suppress(OSError):  # where a file that is open cannot be removed
                lock.unlink()


def _opened(part: Path, size: int) -> BinaryIO:
    """A part to go on with, without what was written after the last commit."""
    stream = part.open("ab")
    if stream.tell() < size:
        stream.close()
        raise BadInputError("is shorter than it was: begin anew with --restart", file=part)
    stream.truncate(size)
    stream.seek(0, os.SEEK_END)
    return stream
