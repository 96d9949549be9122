"""What every rewrite promises, as checks: for tests, and for those who want to watch them in production."""

from __future__ import annotations

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
    markers = [mark for mark in (SEPARATOR, END) if mark in rewrite.text and not any(mark in text for text in given)]
    return found + [f"{mark} is in the text" for mark in markers]


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
