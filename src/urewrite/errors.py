"""The failures a caller may meet; each message is one sentence for a person: the value, the expectation, the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class UrewriteError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code: ClassVar[int] = 1


class BadInputError(UrewriteError, ValueError):
    """Input that cannot be used: names the file, line and field where they are known."""

    exit_code = 3

    def __init__(
        self, reason: str, *, file: str | Path | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        self.reason = reason
        self.file = None if file is None else str(file)
        self.line = line
        self.field = field
        place = ", ".join(
            part
            for part in (
                self.file,
                None if line is None else f"line {line}",
                None if field is None else f"field {field!r}",
            )
            if part is not None
        )
        super().__init__(f"{place}: {reason}" if place else reason)

    def at(self, *, file: str | Path | None = None, line: int | None = None) -> BadInputError:
        """The same fault with the place filled in by a caller that knows it."""
        return BadInputError(
            self.reason,
            file=self.file if file is None else file,
            line=self.line if line is None else line,
            field=self.field,
        )


class DataUnavailableError(UrewriteError):
    """A corpus file that is neither in the mirror nor in the cache, or could not be fetched intact."""

    exit_code = 4


class TrainingError(UrewriteError):
    """A training that cannot go on; its last good checkpoint is kept."""


class OverlapError(UrewriteError):
    """Training data that shares dialogues or rewrites with a held-out test part."""

    exit_code = 5
