"""One file over HTTP: resumed when broken off, tried again, verified before it gets its name."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from urewrite import __version__
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.files import naming_disk_errors

LARGEST_FILE = 256 * 1024 * 1024
"""A download or archive member of unknown size is given up beyond this; the largest corpus file has a tenth of it."""

_CHUNK = 64 * 1024
_LONGEST_ANSWER = 300
_LONGEST_LENGTH = 18
_NO_RANGE = 416
_NOT_THERE = frozenset({404, 410})
_WORTH_A_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class NotThereError(DataUnavailableError):
    """The server says that it has no such file."""


class _TemporaryError(Exception):
    """A failure that may be gone at the next attempt."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the content of a file must come to."""

    algorithm: Literal["sha256", "md5"]
    digest: str

    def of(self, path: Path) -> str:
        """The sum of a file, by the same algorithm."""
        found = hashlib.new(self.algorithm, usedforsecurity=False)
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                found.update(chunk)
        return found.hexdigest()

    def fits(self, path: Path) -> bool:
        """Whether a file has this sum."""
        return self.of(path) == self.digest


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait: seconds without a byte, attempts in a row that bring nothing new, seconds before the second."""

    timeout: float = 30.0
    attempts: int = 4
    pause: float = 1.0


@dataclass(frozen=True, slots=True)
class Download:
    """A file to be downloaded: from where, to where, and how it is known to be the right one."""

    url: str
    destination: Path
    checksum: Checksum
    size: int | None

    @property
    def part(self) -> Path:
        """Where the bytes are kept until all are there; the next attempt, or the next run, goes on from them."""
        return self.destination.with_name(self.destination.name + ".part")

    def run(self, advance: Callable[[int], None], notify: Callable[[str], None], patience: Patience) -> None:
        """Download, verify, and only then give the file its name. `advance` is told how many bytes came in."""
        check_address(self.url)
        with naming_disk_errors(self.destination):
            self.destination.parent.mkdir(parents=True, exist_ok=True)
            try:
                resumed = self._transfer(advance, notify, patience)
                if resumed and not self.checksum.fits(self.part):
                    notify(f"{self.url}: what was kept from an earlier attempt does not fit; starting again")
                    self._start_again(advance)
                    self._transfer(advance, notify, patience)
                accept(self.part, self.destination, self.checksum, self.url)
            finally:
                if not _size_of(self.part):
                    self.part.unlink(missing_ok=True)

    def _transfer(self, advance: Callable[[int], None], notify: Callable[[str], None], patience: Patience) -> bool:
        """Bring the part file to its full length; says whether bytes of an earlier attempt are in it."""
        resumed, failures, furthest = False, 0, _size_of(self.part)
        advance(furthest)
        while True:
            offset = _size_of(self.part)
            if offset and offset == self.size:
                return True
            try:
                resumed = self._request(offset, advance, patience.timeout)
            except _TemporaryError as error:
                arrived = _size_of(self.part)
                failures = 1 if arrived > furthest else failures + 1
                furthest = max(furthest, arrived)
                if failures >= patience.attempts:
                    kept = ": what has arrived is kept" if arrived else ""
                    raise DataUnavailableError(
                        f"{self.url}: {error}, and so did {failures} attempts in a row; try again later{kept}"
                    ) from error
                notify(f"{self.url}: {error}; trying again")
                time.sleep(patience.pause * 2 ** (failures - 1))
            else:
                return resumed

    def _request(self, offset: int, advance: Callable[[int], None], timeout: float) -> bool:
        """One request for the bytes from `offset` on; says whether the server did go on from there."""
        with self._open(offset, advance, timeout) as response:
            resumed = offset > 0 and response.status == http.client.PARTIAL_CONTENT
            if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-"):
                self._start_again(advance)
                raise _TemporaryError("the server sent another range than the one asked for")
            if offset and not resumed:
                self._start_again(advance)
            length = _announced(response)
            received = offset if resumed else 0
            expected = self.size if length is None else received + length
            with self.part.open("ab") as stream:
                for chunk in _chunks(response):
                    stream.write(chunk)
                    received += len(chunk)
                    advance(len(chunk))
                    if received > (self.size or LARGEST_FILE):
                        break
        if received > (self.size or LARGEST_FILE):
            self._start_again(advance)
            raise DataUnavailableError(f"{self.url}: more than the expected {self.size or LARGEST_FILE} bytes came in")
        if expected is not None and received < expected:
            raise _TemporaryError(f"the connection broke off after {received} of {expected} bytes")
        return resumed

    def _open(self, offset: int, advance: Callable[[int], None], timeout: float) -> http.client.HTTPResponse:
        headers = {"User-Agent": f"urewrite/{__version__}", "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        try:
            response = urllib.request.urlopen(urllib.request.Request(self.url, headers=headers), timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                answer = _one_line(f"the server answered {error.code} {error.reason}")
                if error.code == _NO_RANGE and offset:
                    self._start_again(advance)
                    raise _TemporaryError(answer) from error
                if error.code in _WORTH_A_RETRY:
                    raise _TemporaryError(answer) from error
                kind = NotThereError if error.code in _NOT_THERE else DataUnavailableError
                raise kind(f"{self.url}: {answer}") from error
        except (http.client.InvalidURL, ValueError, OverflowError) as error:  # where a server sends one on to
            raise DataUnavailableError(f"{self.url}: {_describe(error)}") from error
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.URLError) and isinstance(error.reason, ValueError):  # a bad certificate
                raise DataUnavailableError(f"{self.url}: {_describe(error)}") from error
            raise _TemporaryError(_describe(error)) from error
        assert isinstance(response, http.client.HTTPResponse)
        return response

    def _start_again(self, advance: Callable[[int], None]) -> None:
        advance(-_size_of(self.part))
        self.part.unlink(missing_ok=True)


def check_address(url: str) -> None:
    """Refuse an address that can never be asked."""
    if not url.isascii() or not url.isprintable() or " " in url:
        raise BadInputError(f"expected an address with other characters than ASCII written as %XX, found {url!r}")
    try:
        parts = urllib.parse.urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        usable = parts.scheme in {"http", "https"} and host and parts.port != 0
    except ValueError as error:
        raise BadInputError(f"{url} is not an address: {error}") from None
    if not usable:
        raise BadInputError(f"expected an address that starts with http:// or https:// and a host, found {url}")


def accept(part: Path, destination: Path, checksum: Checksum, origin: str) -> None:
    """Give a complete file its name if its sum is right; otherwise remove it and say what was wrong."""
    found = checksum.of(part)
    if found != checksum.digest:
        part.unlink()
        raise DataUnavailableError(
            f"{origin}: the content is not the published one: expected {checksum.algorithm} {checksum.digest}, "
            f"found {found}"
        )
    part.replace(destination)


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """What comes in, as it comes in: what arrived before a failure is not lost."""
    while True:
        try:
            chunk = response.read1(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _TemporaryError(_describe(error)) from error
        if not chunk:
            return
        yield chunk


def _announced(response: http.client.HTTPResponse) -> int | None:
    """How many bytes the server says it sends; None if it says nothing that can be counted on."""
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() and len(length) <= _LONGEST_LENGTH else None


def _describe(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return "the server sent nothing in time"
    return f"the connection failed ({_one_line(str(reason)) or type(reason).__name__})"


def _one_line(text: str) -> str:
    """What a server said, cut short and without line breaks and control characters."""
    printable = "".join(character if character.isprintable() else " " for character in text[:_LONGEST_ANSWER])
    return " ".join(printable.split())


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
