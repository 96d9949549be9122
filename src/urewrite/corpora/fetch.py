"""Bring the files of corpora into the cache."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from urewrite.corpora.download import (
    LARGEST_FILE,
    Checksum,
    Download,
    NotThereError,
    Patience,
    accept,
)
from urewrite.corpora.sources import Archive, SourceFile, cache_folder, places, source_of
from urewrite.errors import DataUnavailableError
from urewrite.files import exclusive, naming_disk_errors

Progress = Callable[[str, "int | None"], AbstractContextManager[Callable[[int], None]]]
"""Opens a display for a file (its name, its size if known) and gives what moves it on."""

_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of a file.

    `mirror`: a mirror has it; `present`: it was in the cache already; `fetched`: it is now; `unavailable`: a file that
    others stand in for is not offered; `failed`: see `reason`.
    """

    corpus: str
    path: str
    status: Literal["mirror", "present", "fetched", "unavailable", "failed"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Fetcher:
    """How to fetch: from the public addresses, or from `base_url` followed by the path in a mirror folder."""

    progress: Progress
    notify: Callable[[str], None]
    mirror: Path | None = None
    base_url: str | None = None
    force: bool = False
    patience: Patience = field(default_factory=Patience)

    def fetch(self, names: Sequence[str]) -> list[Fetched]:
        """Fetch whatever is not there yet. A file that fails does not keep the others from being fetched."""
        corpora = [source_of(name) for name in names]
        folder = cache_folder()
        waiting = partial(self.notify, "waiting for another process that fetches")
        with naming_disk_errors(folder), exclusive(folder / ".lock", waiting):
            return [done for corpus in corpora for done in self._fetch_corpus(corpus.name, corpus.files, folder)]

    def _fetch_corpus(self, corpus: str, files: Sequence[SourceFile], folder: Path) -> list[Fetched]:
        results: dict[str, Fetched] = {}
        packed: dict[Archive, list[SourceFile]] = {}
        for file in files:
            status = self._standing(file, folder)
            if status is not None:
                results[file.path] = Fetched(corpus, file.path, status)
            elif file.archive is not None and (self.base_url is None or file.sha256 is None):
                packed.setdefault(file.archive, []).append(file)
            else:
                results[file.path] = self._attempt(corpus, file, partial(self._download, file, folder))
        for archive, members in packed.items():
            results.update(self._fetch_members(corpus, archive, members, folder))
        return [results[file.path] for file in files]

    def _standing(self, file: SourceFile, folder: Path) -> Literal["mirror", "present", "unavailable"] | None:
        """How a file stands before anything is fetched; None if it must be fetched."""
        if self.force:
            return None
        mirrors = [place for kind, place in places(self.mirror) if kind == "mirror"]
        if any((place / file.path).is_file() for place in mirrors):
            return "mirror"
        kept = folder / file.path
        if kept.is_file() and (file.sha256 is None or Checksum("sha256", file.sha256).fits(kept)):
            return "present"
        # Whoever names a mirror wants nothing from elsewhere that can be done without.
        return "unavailable" if mirrors and file.sha256 is None else None

    def _attempt(self, corpus: str, file: SourceFile, action: Callable[[], None]) -> Fetched:
        try:
            action()
        except DataUnavailableError as error:
            return Fetched(corpus, file.path, "failed", str(error))
        return Fetched(corpus, file.path, "fetched")

    def _download(self, file: SourceFile, folder: Path) -> None:
        if file.sha256 is None:
            raise ValueError(f"{file.path} has no checksum of its own")
        url = file.url if self.base_url is None else self._mirrored(file.path)
        self._run(Download(url, folder / file.path, Checksum("sha256", file.sha256), file.size), file.path)

    def _run(self, download: Download, description: str) -> None:
        with self.progress(description, download.size) as advance:
            download.run(advance, self.notify, self.patience)

    def _mirrored(self, path: str) -> str:
        return f"{(self.base_url or '').rstrip('/')}/{path}"

    def _fetch_members(
        self, corpus: str, archive: Archive, members: Sequence[SourceFile], folder: Path
    ) -> dict[str, Fetched]:
        url = archive.url if self.base_url is None else self._mirrored(archive.path)
        packed = folder / archive.path
        try:
            self._run(Download(url, packed, Checksum("md5", archive.md5), None), archive.path)
        except DataUnavailableError as error:
            # A mirror laid out like the data folder has the members, not the archive.
            absent = self.base_url is not None and isinstance(error, NotThereError)
            status: Literal["unavailable", "failed"] = "unavailable" if absent else "failed"
            return {file.path: Fetched(corpus, file.path, status, str(error)) for file in members}
        try:
            return {
                file.path: self._attempt(corpus, file, partial(extract, packed, archive, file, folder))
                for file in members
            }
        finally:
            packed.unlink(missing_ok=True)


def extract(packed: Path, archive: Archive, file: SourceFile, folder: Path) -> None:
    """Take one member out of an archive, under the name the sources give it and not one the archive gives."""
    destination = folder / file.path
    part = destination.with_name(destination.name + ".part")
    member = f"{archive.folder}/{destination.name}"
    limit = file.size or LARGEST_FILE
    with naming_disk_errors(destination):
        destination.parent.mkdir(parents=True, exist_ok=True)
        try:
            with zipfile.ZipFile(packed) as opened, opened.open(member) as source, part.open("wb") as target:
                while (chunk := source.read(_CHUNK)) and target.tell() <= limit:
                    target.write(chunk)
        except KeyError:
            raise DataUnavailableError(f"{archive.url}: the archive does not hold {member}") from None
        except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
            part.unlink(missing_ok=True)
            raise DataUnavailableError(f"{archive.url}: the archive cannot be unpacked ({error})") from error
        if part.stat().st_size > limit:
            part.unlink()
            raise DataUnavailableError(f"{archive.url}: {member} is larger than the expected {limit} bytes")
        if file.sha256 is None:
            part.replace(destination)
        else:
            accept(part, destination, Checksum("sha256", file.sha256), f"{archive.url}: {member}")
