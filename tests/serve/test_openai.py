"""The real `openai` client, pointed here by an address alone."""

from __future__ import annotations

import openai
import pytest

from serve.server import PATIENCE
from serve.test_condense import HUMAN, LANGCHAIN, LLAMA_PLUS, RAGFLOW, SMALL, said

TURNS = [("user", "well now , do you know Oslo ?"), ("assistant", "Sure .")]
QUESTION = "where is it now ?"
ANSWER = "where is Oslo now ?"
MESSAGES = [{"role": role, "content": text} for role, text in (*TURNS, ("user", QUESTION))]


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.address}/v1", api_key="none", timeout=PATIENCE, max_retries=0) as client:
        yield client


def test_plain_messages(client):
    completion = client.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES, temperature=0, max_tokens=99)
    (choice,) = completion.choices
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", ANSWER, "stop")
    assert completion.model == "toy"
    assert completion.model_extra["urewrite"]["reason"] == "rewritten"


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": LANGCHAIN.format(chat_history=said(TURNS, HUMAN), question=QUESTION)}],
        [{"role": "user", "content": LLAMA_PLUS.format(chat_history=said(TURNS, SMALL), question=QUESTION)}],
        [
            {
                "role": "system",
                "content": RAGFLOW.format(
                    conversation=said([*TURNS, ("user", QUESTION)], {"user": "USER", "assistant": "ASSISTANT"})
                ),
            },
            {"role": "user", "content": "Output: "},
        ],
    ],
    ids=["langchain", "llama_index", "ragflow"],
)
def test_prompts_of_frameworks(client, server, request, messages):
    name = request.node.callspec.id
    before = server.metric(f'urewrite_chat_prompts_total{{prompt="{name}"}}')
    assert client.chat.completions.create(model="any", messages=messages).choices[0].message.content == ANSWER
    assert server.metric(f'urewrite_chat_prompts_total{{prompt="{name}"}}') == before + 1


def test_a_stream(client):
    stream = client.chat.completions.create(
        model="any", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == ANSWER
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage.total_tokens == 0
    assert len({chunk.id for chunk in chunks}) == 1


def test_the_end_of_a_stream(server):
    answer = server.post("/v1/chat/completions", {"model": "x", "messages": MESSAGES, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("data: [DONE]\n\n")


def test_wishes_of_our_own(client):
    completion = client.chat.completions.create(model="any", messages=MESSAGES, extra_body={"mode": "never"})
    assert completion.choices[0].message.content == QUESTION


def test_models(client):
    assert [model.id for model in client.models.list()] == ["toy"]
    assert client.models.retrieve("toy").owned_by == "urewrite"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4o")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user"}]}, "messages"),
        ({"messages": MESSAGES, "n": 2}, "n"),
        ({"messages": MESSAGES, "threshold": 2}, "threshold"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
    ],
)
def test_what_is_wrong_is_named(client, body, field):
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        client.post("/chat/completions", body={"model": "any", **body}, cast_to=object)
    assert caught.value.body["param"] == field


def test_with_asyncio(server):
    import asyncio

    async def ask():
        async with openai.AsyncOpenAI(base_url=f"{server.address}/v1", api_key="none", timeout=PATIENCE) as client:
            stream = await client.chat.completions.create(model="any", messages=MESSAGES, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(ask()) == ANSWER
