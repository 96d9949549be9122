"""A client of the service, used as a `Rewriter` is: the same arguments, the same results, the same errors."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Literal

import httpx2
import numpy as np

from urewrite.dialogue import Dialogue, HistoryItem, Turn
from urewrite.errors import BadInputError, UrewriteError
from urewrite.language import Language
from urewrite.rewrite import Edit, GridView, Origin, Piece, Region, Rewrite

_PASSING = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.RemoteProtocolError,
)
"""A server that is not up yet, or closes a connection just then. To ask twice does no harm, so it is tried again."""
_NOT_NOW = 503
_JSON = {"content-type": "application/json"}
_FIRST_SECONDS = 0.1
_MOST_SECONDS = 10.0
_BATCH = 64

Mode = Literal["auto", "always", "never"]
Dialogues = Iterable[Dialogue | tuple[Sequence[HistoryItem], str]]


class ServiceError(UrewriteError):
    """The service did not do what it was asked; `status` is that of HTTP, None if there was no answer."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, status: int | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class _Calls:
    """What both clients share: how a call is made and understood."""

    address: str
    options: Mapping[str, Any]
    retries: int

    @classmethod
    def of(cls, address: str, api_key: str | None, timeout: float, retries: int) -> _Calls:
        headers = {} if api_key is None else {"authorization": f"Bearer {api_key}"}
        return cls(address, {"base_url": address, "headers": headers, "timeout": timeout}, retries)

    def pauses(self) -> Iterator[float]:
        """Seconds to wait before each further attempt, twice as long each time, and never the same for two clients."""
        for attempt in range(self.retries):
            longest = min(_MOST_SECONDS, _FIRST_SECONDS * 2**attempt)
            yield longest * random.uniform(0.5, 1)

    def settled(self, came: httpx2.Response | httpx2.HTTPError) -> httpx2.Response:
        """The answer, whatever it says; that there was none is an error."""
        if isinstance(came, httpx2.HTTPError):
            reason = str(came) or type(came).__name__
            raise ServiceError(f"{self.address} does not answer: {reason}") from came
        return came

    def read(self, response: httpx2.Response) -> Any:  # noqa: ANN401  (JSON)
        """The document of an answer; one that is none is raised as the error it names."""
        try:
            document = response.json()
        except ValueError:
            raise ServiceError(
                f"{self.address} answered {response.status_code} with something else than JSON",
                status=response.status_code,
            ) from None
        if response.is_success:
            return document
        problem = document.get("error") if isinstance(document, dict) else None
        problem = problem if isinstance(problem, dict) else {}
        message, field = str(problem.get("message", "no reason given")), problem.get("param")
        if response.status_code == 422:
            raise BadInputError(message, field=field)
        raise ServiceError(
            f"{self.address} answered {response.status_code}: {message}",
            status=response.status_code,
            code=problem.get("code"),
        )


def _passes(came: httpx2.Response | httpx2.HTTPError) -> bool:
    """Whether it may be another time."""
    return isinstance(came, _PASSING) if isinstance(came, httpx2.HTTPError) else came.status_code == _NOT_NOW


def _longer(pause: float, came: httpx2.Response | httpx2.HTTPError) -> float:
    """At least as long as the server says, if it says so, but not for ever."""
    said = "" if isinstance(came, httpx2.HTTPError) else came.headers.get("retry-after", "")
    return max(pause, min(_MOST_SECONDS, float(said))) if said.isdecimal() else pause


def _content(body: Mapping[str, object] | None) -> bytes | None:
    """ASCII, in which JSON can say whatever a string may hold: the server says what it does not take."""
    return None if body is None else json.dumps(body).encode()


class Client:
    """Calls a service; many threads may share one. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        address: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        timeout: float = 30,
        retries: int = 4,
    ) -> None:
        """`timeout` is in seconds for each attempt; 503 and lost connections are tried again `retries` times."""
        self._calls = _Calls.of(address, api_key, timeout, retries)
        self._http = httpx2.Client(**self._calls.options)

    def rewrite(
        self,
        history: Sequence[HistoryItem],
        utterance: str,
        *,
        threshold: float | None = None,
        mode: Mode = "auto",
        protect: Sequence[str] = (),
        lang: Language | None = None,
        keep_grid: bool = False,
    ) -> Rewrite:
        """As `Rewriter.rewrite`."""
        body = {**_dialogue(history, utterance), **_wishes(threshold, mode, protect, lang, keep_grid)}
        return _rewrite(self._post("/v1/rewrite", body))

    def rewrite_batch(
        self,
        dialogues: Dialogues,
        *,
        batch_size: int = _BATCH,
        threshold: float | None = None,
        mode: Mode = "auto",
        protect: Sequence[str] = (),
        lang: Language | None = None,
    ) -> list[Rewrite]:
        """As `Rewriter.rewrite_batch`; `batch_size` dialogues go into a request."""
        wishes = _wishes(threshold, mode, protect, lang, False)
        results: list[Rewrite] = []
        for part in _parts(dialogues, batch_size):
            answer = self._post("/v1/rewrite/batch", {"dialogues": part, **wishes})
            results += map(_rewrite, answer["results"])
        return results

    def models(self) -> list[str]:
        """The names of the models that are served."""
        return [model["id"] for model in self._calls.read(self._send("GET", "/v1/models", None))["data"]]

    def is_ready(self) -> bool:
        """Whether the service is up and its models compute."""
        try:
            return self._http.get("/health/ready").is_success
        except httpx2.HTTPError:
            return False

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _post(self, place: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401  (JSON)
        return self._calls.read(self._send("POST", place, body))

    def _send(self, method: str, place: str, body: Mapping[str, object] | None) -> httpx2.Response:
        request = self._http.build_request(method, place, content=_content(body), headers=_JSON)
        came: httpx2.Response | httpx2.HTTPError
        for pause in (*self._calls.pauses(), None):
            try:
                came = self._http.send(request)
            except httpx2.HTTPError as error:
                came = error
            if pause is None or not _passes(came):
                break
            time.sleep(_longer(pause, came))
        return self._calls.settled(came)


class AsyncClient:
    """The same for asyncio. Close it, or use it in an `async with` statement."""

    def __init__(
        self,
        address: str = "http://127.0.0.1:8000",
        *,
        api_key: str | None = None,
        timeout: float = 30,
        retries: int = 4,
    ) -> None:
        """As `Client`."""
        self._calls = _Calls.of(address, api_key, timeout, retries)
        self._http = httpx2.AsyncClient(**self._calls.options)

    async def rewrite(
        self,
        history: Sequence[HistoryItem],
        utterance: str,
        *,
        threshold: float | None = None,
        mode: Mode = "auto",
        protect: Sequence[str] = (),
        lang: Language | None = None,
        keep_grid: bool = False,
    ) -> Rewrite:
        """As `Rewriter.rewrite`."""
        body = {**_dialogue(history, utterance), **_wishes(threshold, mode, protect, lang, keep_grid)}
        return _rewrite(await self._post("/v1/rewrite", body))

    async def rewrite_batch(
        self,
        dialogues: Dialogues,
        *,
        batch_size: int = _BATCH,
        threshold: float | None = None,
        mode: Mode = "auto",
        protect: Sequence[str] = (),
        lang: Language | None = None,
    ) -> list[Rewrite]:
        """As `Rewriter.rewrite_batch`; `batch_size` dialogues go into a request."""
        wishes = _wishes(threshold, mode, protect, lang, False)
        results: list[Rewrite] = []
        for part in _parts(dialogues, batch_size):
            answer = await self._post("/v1/rewrite/batch", {"dialogues": part, **wishes})
            results += map(_rewrite, answer["results"])
        return results

    async def models(self) -> list[str]:
        """The names of the models that are served."""
        return [model["id"] for model in self._calls.read(await self._send("GET", "/v1/models", None))["data"]]

    async def is_ready(self) -> bool:
        """Whether the service is up and its models compute."""
        try:
            return (await self._http.get("/health/ready")).is_success
        except httpx2.HTTPError:
            return False

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _post(self, place: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401  (JSON)
        return self._calls.read(await self._send("POST", place, body))

    async def _send(self, method: str, place: str, body: Mapping[str, object] | None) -> httpx2.Response:
        request = self._http.build_request(method, place, content=_content(body), headers=_JSON)
        came: httpx2.Response | httpx2.HTTPError
        for pause in (*self._calls.pauses(), None):
            try:
                came = await self._http.send(request)
            except httpx2.HTTPError as error:
                came = error
            if pause is None or not _passes(came):
                break
            await asyncio.sleep(_longer(pause, came))
        return self._calls.settled(came)


def _dialogue(history: Sequence[HistoryItem], utterance: str) -> dict[str, object]:
    if isinstance(history, str):
        raise BadInputError("expected a list of turns, found one string", field="history")
    return {"history": [_turn(item) for item in history], "utterance": utterance}


def _turn(item: HistoryItem) -> object:
    if isinstance(item, Turn):
        return item.text if item.role is None else {"role": item.role, "content": item.text}
    if isinstance(item, tuple):
        role, text = item
        return {"role": role, "content": text}
    return dict(item) if isinstance(item, Mapping) else item


def _parts(dialogues: Dialogues, size: int) -> Iterator[list[dict[str, object]]]:
    if size < 1:
        raise BadInputError(f"expected at least 1, found {size}", field="batch_size")
    part: list[dict[str, object]] = []
    for given in dialogues:
        history, utterance = (given.history, given.utterance) if isinstance(given, Dialogue) else given
        part.append(_dialogue(history, utterance))
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _wishes(
    threshold: float | None, mode: Mode, protect: Sequence[str], lang: Language | None, keep_grid: bool
) -> dict[str, object]:
    return {
        "threshold": threshold,
        "mode": mode,
        "protect": list(protect),
        "lang": lang or "auto",
        "return_grid": keep_grid,
    }


def _rewrite(record: Mapping[str, Any]) -> Rewrite:
    return Rewrite(
        text=record["text"],
        utterance=record["utterance"],
        edits=tuple(Edit(**edit) for edit in record["edits"]),
        pieces=tuple(Piece(**{**piece, "origin": Origin(piece["origin"])}) for piece in record["pieces"]),
        reason=record["reason"],
        confidence=record["confidence"],
        turns_used=record["turns_used"],
        notes=tuple(record["notes"]),
        model=record["model"],
        grid=None if record["grid"] is None else _grid(record["grid"]),
    )


def _grid(record: Mapping[str, Any]) -> GridView:
    substitute, insert = (np.asarray(record[name], dtype=np.float32) for name in ("substitute", "insert"))
    return GridView(
        rows=tuple(record["rows"]),
        columns=tuple(record["columns"]),
        row_turns=tuple(record["row_turns"]),
        probabilities=np.stack([1 - substitute - insert, substitute, insert]),
        regions=tuple(Region(**region) for region in record["regions"]),
    )
