"""`urewrite edits`: how an utterance becomes its rewrite, edit by edit, with the grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from urewrite.cli.output import JsonFlag, PictureOption, print_json, write_picture
from urewrite.decide import gold
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.grid import ConnectionWords
from urewrite.edits.supervise import Supervision, supervise
from urewrite.explain import edit_lines, grid_lines, marked
from urewrite.rewrite import Rewrite

if TYPE_CHECKING:  # rich is slow to load, so only what prints loads it
    from rich.text import Text


def edits(
    utterance: Annotated[
        str, typer.Argument(metavar="UTTERANCE", help="The utterance that only makes sense in its dialogue.")
    ],
    rewrite: Annotated[str, typer.Argument(metavar="REWRITE", help="The same said so that it stands on its own.")],
    history: Annotated[
        list[str] | None, typer.Option("--history", "-H", metavar="TEXT", help="A turn before it; repeat in order.")
    ] = None,
    leading: Annotated[
        list[str] | None, typer.Option("--leading", metavar="WORD", help="Connection word before copied text.")
    ] = None,
    trailing: Annotated[
        list[str] | None, typer.Option("--trailing", metavar="WORD", help="Connection word after copied text.")
    ] = None,
    picture: PictureOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Show the edits that turn an utterance into its rewrite: what is copied from where, and the gold grid.

    Example: urewrite edits -H "How is the weather in Beijing?" "And in Paris?" "How is the weather in Paris?"
    """
    example = Example(Dialogue.of(history or [], utterance), rewrite)
    supervision = supervise(example, ConnectionWords(tuple(leading or ()), tuple(trailing or ())))
    result = gold(supervision)
    write_picture(result, picture)
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
    console.print(Text("rewrite  ") + marked(result))
    if not supervision.exact:
        console.print("(as close as words of the dialogue come)")
    for line in (*edit_lines(result), *_gold_grid(supervision)):
        console.print(line)


def _gold_grid(supervision: Supervision) -> Iterator[Text]:
    from rich.text import Text

    marks = (Text("·", style="dim"), Text("S", style="bold magenta"), Text("I", style="bold green"))
    axes, grid = supervision.axes, supervision.grid
    return grid_lines(
        axes.row_keys, axes.column_keys, grid.astype(float), lambda row, column: marks[int(grid[row, column])]
    )
