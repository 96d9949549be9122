"""The application: its routes, and the rooms around them."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import FastAPI, Request
from pydantic_core import to_json
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from urewrite import __version__
from urewrite.bundle import ModelConfig
from urewrite.dialogue import Dialogue
from urewrite.errors import BadInputError
from urewrite.language import Language
from urewrite.rewriter import Rewriter
from urewrite.serve import metrics
from urewrite.serve.access import GONE, REQUEST_ID, RequestLog, facts_of, log_text
from urewrite.serve.admission import Admission
from urewrite.serve.batching import Batcher, Done, GoneError, Options, TooManyWaitingError
from urewrite.serve.condense import read_chat
from urewrite.serve.limits import BodyLimit, check_dialogue
from urewrite.serve.openai import ChatAnswer, ChatRequest, completion, events
from urewrite.serve.problems import Problem, ProblemAnswer, add_problem_handlers, overloaded
from urewrite.serve.schemas import (
    MOST_GRIDS,
    BatchAnswer,
    BatchRequest,
    DialogueGiven,
    HealthAnswer,
    ModelAnswer,
    ModelsAnswer,
    RewriteAnswer,
    RewriteRequest,
    rewritten,
    timing,
)
from urewrite.serve.security import KeyGuard, SecurityHeaders
from urewrite.serve.settings import ServeSettings
from urewrite.serve.static import add_page

_LANGUAGES: tuple[Language, ...] = ("en", "zh")
_WARM_UP = {"en": (["Who wrote Dune?"], "When was he born?"), "zh": (["上海的房价是多少"], "那深圳呢")}
_STREAMED: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}}}
"""What an answer may be beside JSON."""
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemAnswer, "description": description}
    for status, description in {
        400: "The body is not JSON.",
        401: "A key is needed.",
        408: "The body came too slowly.",
        413: "The body is too large.",
        415: "The body is not said to be JSON, or is compressed.",
        422: "A field is not as expected; `param` names it.",
        503: "Too much is at work, or the time limit has passed; `Retry-After` says when to come back.",
    }.items()
}
_KEY_PROBLEM: dict[int | str, dict[str, Any]] = {401: _PROBLEMS[401]}

_logger = logging.getLogger("urewrite.serve")


def load_rewriter(settings: ServeSettings) -> Rewriter:
    """The rewriter with every model loaded and run once, so that the first request is as quick as any."""
    rewriter = Rewriter.from_pretrained(settings.model, threads=settings.cores())
    for language in _LANGUAGES:
        rewriter.config(language)
        history, utterance = _WARM_UP[language]
        rewriter.rewrite(history, utterance, lang=language)
    return rewriter


def create_app(settings: ServeSettings, rewriter: Rewriter | None = None) -> ASGIApp:
    """The whole application; without a rewriter it loads its own."""
    service = _Service.of(settings, load_rewriter(settings) if rewriter is None else rewriter)
    app: ASGIApp = _routes(service)
    app = BodyLimit(app, most_bytes=settings.max_body_bytes, most_seconds=settings.body_seconds)
    app = Admission(app, batcher=service.batcher, most=settings.max_concurrent_requests)
    keys = settings.keys()
    if keys:
        app = KeyGuard(app, keys=keys)
    if settings.cors_origins:
        app = CORSMiddleware(
            app,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "x-api-key", REQUEST_ID],
            expose_headers=["retry-after", REQUEST_ID],
        )
    return RequestLog(SecurityHeaders(app, shared=bool(settings.cors_origins)))


@dataclass(slots=True)
class _Service:
    """What the routes share."""

    settings: ServeSettings
    batcher: Batcher
    models: list[ModelAnswer]
    ready: bool = False

    @classmethod
    def of(cls, settings: ServeSettings, rewriter: Rewriter) -> _Service:
        batcher = Batcher(
            rewriter,
            max_batch_size=settings.max_batch_size,
            wait_seconds=settings.batch_wait_ms / 1000,
            max_waiting=settings.max_waiting_dialogues,
            time_limit=settings.request_seconds,
        )
        configs = {rewriter.config(language).name: rewriter.config(language) for language in _LANGUAGES}
        now = int(time.time())
        return cls(settings, batcher, [_described(config, now) for config in configs.values()])

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """From the first request to the last."""
        await self.batcher.start()
        self.ready = True
        yield
        self.ready = False
        if not await self.batcher.close():
            _logger.error("a batch that nobody waits for is still running; the process ends without it")
            logging.shutdown()
            os._exit(0)

    async def rewrite(self, request: Request, dialogues: Sequence[Dialogue], options: Options) -> list[Done]:
        """The rewrites of a request, or the problem why there are none."""
        facts = facts_of(request)
        facts.dialogues = len(dialogues)
        leaving = asyncio.ensure_future(request.receive())  # after the body, nothing else is received
        try:
            done = await self.batcher.rewrite(dialogues, options, leaving)
        except GoneError:
            raise Problem(GONE, "gone", "nobody waits for the answer any more") from None
        except TooManyWaitingError as error:
            metrics.note_rejected("queue")
            raise overloaded("too_many_waiting", "too many dialogues are waiting", error.retry_seconds) from None
        except asyncio.TimeoutError:
            metrics.note_rejected("time")
            message = f"there was no answer within {self.settings.request_seconds:g} seconds"
            raise overloaded("time_limit", message, self.batcher.retry_seconds) from None
        finally:
            leaving.cancel()
        if self.settings.log_text:
            for one in done:
                log_text(facts, one.rewrite.utterance, one.rewrite.text)
        return done


def _routes(service: _Service) -> FastAPI:
    app = FastAPI(
        title="urewrite",
        version=__version__,
        summary="Make follow-up utterances stand on their own, by editing them with words of their dialogue.",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=service.lifespan,
    )
    add_problem_handlers(app)
    _add_rewriting(app, service)
    _add_models(app, service)
    _add_health(app, service)
    add_page(app)
    return app


def _add_rewriting(app: FastAPI, service: _Service) -> None:
    settings = service.settings

    @app.post("/v1/rewrite", response_model=RewriteAnswer, responses=_PROBLEMS, tags=["rewriting"])
    async def rewrite(request: Request, body: RewriteRequest) -> Response:
        """Rewrite one utterance so that it stands on its own."""
        dialogue = _dialogue(body, settings)
        done = await service.rewrite(request, [dialogue], body.options())

        def answer() -> dict[str, object]:
            return {**rewritten(done[0].rewrite), "timing": timing(done, facts_of(request).seconds)}

        return await _json(answer, large=body.return_grid)

    @app.post("/v1/rewrite/batch", response_model=BatchAnswer, responses=_PROBLEMS, tags=["rewriting"])
    async def rewrite_batch(request: Request, body: BatchRequest) -> Response:
        """Rewrite many; other requests take turns with it."""
        count = len(body.dialogues)
        if count > settings.max_batch_items:
            reason = f"a request may have {settings.max_batch_items:,} dialogues, found {count:,}"
            raise BadInputError(reason, field="dialogues")
        if body.return_grid and count > MOST_GRIDS:
            raise BadInputError(f"grids are given for at most {MOST_GRIDS} dialogues", field="return_grid")
        dialogues = [
            _dialogue(given, settings, prefix=f"dialogues[{position}].")
            for position, given in enumerate(body.dialogues)
        ]
        done = await service.rewrite(request, dialogues, body.options())

        def answer() -> dict[str, object]:
            results = [rewritten(one.rewrite) for one in done]
            return {"results": results, "timing": timing(done, facts_of(request).seconds)}

        return await _json(answer, large=True)

    @app.post("/v1/chat/completions", response_model=ChatAnswer, responses={**_PROBLEMS, **_STREAMED}, tags=["OpenAI"])
    async def chat_completions(request: Request, body: ChatRequest) -> Response:
        """Answer a "condense question" prompt as a language model would; with `stream`, as server-sent events."""
        dialogue, prompt = read_chat([message.as_chat() for message in body.messages])
        metrics.note_prompt(prompt)
        check_dialogue(dialogue, settings, turns="messages", numbered=prompt == "plain")
        (done,) = await service.rewrite(request, [dialogue], body.options())
        model = done.rewrite.model or service.models[0].id
        if body.stream:
            content = events(done.rewrite, model, usage=body.wants_usage)
            return Response(content, media_type="text/event-stream")
        return Response(completion(done.rewrite, model), media_type="application/json")


def _add_models(app: FastAPI, service: _Service) -> None:
    @app.get("/v1/models", responses=_KEY_PROBLEM, tags=["models"])
    async def models() -> ModelsAnswer:
        """The models that are served, in OpenAI's shape."""
        return ModelsAnswer(data=service.models)

    @app.get("/v1/models/{name}", responses={**_KEY_PROBLEM, 404: {"model": ProblemAnswer}}, tags=["models"])
    async def model(name: str) -> ModelAnswer:
        """One of them."""
        for one in service.models:
            if one.id == name:
                return one
        raise Problem(404, "model_not_found", "there is no such model; /v1/models lists those there are", field="model")


def _add_health(app: FastAPI, service: _Service) -> None:
    @app.get("/health/live", tags=["health"])
    async def live() -> HealthAnswer:
        """The process answers."""
        return HealthAnswer()

    @app.get("/health/ready", responses={503: {"model": ProblemAnswer}}, tags=["health"])
    async def ready() -> HealthAnswer:
        """The models are loaded and compute."""
        if not service.ready or service.batcher.is_stuck:
            raise overloaded("not_ready", "the models do not answer", 1)
        return HealthAnswer()

    @app.get("/metrics", response_class=Response, responses=_KEY_PROBLEM, tags=["health"])
    async def exposition() -> Response:
        """Counts of all workers together, for Prometheus."""
        return Response(await asyncio.to_thread(metrics.exposition), media_type=metrics.CONTENT_TYPE)


async def _json(answer: Callable[[], dict[str, object]], *, large: bool) -> Response:
    """Written where it holds up nobody: what is large, in a thread."""
    content = await asyncio.to_thread(lambda: to_json(answer())) if large else to_json(answer())
    return Response(content, media_type="application/json")


def _dialogue(given: DialogueGiven, settings: ServeSettings, *, prefix: str = "") -> Dialogue:
    """As the library takes it, within the limits; `prefix` goes before the field of what is wrong."""
    try:
        dialogue = given.dialogue()
        check_dialogue(dialogue, settings, turns="history" if given.messages is None else "messages")
    except BadInputError as error:
        raise BadInputError(error.reason, field=f"{prefix}{error.field}") from None
    return dialogue


def _described(config: ModelConfig, created: int) -> ModelAnswer:
    return ModelAnswer.model_validate(
        {
            "id": config.name,
            "created": created,
            "languages": list(config.languages),
            "thresholds": asdict(config.thresholds),
            "calibrated": bool(config.calibration),
            "connection_words": asdict(config.connection_words),
        }
    )
