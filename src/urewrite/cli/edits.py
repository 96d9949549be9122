"""`urewrite edits`: how an utterance becomes its rewrite, edit by edit, with the grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from urewrite.cli.output import JsonFlag, print_json, printable
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.apply import decode
from urewrite.edits.grid import ConnectionWords
from urewrite.edits.supervise import Supervision, supervise
from urewrite.rewrite import Rewrite

if TYPE_CHECKING:  # rich is slow to load, so only what prints loads it
    from rich.text import Text

_ROWS_SHOWN = 40


def edits(
    utterance: Annotated[str, typer.Argument(help="The utterance that only makes sense in its dialogue.")],
    rewrite: Annotated[str, typer.Argument(help="The same said so that it stands on its own.")],
    history: Annotated[
        list[str] | None, typer.Option("--history", "-H", metavar="TEXT", help="A turn before it; repeat in order.")
    ] = None,
    leading: Annotated[
        list[str] | None, typer.Option("--leading", metavar="WORD", help="Connection word before copied text.")
    ] = None,
    trailing: Annotated[
        list[str] | None, typer.Option("--trailing", metavar="WORD", help="Connection word after copied text.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show the edits that turn an utterance into its rewrite: what is copied from where, and the gold grid.

    Example: urewrite edits -H "How is the weather in Beijing?" "And in Paris?" "How is the weather in Paris?"
    """
    example = Example(Dialogue.of(history or [], utterance), rewrite)
    supervision = supervise(example, ConnectionWords(tuple(leading or ()), tuple(trailing or ())))
    result = decode(supervision.axes, supervision.grid)
    if as_json:
        print_json(
            {
                "utterance": utterance,
                "rewrite": result.text,
                "exact": supervision.exact,
                "edits": [asdict(edit) for edit in result.edits],
                "pieces": [asdict(piece) for piece in result.pieces],
                "rows": supervision.axes.row_keys,
                "columns": supervision.axes.column_keys,
                "grid": supervision.grid.tolist(),
            }
        )
    else:
        _show(supervision, result)


def _show(supervision: Supervision, result: Rewrite) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False)
    console.print(Text("rewrite  ") + _coloured(result))
    if not supervision.exact:
        console.print("(as close as words of the dialogue come)")
    for edit in result.edits:
        source = "connection word" if edit.source_turn is None else f"turn {edit.source_turn + 1}"
        where = f"[{edit.source_start}:{edit.source_end}]" if edit.source_turn is not None else ""
        removed = result.utterance[edit.start : edit.end]
        verb = f"{removed!r} gives way to" if edit.op == "substitute" else f"at {edit.start} comes in"
        console.print(Text(f"{edit.op:<11}{verb} {edit.text!r} from {source}{where}"))
    for line in _grid_lines(supervision):
        console.print(line)


def _grid_lines(supervision: Supervision) -> Iterator[Text]:
    """The grid with its words; a long context is cut down to the edited rows and their neighbours."""
    from rich.cells import cell_len
    from rich.text import Text

    columns = [printable(key) for key in supervision.axes.column_keys]
    rows = [printable(key) for key in supervision.axes.row_keys]
    edited = np.flatnonzero(supervision.grid.max(axis=1)).tolist()
    near = {row + away for row in edited for away in range(-2, 3)}
    margin = max((cell_len(key) for key in rows), default=0)
    marks = (Text("·", style="dim"), Text("S", style="bold magenta"), Text("I", style="bold green"))
    yield Text(" " * margin + "  " + "  ".join(columns))
    skipped = False
    for row, (key, cells) in enumerate(zip(rows, supervision.grid.tolist(), strict=True)):
        if len(rows) > _ROWS_SHOWN and row not in near:
            if not skipped:
                yield Text("...", style="dim")
            skipped = True
            continue
        skipped = False
        line = Text(key + " " * (margin - cell_len(key)))
        for name, cell in zip(columns, cells, strict=True):
            line.append("  ")
            line.append_text(marks[cell])
            line.append(" " * (cell_len(name) - 1))
        yield line


def _coloured(result: Rewrite) -> Text:
    from rich.text import Text

    styles = {"utterance": "", "history": "bold green", "connection": "bold yellow", "separator": ""}
    text = Text()
    for piece in result.pieces:
        text.append(printable(result.text[piece.start : piece.end]), style=styles[piece.origin.value])
    return text
