"""What is logged, and how: nothing that anybody said, unless that is asked for."""

from __future__ import annotations

import logging
import traceback
from types import TracebackType
from typing import Any


class Formatter(logging.Formatter):
    """One line a record; of failures the place is told, and what they say only where text may be logged.

    The message of an exception often quotes what it failed on.
    """

    def __init__(self, *, messages: bool) -> None:
        super().__init__("%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s")
        self._messages = messages

    def formatException(  # noqa: N802  (the name is logging's)
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        """The frames and the kind of a failure."""
        if self._messages or ei[0] is None:
            return super().formatException(ei)
        lines = ["Traceback (most recent call last):\n", *traceback.format_tb(ei[2])]
        return "".join(lines) + ei[0].__qualname__


def log_config(level: str, *, messages: bool) -> dict[str, Any]:
    """For `logging.config`, in every process."""
    shown = level.upper()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"()": "urewrite.serve.logs.Formatter", "messages": messages}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "urewrite": {"level": shown},
            "urewrite.text": {"level": "INFO" if messages else "CRITICAL"},
            "uvicorn": {"level": shown},
        },
    }
