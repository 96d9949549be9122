"""`urewrite rewrite`: one utterance."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from urewrite.cli.output import JsonFlag, PictureOption, print_bytes, print_json, say, shows_colour, write_picture
from urewrite.cli.rewriting import (
    LanguageChoice,
    LanguageOption,
    ModeChoice,
    ModelOption,
    ModeOption,
    ProtectOption,
    ThreadsOption,
    ThresholdOption,
    asked,
    load_rewriter,
)
from urewrite.dialogue import Dialogue, Turn
from urewrite.errors import BadInputError
from urewrite.files import decode_line, split_lines

if TYPE_CHECKING:
    from urewrite.language import Language

_STANDARD_INPUT = "standard input"
_JSON_OBJECT = re.compile(rb'\s*\{\s*["}]')  # nobody begins a conversation like this
_JSON_MESSAGES = re.compile(rb'\s*\[\s*\{\s*["}]')


def rewrite(
    utterance: Annotated[
        str | None,
        typer.Argument(
            metavar="UTTERANCE", help="What to rewrite, after -- if it begins with -; without it stdin is read."
        ),
    ] = None,
    history: Annotated[
        list[str] | None, typer.Option("--history", "-H", metavar="TEXT", help="A turn before it; repeat in order.")
    ] = None,
    model: ModelOption = "auto",
    language: LanguageOption = LanguageChoice.auto,
    threshold: ThresholdOption = None,
    mode: ModeOption = ModeChoice.auto,
    protect: ProtectOption = None,
    threads: ThreadsOption = None,
    explained: Annotated[
        bool, typer.Option("--explain", help="Show the edits, where they come from, and the grid.")
    ] = False,
    picture: PictureOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Rewrite an utterance so that it stands on its own, with words of the turns before it.

    Without UTTERANCE stdin holds one JSON object, {"history": [...], "utterance": "..."} or {"messages": [...]}, the
    list of messages alone, or plain text, whose last line is the utterance and whose lines before are the history.

    Example: urewrite rewrite -H "Who wrote Dune?" -H "Frank Herbert wrote Dune." "When was he born?"
    """
    if explained and as_json:
        raise typer.BadParameter("give --explain or --json, not both")
    turns = [Turn(text) for text in history or ()]
    if utterance is not None:
        dialogue = Dialogue.of(turns, utterance)
    elif sys.stdin.isatty():
        raise typer.BadParameter("give an utterance, or a dialogue on stdin: urewrite rewrite < dialogue.txt")
    else:
        read = read_dialogue(sys.stdin.buffer.read())
        dialogue = replace(read, history=(*turns, *read.history))
    wish = asked(threshold, mode, protect, language)
    rewriter = load_rewriter(model, threads=threads, languages=[wish["lang"] or _language(dialogue)])
    (result,) = rewriter.rewrite_batch([dialogue], keep_grid=explained or picture is not None, **wish)
    write_picture(result, picture)
    if as_json:
        print_json(result.to_record())
    elif explained:
        sys.stdout.write(result.explain(colour=shows_colour()) + "\n")
    else:
        print_bytes(_encoded(result.text, as_argument=utterance is not None) + b"\n")
    for note in result.notes if not (as_json or explained) else ():
        say(f"note: {note}")
    if result.reason == "error":
        raise typer.Exit(1)


def read_dialogue(content: bytes) -> Dialogue:
    """The dialogue of JSON, an object or a list of messages, or of plain lines, which keep bytes that are not UTF-8."""
    lines = split_lines(content, _STANDARD_INPUT)
    while lines and not lines[-1].strip():
        lines.pop()
    text = b"\n".join(lines)
    try:
        if _JSON_MESSAGES.match(text):
            text = b'{"messages": ' + text + b"}"
        if _JSON_OBJECT.match(text):
            from urewrite.corpora.lines import parse_json_line  # brings all readers, which seldom are needed here

            return Dialogue.from_record(parse_json_line(decode_line(text)))
        if not text.strip():
            raise BadInputError("holds no utterance")
        turns = [line.decode("utf-8", "surrogateescape") for line in lines]
        return Dialogue.of(turns[:-1], turns[-1])
    except BadInputError as error:
        raise error.at(file=_STANDARD_INPUT) from None


def _language(dialogue: Dialogue) -> Language:
    from urewrite.language import language_of

    return language_of(dialogue)


def _encoded(text: str, *, as_argument: bool) -> bytes:
    """As the bytes that were given; half a surrogate pair, which only JSON can name, as JSON writes it."""
    try:
        return os.fsencode(text) if as_argument else text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # also a connection word that the locale of the arguments lacks
        return text.encode("utf-8", "backslashreplace")
