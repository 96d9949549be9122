"""Chat completions in OpenAI's shape, so that a framework's language model can be replaced by an address alone."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import to_json

from urewrite.rewrite import Rewrite
from urewrite.serve.batching import Options
from urewrite.serve.schemas import LanguageName, Message, Mode, Protect, Rewritten, Threshold, language, rewritten

_USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
"""No language model was asked, so no tokens were used."""

LANGCHAIN_PROMPT = (
    "Given the following conversation and a follow up question, rephrase the follow up question to be a standalone "
    "question, in its original language.\n\n"
    "Chat History:\nHuman: Who wrote Dune?\nAssistant: Frank Herbert wrote Dune.\n"
    "Follow Up Input: When was he born?\nStandalone question:"
)
_EXAMPLES: list[JsonValue] = [
    {
        "model": "urewrite",
        "messages": [
            {"role": "user", "content": "Who wrote Dune?"},
            {"role": "assistant", "content": "Frank Herbert wrote Dune."},
            {"role": "user", "content": "When was he born?"},
        ],
    },
    {"model": "urewrite", "messages": [{"role": "user", "content": LANGCHAIN_PROMPT}]},
]


class StreamOptions(BaseModel):
    """What comes at the end of a stream."""

    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """A chat completion: plain messages, or a prompt of LangChain, LlamaIndex or RAGFlow that asks to condense some.

    The fields of a language model (`temperature`, `max_tokens`, ...) are accepted and have no effect.
    """

    model_config = ConfigDict(extra="allow", strict=True, json_schema_extra={"examples": _EXAMPLES})

    messages: list[Message] = Field(min_length=1)
    model: str = Field("", max_length=256, description="Any name: the server's model answers.")
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = Field(None, description="There is one answer.")
    mode: Mode = "auto"
    threshold: Threshold = None
    lang: LanguageName = "auto"
    protect: Protect = []

    def options(self) -> Options:
        """As the library takes them."""
        return Options(self.mode, self.threshold, tuple(self.protect), language(self.lang))

    @property
    def wants_usage(self) -> bool:
        """Whether a stream ends with the usage."""
        return self.stream_options is not None and self.stream_options.include_usage is True


class UsageAnswer(BaseModel):
    """Always zero: no language model was asked."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class MessageAnswer(BaseModel):
    """The rewritten utterance."""

    role: Literal["assistant"]
    content: str


class ChoiceAnswer(BaseModel):
    """The only choice."""

    index: int
    message: MessageAnswer
    finish_reason: Literal["stop"]


class ChatAnswer(BaseModel):
    """A chat completion; `urewrite` holds what OpenAI's shape has no place for."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChoiceAnswer]
    usage: UsageAnswer
    urewrite: Rewritten


def completion(result: Rewrite, model: str) -> bytes:
    """The whole answer."""
    choice = {"index": 0, "message": {"role": "assistant", "content": result.text}, "finish_reason": "stop"}
    return to_json(
        {**_head("chat.completion", model), "choices": [choice], "usage": _USAGE, "urewrite": rewritten(result)}
    )


def events(result: Rewrite, model: str, *, usage: bool) -> bytes:
    """The same answer as a stream of events. It is short and there at once, so that it is sent at once."""
    return b"".join(b"data: " + part + b"\n\n" for part in (*_chunks(result, model, usage=usage), b"[DONE]"))


def _chunks(result: Rewrite, model: str, *, usage: bool) -> Iterator[bytes]:
    head = _head("chat.completion.chunk", model)
    steps: tuple[tuple[dict[str, str], str | None], ...] = (
        ({"role": "assistant", "content": ""}, None),
        ({"content": result.text}, None),
        ({}, "stop"),
    )
    for delta, finish in steps:
        yield to_json({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    if usage:
        yield to_json({**head, "choices": [], "usage": _USAGE})


def _head(kind: str, model: str) -> dict[str, object]:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": model}
