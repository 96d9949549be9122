"""The dialogue inside a "condense question" prompt: what frameworks send to a language model, read back.

The prompts are those of LangChain (`CONDENSE_QUESTION_PROMPT`, the hub's `chat-langchain-rephrase`, the search query
prompt of its retrieval chains), LlamaIndex (`CondenseQuestionChatEngine`, `CondensePlusContextChatEngine`) and RAGFlow
(`full_question`, both forms). Only their own words are looked for, in their own order, with plain searches whose time
grows with the text and no more.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from urewrite.dialogue import Dialogue, Turn, speaks

Prompt = Literal["plain", "langchain", "llama_index", "ragflow"]

_ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "chatbot": "assistant",
    "model": "assistant",
}
_SPEAKER = re.compile(
    r"^ {0,2}(Human|AI|Assistant|System|Tool|Function|user|assistant|system|developer|tool|function|chatbot|model"
    r"|USER|ASSISTANT|User): ?",
    re.MULTILINE,
)
"""A line that begins a turn. A turn that itself has such a line is cut there: the prompts have no way to tell."""
_PYTHON_MESSAGE = re.compile(
    r"\b(Human|AI|System|Tool|Function)Message(?:Chunk)?\(content=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")", re.DOTALL
)
"""A message as Python prints it: the hub's prompt is filled with a list of messages."""


@dataclass(frozen=True, slots=True)
class _Template:
    """What a prompt begins with, and what stands before and after its two holes."""

    prompt: Prompt
    heads: tuple[str, ...]
    before_history: str
    before_question: str
    end: str

    def read(self, text: str) -> Dialogue | None:
        """The dialogue of a text that is this prompt."""
        if not _begins(text, self.heads):
            return None
        text = text.rstrip()
        start = text.find(self.before_history)
        middle = text.rfind(self.before_question)
        if start < 0 or middle < start or text[-len(self.end) :].lower() != self.end:
            return None
        question = text[middle + len(self.before_question) : -len(self.end)].strip()
        return _dialogue(_turns(text[start + len(self.before_history) : middle]), question)


_TEMPLATES = (
    _Template(
        "langchain",
        ("Given the following conversation and a follow up question, rephrase the follow up question",),
        "Chat History:",
        "Follow Up Input:",
        "standalone question:",
    ),
    _Template(
        "llama_index",
        (
            "Given the following conversation between a user and an AI assistant and a follow up question from user, "
            "rephrase the follow up question",
        ),
        "Chat History:",
        "Follow Up Input:",
        "standalone question:",
    ),
    _Template(
        "llama_index",
        (
            "Given a conversation (between Human and Assistant) and a follow up message from Human, "
            "rewrite the message to be a standalone question",
        ),
        "<Chat History>",
        "<Follow Up Message>",
        "<standalone question>",
    ),
)
_SEARCH_QUERY = "Given the above conversation, generate a search query to look up"
"""LangChain's retrieval chains say it after the question, as a message of the user."""
_RAGFLOW_TASK = "Generate a full user question that would follow the conversation."
_RAGFLOW_DATA = re.compile(r"^#+ Real Data\s+(?:\*\*Conversation:\*\*|## Conversation)", re.MULTILINE)
_RAGFLOW_RULE = re.compile(r"\n#{6,}\s*$")


def read_chat(messages: Sequence[Mapping[str, object]]) -> tuple[Dialogue, Prompt]:
    """The dialogue of chat messages, and the prompt it was in; `plain` messages are a dialogue themselves."""
    for message in messages:
        found = _ragflow(_text(message))
        if found is not None:
            return found, "ragflow"
    speaking = [place for place, message in enumerate(messages) if speaks(str(message.get("role")))]
    if speaking:
        last = _text(messages[speaking[-1]])
        for template in _TEMPLATES:
            found = template.read(last)
            if found is not None:
                return found, template.prompt
        if len(speaking) > 1 and _begins(last, (_SEARCH_QUERY,)):
            return Dialogue.from_messages(messages[: speaking[-1]]), "langchain"
    return Dialogue.from_messages(messages), "plain"


def _ragflow(text: str) -> Dialogue | None:
    if _RAGFLOW_TASK not in text[:2000]:
        return None
    place = _RAGFLOW_DATA.search(text)
    if place is None:
        return None
    turns = _turns(_RAGFLOW_RULE.sub("", text[place.end() :].rstrip()))
    if not turns or turns[-1].role != "user":
        return None
    return _dialogue(turns[:-1], turns[-1].text)


def _turns(text: str) -> list[Turn]:
    """The turns of a history that is written as text."""
    if text.lstrip().startswith("["):
        printed = [(_literal(found[2]), _ROLES[found[1].lower()]) for found in _PYTHON_MESSAGE.finditer(text)]
        if printed:
            return [Turn(content, role) for content, role in printed if content is not None]
    beginnings = list(_SPEAKER.finditer(text))
    if not beginnings:  # said by somebody, though it does not say by whom
        return [Turn(text.strip(), "user")] if text.strip() else []
    ends = [found.start() for found in beginnings[1:]] + [len(text)]
    return [
        Turn(text[found.end() : end].strip(), _ROLES[found[1].lower()])
        for found, end in zip(beginnings, ends, strict=True)
    ]


def _literal(written: str) -> str | None:
    """The text of a Python string; None for what Python would not have printed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that mean nothing
            text = str(ast.literal_eval(written))
        text.encode()
    except (SyntaxError, ValueError):
        return None
    return text


def _dialogue(turns: Sequence[Turn], question: str) -> Dialogue | None:
    if not question:
        return None
    return Dialogue(tuple([turn for turn in turns if turn.role is None or speaks(turn.role)]), question)


def _begins(text: str, heads: Sequence[str]) -> bool:
    """Whether a text begins with one of the heads, however its lines are broken and indented."""
    return any(" ".join(text[: 2 * len(head)].split()).startswith(head) for head in heads)


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return " ".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
