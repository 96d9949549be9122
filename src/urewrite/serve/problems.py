"""What goes wrong, in one shape: that of OpenAI's errors, whose clients show the message and the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response

from urewrite.errors import BadInputError
from urewrite.serve.schemas import CHOICE

CLOSE = {"connection": "close"}
"""For answers that are given in the middle of a body nobody wants to read."""


_LONGEST_NAME = 64


class Problem(Exception):  # noqa: N818  (an answer like others, not an error of the program)
    """An answer that is not what was asked for: a status, one sentence, and the field at fault if there is one."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The answer itself."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        body = {"error": {"message": self.message, "type": kind, "param": self.field, "code": self.code}}
        return Response(to_json(body), self.status, self.headers, media_type="application/json")


def overloaded(code: str, message: str, retry_seconds: int) -> Problem:
    """Said at once, before anything is read or computed."""
    return Problem(503, code, message, headers={"retry-after": str(retry_seconds)})


class ProblemDetail(BaseModel):
    """What went wrong."""

    message: str = Field(description="One sentence for people.")
    type: str = Field(description="`invalid_request_error` where the request is at fault, else `server_error`.")
    param: str | None = Field(description="The field at fault, as in `dialogues[3].utterance`.")
    code: str = Field(description="One word for programs.")


class ProblemAnswer(BaseModel):
    """Every answer that is not 2xx."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": {
                        "message": "the utterance is empty",
                        "type": "invalid_request_error",
                        "param": "utterance",
                        "code": "invalid_field",
                    }
                }
            ]
        }
    )

    error: ProblemDetail


def add_problem_handlers(app: FastAPI) -> None:
    """Answer everything that is raised in the one shape."""

    @app.exception_handler(Problem)
    async def _problem(_: Request, problem: Problem) -> Response:
        return problem.response()

    @app.exception_handler(BadInputError)
    async def _bad_input(_: Request, error: BadInputError) -> Response:
        return Problem(422, "invalid_field", error.reason, field=error.field).response()

    @app.exception_handler(RequestValidationError)
    async def _validation(_: Request, error: RequestValidationError) -> Response:
        return _of_validation(error).response()

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> Response:
        if error.status_code == 400:  # only a body that is no JSON text at all: too deep, not UTF-8
            return Problem(400, "invalid_json", "the body is not valid JSON").response()
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
        return Problem(error.status_code, code, error.detail, headers=error.headers).response()

    @app.exception_handler(Exception)
    async def _unforeseen(_: Request, __: Exception) -> Response:
        return Problem(500, "internal_error", "something failed inside; the log of the server says what").response()


def _of_validation(error: RequestValidationError) -> Problem:
    first = error.errors()[0]
    kind, place = first["type"], tuple(first["loc"])
    if kind == "json_invalid":
        return Problem(400, "invalid_json", f"the body is not valid JSON: {first['ctx']['error']} at {place[-1]}")
    field = field_of(place[1:])
    if not field:
        odd = kind == "string_unicode"
        message = "the name of a field is no text" if odd else "expected a JSON object as the body"
        return Problem(422, "invalid_body", message)
    message = {
        "missing": "the field is missing",
        "extra_forbidden": "there is no such field",
        "string_unicode": "holds half a surrogate pair, which is no text",
        "finite_number": "expected a finite number",
    }.get(kind, str(first["msg"]))
    return Problem(422, "invalid_field", message, field=field)


def field_of(place: Sequence[int | str]) -> str:
    """A place as people write it, `history[0].content`; a name may be anything, so it is cut."""
    written = ""
    for part in place:
        if isinstance(part, int):
            written += f"[{part}]"
        elif not part.startswith(CHOICE):
            written += ("." if written else "") + part[:_LONGEST_NAME]
    return written
