"""What goes over the wire: requests that are checked, and answers as the documentation describes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from urewrite.dialogue import Dialogue, HistoryItem, Turn
from urewrite.errors import BadInputError
from urewrite.language import Language
from urewrite.rewrite import GridView, Reason, Rewrite
from urewrite.serve.batching import Done, Options

CHOICE = "as "
"""Begins the names of alternatives, which a place in a body does not show."""
MOST_PROTECTED = 100
MOST_GRIDS = 16
"""A grid is large; a batch of more dialogues is answered without."""
DIGITS = 4
"""Digits after the point of the probabilities of a grid."""


def _whole(text: str) -> str:
    """JSON can name half a surrogate pair, which is no text: no answer could hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("surrogate", "holds half a surrogate pair, which is no text") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
Threshold = Annotated[
    float | None,
    Field(
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Least score a region of the grid needs to become an edit; null is what the model was tuned to.",
    ),
]
Mode = Annotated[
    Literal["auto", "always", "never"],
    Field(description="`auto` edits if sure enough, `always` makes every edit found, `never` changes nothing."),
]
LanguageName = Annotated[
    Literal["auto", "en", "zh"], Field(description="Language of the dialogue; `auto` goes by its script.")
]
Protect = Annotated[
    list[Annotated[Text, Field(max_length=200)]],
    Field(max_length=MOST_PROTECTED, description="Words that are never edited away."),
]


class _Strict(BaseModel):
    """No type is guessed, no field is unknown."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ContentPart(BaseModel):
    """A part of a message's content; what is not text is left out, and `notes` says so."""

    model_config = ConfigDict(extra="allow", strict=True)

    type: Text = "text"
    text: Text | None = None


def _kind_of_content(value: object) -> str | None:
    if isinstance(value, str):
        return CHOICE + "text"
    return CHOICE + "parts" if isinstance(value, list) else None


Content = Annotated[
    Annotated[Text, Tag(CHOICE + "text")] | Annotated[list[ContentPart], Tag(CHOICE + "parts")],
    Discriminator(
        _kind_of_content, custom_error_type="content", custom_error_message="expected text or a list of parts"
    ),
]


class Message(BaseModel):
    """A chat message. System and tool messages do not speak and are left out, and `notes` says so."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Text = Field(max_length=64, examples=["user"])
    content: Content | None = Field(None, examples=["How is the weather in Beijing?"])

    def as_chat(self) -> dict[str, object]:
        """As the library takes it."""
        content: object = self.content
        if isinstance(self.content, list):
            content = [{"type": part.type, "text": part.text} for part in self.content]
        return {"role": self.role, "content": content}


def _kind_of_turn(value: object) -> str | None:
    if isinstance(value, str):
        return CHOICE + "text"
    return CHOICE + "message" if isinstance(value, (dict, Message)) else None


TurnGiven = Annotated[
    Annotated[Text, Tag(CHOICE + "text")] | Annotated[Message, Tag(CHOICE + "message")],
    Discriminator(_kind_of_turn, custom_error_type="turn", custom_error_message="expected text or a chat message"),
]


class DialogueGiven(_Strict):
    """A history and the utterance that follows it, or chat messages, the last of which is the utterance."""

    history: list[TurnGiven] | None = Field(None, description="The turns before the utterance, oldest first.")
    utterance: Text | None = Field(None, description="What is rewritten.")
    messages: list[Message] | None = Field(
        None, description="In place of both: chat messages, the last of which that speaks is rewritten."
    )

    def dialogue(self) -> Dialogue:
        """As the library takes it; what is missing or too much is named."""
        if self.messages is not None:
            if self.history is not None or self.utterance is not None:
                raise BadInputError("give either 'messages' or 'history' and 'utterance', not both", field="messages")
            return Dialogue.from_messages([message.as_chat() for message in self.messages])
        if self.utterance is None:
            raise BadInputError("is missing: give 'history' and 'utterance', or 'messages'", field="utterance")
        history: list[HistoryItem] = [
            Turn(turn) if isinstance(turn, str) else turn.as_chat() for turn in self.history or ()
        ]
        return Dialogue.of(history, self.utterance)


class Wishes(_Strict):
    """How to rewrite."""

    mode: Mode = "auto"
    threshold: Threshold = None
    lang: LanguageName = "auto"
    protect: Protect = []
    return_grid: bool = Field(False, description="Answer with the grid the model saw, and its probabilities.")

    def options(self) -> Options:
        """As the library takes them."""
        return Options(self.mode, self.threshold, tuple(self.protect), language(self.lang), self.return_grid)


def language(name: Literal["auto", "en", "zh"]) -> Language | None:
    """As the library calls it."""
    return None if name == "auto" else name


PAPER_EN: dict[str, Any] = {
    "history": ["How is the weather in Beijing?", "Beijing is always cloudy."],
    "utterance": "Why is that?",
}
PAPER_ZH: dict[str, Any] = {"history": ["北京今天天气如何", "北京今天是阴天"], "utterance": "为什么总是这样"}
AS_MESSAGES: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Who wrote Dune?"},
        {"role": "assistant", "content": "Frank Herbert wrote Dune."},
        {"role": "user", "content": "When was he born?"},
    ]
}


class RewriteRequest(DialogueGiven, Wishes):
    """One dialogue."""

    model_config = ConfigDict(json_schema_extra={"examples": [PAPER_EN, PAPER_ZH, AS_MESSAGES]})


class BatchRequest(Wishes):
    """Many dialogues, rewritten in one way."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"dialogues": [PAPER_EN, PAPER_ZH, AS_MESSAGES]}]})

    dialogues: list[DialogueGiven] = Field(min_length=1)


class EditAnswer(BaseModel):
    """A copied span put into the utterance: `utterance[start:end]` gives way to `before + text + after`.

    Offsets count characters (code points). `source_turn` is the place in the given `history` or `messages`, and `text`
    is `[source_start:source_end]` of it; null means a connection word. Edits of one place follow one another.
    """

    op: Literal["substitute", "insert"]
    start: int
    end: int
    text: str
    source_turn: int | None
    source_start: int
    source_end: int
    before: str
    after: str
    score: float


class PieceAnswer(BaseModel):
    """Characters `[start, end)` of the text and where they come from; pieces cover the text, in order."""

    start: int
    end: int
    origin: Literal["utterance", "history", "connection", "separator"]
    source_start: int | None
    source_end: int | None
    source_turn: int | None


class RegionAnswer(BaseModel):
    """A rectangle of the grid, rows `[top, bottom)` and columns `[left, right)`, and whether it became an edit."""

    op: Literal["substitute", "insert"]
    top: int
    bottom: int
    left: int
    right: int
    score: float
    made: bool


class GridAnswer(BaseModel):
    """What the model saw and thought."""

    rows: list[str] = Field(description="Words of the history, with connection words and separators.")
    columns: list[str] = Field(description="Words of the utterance, and its end.")
    row_turns: list[int | None] = Field(description="The turn of each row; null for connection words and separators.")
    substitute: list[list[float]] = Field(description="Probability of each cell, row by row.")
    insert: list[list[float]] = Field(description="Probability of each cell, row by row.")
    regions: list[RegionAnswer]


class TimingAnswer(BaseModel):
    """Milliseconds on the server. In a batch, those of its slowest dialogue."""

    total_ms: float = Field(description="From the first byte of the headers seen to the answer.")
    waited_ms: float = Field(description="In the queue.")
    computed_ms: float = Field(description="The run it was part of.")


class Rewritten(BaseModel):
    """A rewritten utterance."""

    text: str = Field(description="The utterance as it stands on its own.")
    utterance: str = Field(description="As it was given.")
    changed: bool
    reason: Reason = Field(description="Why the text is what it is; `error`: something failed, nothing was changed.")
    confidence: float | None = Field(
        description="Probability that the text is right; null if no model was asked, or one that cannot say."
    )
    edits: list[EditAnswer]
    pieces: list[PieceAnswer]
    turns_used: int | None = Field(description="How many turns, the latest ones, the model saw.")
    notes: list[str] = Field(description="What was left out, and why.")
    model: str | None = Field(description="The model that was asked; null if it failed.")
    grid: GridAnswer | None = Field(description="If it was asked for and the model was needed.")


class RewriteAnswer(Rewritten):
    """The rewrite of one dialogue."""

    timing: TimingAnswer


class BatchAnswer(BaseModel):
    """The rewrites of many, in their order."""

    results: list[Rewritten]
    timing: TimingAnswer


class ThresholdsAnswer(BaseModel):
    """What a model was tuned to; `region` is what `threshold` takes the place of."""

    cell: float
    region: float
    lone: float
    further: float
    joining: float


class ConnectionWordsAnswer(BaseModel):
    """Words a model may insert although the dialogue lacks them."""

    leading: list[str]
    trailing: list[str]


class ModelAnswer(BaseModel):
    """A model, in OpenAI's shape and with what it says of itself."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "urewrite"
    languages: list[str]
    thresholds: ThresholdsAnswer
    calibrated: bool = Field(description="Whether it says how sure it is.")
    connection_words: ConnectionWordsAnswer


class ModelsAnswer(BaseModel):
    """The models that are served."""

    object: Literal["list"] = "list"
    data: list[ModelAnswer]


class HealthAnswer(BaseModel):
    """How the server is."""

    status: Literal["ok"] = "ok"


def rewritten(result: Rewrite) -> dict[str, object]:
    """A `Rewritten`, ready to be written as JSON."""
    return {
        "text": result.text,
        "utterance": result.utterance,
        "changed": result.changed,
        "reason": result.reason,
        "confidence": result.confidence,
        "edits": result.edits,
        "pieces": result.pieces,
        "turns_used": result.turns_used,
        "notes": result.notes,
        "model": result.model,
        "grid": None if result.grid is None else _grid(result.grid),
    }


def timing(done: list[Done], total_seconds: float) -> dict[str, float]:
    """A `TimingAnswer`, ready to be written as JSON."""
    return {
        "total_ms": round(1000 * total_seconds, 3),
        "waited_ms": round(1000 * max(one.waited for one in done), 3),
        "computed_ms": round(1000 * max(one.computed for one in done), 3),
    }


def _grid(grid: GridView) -> dict[str, object]:
    _, substitute, insert = grid.probabilities.astype(float).round(DIGITS).tolist()
    return {
        "rows": grid.rows,
        "columns": grid.columns,
        "row_turns": grid.row_turns,
        "substitute": substitute,
        "insert": insert,
        "regions": [region._asdict() for region in grid.regions],
    }
