"""Answers for grids that a test tells, where it needs more than the toy model has learnt: made by the real decoding."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from playwright.sync_api import BrowserContext, Route
from pydantic_core import to_json

from urewrite.bundle import ModelConfig
from urewrite.decide import Wish, decide
from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Thresholds
from urewrite.edits.grid import Axes, ConnectionWords, EditType, lay_out
from urewrite.pipeline import Judged
from urewrite.serve.schemas import RewriteRequest, rewritten
from urewrite.tokens import Tokens

CONNECTION_WORDS = ConnectionWords(("of", "in"), ("'s",))
THRESHOLDS = Thresholds(0.5, 0.6, 0.6)


@dataclass(frozen=True)
class Find:
    """Words of a turn (from 0; None: the connection words) that are likely to be copied to words of the utterance."""

    op: Literal["substitute", "insert"]
    words: str
    turn: int | None
    place: str
    """Empty: the end."""
    likely: float


@dataclass(frozen=True)
class Told:
    """A model that finds what it is told, if the dialogue holds the words for it."""

    finds: tuple[Find, ...] = ()
    thresholds: Thresholds = THRESHOLDS

    @property
    def config(self) -> ModelConfig:
        return ModelConfig("told", CONNECTION_WORDS, 300, {}, thresholds=self.thresholds, languages=("en", "zh"))

    def judged(self, dialogue: Dialogue) -> Judged:
        axes = lay_out(dialogue, CONNECTION_WORDS)
        likely = np.zeros((len(EditType), *axes.shape), dtype=np.float32)
        for find in self.finds:
            likely[EditType[find.op.upper()], _rows(axes, find), _columns(axes, find)] = find.likely
        likely[EditType.NONE] = 1 - likely.sum(axis=0)
        return Judged(axes, likely)

    def answer(self, body: RewriteRequest) -> dict[str, object]:
        """As /v1/rewrite gives it."""
        wish = Wish(body.mode, body.threshold, keep_grid=body.return_grid)
        times = {"total_ms": 3.0, "waited_ms": 1.0, "computed_ms": 2.0}
        return {**rewritten(decide(self.config, self.judged(body.dialogue()), wish)), "timing": times}

    def answer_in_place_of_the_server(self, context: BrowserContext) -> None:
        model = {"id": "told", "languages": self.config.languages, "thresholds": asdict(self.thresholds)}

        def rewrite(route: Route) -> None:
            body = RewriteRequest.model_validate_json(route.request.post_data)
            route.fulfill(body=to_json(self.answer(body)), content_type="application/json")

        context.route("**/v1/models", lambda route: route.fulfill(json={"data": [model]}))
        context.route("**/v1/rewrite", rewrite)


def _rows(axes: Axes, find: Find) -> slice:
    source = next(source for source in axes.sources if source.turn == find.turn and find.words in source.tokens.text)
    found = _within(source.tokens, find.words)
    return slice(source.first_row + found.start, source.first_row + found.stop)


def _columns(axes: Axes, find: Find) -> slice:
    return _within(axes.utterance, find.place) if find.place else slice(axes.shape[1] - 1, axes.shape[1])


def _within(tokens: Tokens, words: str) -> slice:
    first, start = next(
        (number, start)
        for number, start in enumerate(tokens.starts)
        if tokens.text.startswith(words, start) and start + len(words) in tokens.ends
    )
    return slice(first, tokens.ends.index(start + len(words)) + 1)
