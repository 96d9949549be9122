"""The files of the page, read once when the server starts: no request ever names a file on the disk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response

FOLDER = Path(__file__).with_name("page")
INDEX = "index.html"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""Not left to the system, which may have other names for them: a browser runs no script that is not called one."""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    media_type: str
    tag: str

    def answer(self, request: Request) -> Response:
        headers = {"etag": self.tag, "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers=headers, media_type=self.media_type)


def add_page(app: FastAPI) -> None:
    """A route for each file of the folder; the index is also what is at `/`."""
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in _TYPES:
            name = path.relative_to(FOLDER).as_posix()
            _add(app, "/" if name == INDEX else f"/{name}", _read(path))


def _add(app: FastAPI, place: str, file: _File) -> None:
    async def answer(request: Request) -> Response:
        return file.answer(request)

    app.api_route(place, methods=["GET", "HEAD"], include_in_schema=False)(answer)


def _read(path: Path) -> _File:
    content = path.read_bytes()
    return _File(content, _TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
