"""What comes in: turns, a dialogue whose last utterance is to be rewritten, and an example with its gold rewrite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from urewrite.errors import BadInputError

SILENT_ROLES = frozenset({"system", "developer", "tool", "function"})
"""Roles whose turns instruct or compute. All others speak, whatever a chat calls them: user, assistant, Alice, 客服."""

_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
"""What the parts of a message that are text are called, by one or another API."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of the history, as it was written."""

    text: str
    role: str | None = None


_LEFT_OUT = Turn("")

HistoryItem = str | Turn | tuple[str, str] | Mapping[str, object]
"""A turn as callers have it: text, a `Turn`, a (role, text) pair or a chat message."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A history and the utterance that follows it; `skipped` says which given turns were left out, and why.

    What is left out stays in its place as a turn without text, so that turns have the numbers the caller knows them by.
    """

    history: tuple[Turn, ...]
    utterance: str
    skipped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.utterance.strip():
            raise BadInputError("the utterance is empty", field="utterance")

    @classmethod
    def of(cls, history: Sequence[HistoryItem], utterance: str) -> Dialogue:
        """Build from a history of strings, (role, text) pairs or chat messages."""
        refuse_no_list(history, "turns", field="history", ordered=True)
        if not isinstance(utterance, str):
            raise BadInputError(f"expected text, found {type(utterance).__name__}", field="utterance")
        turns: list[Turn] = []
        skipped: list[str] = []
        for position, item in enumerate(history):
            turns.append(_turn(item, f"history[{position}]", skipped) or _LEFT_OUT)
        return cls(tuple(turns), utterance, tuple(skipped))

    @classmethod
    def from_messages(cls, messages: Sequence[Mapping[str, object]]) -> Dialogue:
        """Build from chat messages; the last one that speaks is the utterance."""
        refuse_no_list(messages, "messages", field="messages", ordered=True)
        turns: list[Turn] = []
        skipped: list[str] = []
        for position, message in enumerate(messages):
            turns.append(_turn(message, f"messages[{position}]", skipped) or _LEFT_OUT)
        while turns and (turns[-1] is _LEFT_OUT or _is_to_come(turns[-1])):
            turns.pop()
        if not turns:
            raise BadInputError("no message holds text of anybody who speaks", field="messages")
        return cls(tuple(turns[:-1]), turns[-1].text, tuple(skipped))

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Dialogue:
        """Build from a JSON object with `messages`, or with `history` and `utterance`."""
        if "messages" in record:
            if "history" in record or "utterance" in record:
                raise BadInputError("give either 'messages' or 'history' and 'utterance', not both", field="messages")
            messages = record["messages"]
            if not isinstance(messages, list):
                raise BadInputError(f"expected a list, found {type(messages).__name__}", field="messages")
            return cls.from_messages(messages)
        for key in ("history", "utterance"):
            if key not in record:
                raise BadInputError("the key is missing: give 'history' and 'utterance', or 'messages'", field=key)
        history, utterance = record["history"], record["utterance"]
        if not isinstance(history, list):
            raise BadInputError(f"expected a list, found {type(history).__name__}", field="history")
        if not isinstance(utterance, str):
            raise BadInputError(f"expected text, found {type(utterance).__name__}", field="utterance")
        return cls.of(history, utterance)


@dataclass(frozen=True, slots=True)
class Example:
    """A dialogue with the rewrite a person gave it. `dialogue_id` groups examples cut from one conversation."""

    dialogue: Dialogue
    rewrite: str
    dialogue_id: str = ""

    def __post_init__(self) -> None:
        if not self.rewrite.strip():
            raise BadInputError("the rewrite is empty", field="rewrite")

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> Example:
        """Build from a JSON object: a dialogue with the key `rewrite` (and `dialogue_id`, if known)."""
        rewrite = record.get("rewrite")
        if rewrite is None:
            raise BadInputError("the key is missing", field="rewrite")
        if not isinstance(rewrite, str):
            raise BadInputError(f"expected text, found {type(rewrite).__name__}", field="rewrite")
        dialogue_id = record.get("dialogue_id")
        if dialogue_id is not None and (not isinstance(dialogue_id, (str, int)) or isinstance(dialogue_id, bool)):
            raise BadInputError(f"expected text or a number, found {dialogue_id!r:.40}", field="dialogue_id")
        return cls(Dialogue.from_record(record), rewrite, "" if dialogue_id is None else str(dialogue_id))

    def to_record(self) -> dict[str, object]:
        """The native JSON form, read back by `from_record`."""
        history: list[object] = [
            turn.text if turn.role is None else {"role": turn.role, "content": turn.text}
            for turn in self.dialogue.history
        ]
        record: dict[str, object] = {
            "history": history,
            "utterance": self.dialogue.utterance,
            "rewrite": self.rewrite,
        }
        if self.dialogue_id:
            record["dialogue_id"] = self.dialogue_id
        return record


def refuse_no_list(value: object, of_what: str, *, field: str, ordered: bool = False) -> None:
    """Refuse what cannot be a list of things, also what Python would go through although it is something else."""
    if isinstance(value, str):
        found = "one string"
    elif isinstance(value, (Mapping, bytes, bytearray)) or not isinstance(value, Iterable):
        found = type(value).__name__
    elif ordered and isinstance(value, Set):
        found = f"a {type(value).__name__}, which has no order"
    else:
        return
    raise BadInputError(f"expected a list of {of_what}, found {found}", field=field)


def _is_to_come(turn: Turn) -> bool:
    """Whether a turn is the empty answer that some programs already hold when they ask for it."""
    return turn.role is not None and turn.role.lower() == "assistant" and not turn.text.strip()


def speaks(role: str) -> bool:
    """Whether turns of a role are part of the conversation."""
    return role.lower() not in SILENT_ROLES


def _turn(item: object, field: str, skipped: list[str]) -> Turn | None:
    """Read one turn; a turn that is not conversation is noted in `skipped` and left out."""
    if isinstance(item, Turn):
        return item
    if isinstance(item, str):
        return Turn(item)
    if isinstance(item, Mapping):
        role, content = item.get("role"), item.get("content")
        if not isinstance(role, str):
            raise BadInputError("a chat message needs the keys 'role' and 'content'", field=field)
    elif isinstance(item, (tuple, list)) and len(item) == 2:
        role, content = item
        if not isinstance(role, str):
            raise BadInputError("expected a (role, text) pair", field=field)
    else:
        raise BadInputError(f"expected text, a (role, text) pair or a chat message, found {item!r:.80}", field=field)
    if not speaks(role):
        skipped.append(f"{field}: role {role!r} does not speak in the conversation")
        return None
    text = _text_of(content, field, skipped)
    return None if text is None else Turn(text, role)


def _text_of(content: object, field: str, skipped: list[str]) -> str | None:
    """The text of a message's content; parts that are not text (images, calls) are noted and left out."""
    if isinstance(content, str):
        return content
    parts = [content] if isinstance(content, Mapping) else content
    if isinstance(parts, (list, tuple)):
        texts: list[str] = []
        for part in parts:
            text = part.get("text") if isinstance(part, Mapping) and part.get("type", "text") in _TEXT_PARTS else part
            if isinstance(text, str):
                texts.append(text)
            else:
                skipped.append(f"{field}: a part of the content is not text")
        if texts:
            return " ".join(texts)
    skipped.append(f"{field}: no text in the content")
    return None
