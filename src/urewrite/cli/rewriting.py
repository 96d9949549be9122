"""What the commands that rewrite share: which model, and what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from urewrite.cli.output import say

if TYPE_CHECKING:  # loads the runtime of the models, which only a command that rewrites needs
    from urewrite.language import Language
    from urewrite.rewriter import Rewriter


class LanguageChoice(str, Enum):
    """The languages there are models for; `auto` looks at the script of each dialogue."""

    auto = "auto"
    en = "en"
    zh = "zh"

    @property
    def language(self) -> Language | None:
        """As the library calls it."""
        if self is LanguageChoice.auto:
            return None
        return "en" if self is LanguageChoice.en else "zh"


class ModeChoice(str, Enum):
    """When edits are made: if they are sure enough, whenever some are found, not at all."""

    auto = "auto"
    always = "always"
    never = "never"

    @property
    def mode(self) -> Literal["auto", "always", "never"]:
        """As the library calls it."""
        if self is ModeChoice.auto:
            return "auto"
        return "always" if self is ModeChoice.always else "never"


class Asked(TypedDict):
    """What is asked of every call; `**` of `Rewriter.rewrite` and `Rewriter.rewrite_batch`."""

    threshold: float | None
    mode: Literal["auto", "always", "never"]
    protect: Sequence[str]
    lang: Language | None


ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME|DIR",
        help="auto, auto-fast, en, en-fast, zh, zh-fast, a model folder, or owner/name on the hub.",
    ),
]
LanguageOption = Annotated[
    LanguageChoice,
    typer.Option(
        "--lang",
        help="Language of the dialogue, by which --model auto and auto-fast choose (default: by its script).",
    ),
]
ThresholdOption = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Least score a region of the grid needs to become an edit (default: as tuned)."),
]
ModeOption = Annotated[
    ModeChoice,
    typer.Option(
        help="'always' makes every edit found, whatever its score, even in greetings; 'never' gives the utterance back."
    ),
]
ProtectOption = Annotated[
    list[str] | None, typer.Option("--protect", metavar="WORD", help="A word that is never edited away; repeatable.")
]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="Cores to use (default: all).")]


def asked(threshold: float | None, mode: ModeChoice, protect: Sequence[str] | None, language: LanguageChoice) -> Asked:
    """The options of a command as the library takes them."""
    return {"threshold": threshold, "mode": mode.mode, "protect": list(protect or ()), "lang": language.language}


def load_rewriter(model: str, *, threads: int | None, languages: Sequence[Language | None]) -> Rewriter:
    """The rewriter, with the models of these languages loaded (None stands for any).

    Now and not at the first dialogue, so that a damaged model is said before anything is written.
    """
    from urewrite.rewriter import Rewriter

    rewriter = Rewriter.from_pretrained(model, threads=threads)
    wanted: tuple[Language, ...] = ("en", "zh")
    for language in wanted:
        if language in languages or None in languages:
            rewriter.config(language)
    return rewriter


def say_language_note(rewriter: Rewriter, language: LanguageChoice) -> None:
    """Once what every result would be told of the language, for a command that does not show their notes."""
    from urewrite.rewriter import language_note

    note = language_note(rewriter.config(language.language), language.language)
    if note is not None:
        say(f"note: {note}")
