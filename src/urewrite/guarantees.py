"""What every rewrite promises, as checks: for tests, and for those who want to watch them in production."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from urewrite.dialogue import Dialogue
from urewrite.edits.apply import apply_edits
from urewrite.edits.grid import END, SEPARATOR, ConnectionWords
from urewrite.rewrite import Edit, Origin, Piece, Rewrite


def violations(dialogue: Dialogue, rewrite: Rewrite, words: ConnectionWords) -> list[str]:
    """The promises a rewrite of a dialogue breaks, in words; none, if all is well."""
    found: list[str] = []
    if rewrite.utterance != dialogue.utterance:
        found.append("the utterance it tells of is not the given one")
    if not rewrite.edits and rewrite.text != dialogue.utterance:
        found.append("there is no edit, but the text is not the utterance")
    if apply_edits(dialogue, rewrite.edits).text != rewrite.text:
        found.append("its edits give another text")
    if not rewrite.text.strip():
        found.append("the text is empty")
    stray = [edit.text for edit in rewrite.edits if not _there(edit, dialogue, words)]
    found += [f"an edit copies {text!r}, which is not there" for text in stray]
    position = 0
    for piece in rewrite.pieces:
        if piece.start != position or not _traced(piece, rewrite.text, dialogue, words):
            found.append(f"characters {piece.start} to {piece.end} are not what they are said to be")
        position = piece.end
    if position != len(rewrite.text):
        found.append("the pieces do not cover the text")
    given = (dialogue.utterance, *(turn.text for turn in dialogue.history))
    written = [rewrite.text[piece.start : piece.end] for piece in rewrite.pieces]  # "[" and "S]" may well meet
    for mark in (SEPARATOR, END):
        if any(mark in text for text in written) and not any(mark in text for text in given):
            found.append(f"{mark} is in the text")
    return found


@contextmanager
def failures_logged() -> Iterator[list[str]]:
    """What the log of `urewrite` tells at warning or above while the block runs, a line each, whatever its level is.

    A failure inside may leave no trace in the results, since a batch that fails is done again one by one.
    """
    logger = logging.getLogger("urewrite")
    kept = _Kept(logging.WARNING)
    level, disabled = logger.level, logger.disabled
    logger.addHandler(kept)
    logger.disabled = False
    if logger.getEffectiveLevel() > logging.WARNING:
        logger.setLevel(logging.WARNING)
    try:
        yield kept.lines
    finally:
        logger.removeHandler(kept)
        logger.disabled = disabled
        logger.setLevel(level)


class _Kept(logging.Handler):
    """Keeps each record as its message and the error that came with it."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.lines.append(record.getMessage() + ("" if error is None else f": {type(error).__name__}: {error}"))


def _there(edit: Edit, dialogue: Dialogue, words: ConnectionWords) -> bool:
    if edit.source_turn is None:
        return edit.text in (*words.leading, *words.trailing)
    return dialogue.history[edit.source_turn].text[edit.source_start : edit.source_end] == edit.text


def _traced(piece: Piece, text: str, dialogue: Dialogue, words: ConnectionWords) -> bool:
    said = text[piece.start : piece.end]
    source = slice(piece.source_start, piece.source_end)
    if piece.origin is Origin.UTTERANCE:
        return dialogue.utterance[source] == said
    if piece.origin is Origin.HISTORY:
        return piece.source_turn is not None and dialogue.history[piece.source_turn].text[source] == said
    if piece.origin is Origin.CONNECTION:
        return any(word[source] == said for word in (*words.leading, *words.trailing))
    return said == " "
