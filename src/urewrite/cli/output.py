"""What every command shares: one JSON document on stdout, people's tables on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from urewrite.files import atomic_writer, naming_disk_errors

if TYPE_CHECKING:
    from urewrite.rewrite import Rewrite

_PIPED_WIDTH = 160  # where no terminal says how wide it is

JsonFlag = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document on stdout.")]
PictureOption = Annotated[
    Path | None, typer.Option("--svg", metavar="FILE", help="Also write the grid to a file, as an SVG picture.")
]


def print_json(document: object) -> None:
    """Write the document and nothing else to stdout."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    # Half a surrogate pair, which UTF-8 cannot carry, is written as JSON's own escape.
    sys.stdout.write("".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text) + "\n")


def print_bytes(content: bytes) -> None:
    """Write to stdout what is no text, or text that must come out just as it came in; at once, for who waits for it."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def write_picture(result: Rewrite, file: Path | None) -> None:
    """Draw a result, if a file was named for it."""
    if file is not None:
        with naming_disk_errors(file), atomic_writer(file) as stream:
            stream.write(result.to_svg())


def shows_colour() -> bool:
    """Whether stdout is a terminal with colours, and nobody asked for none (NO_COLOR)."""
    from rich.console import Console

    console = Console()
    return console.is_terminal and console.color_system is not None and not console.no_color


def say(message: str) -> None:
    """A line for the person watching, kept off stdout."""
    sys.stderr.write(message + "\n")


def counted(amount: int, what: str) -> str:
    """A number with its noun: 1 bad line, 2 bad lines."""
    return f"{amount:,} {what}" if amount == 1 else f"{amount:,} {what}s"


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table for people; the first column is left-aligned, the others right-aligned."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for position, name in enumerate(header):
        table.add_column(name, justify="left" if position == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # as it is: no markup
    Console(width=None if sys.stdout.isatty() else _PIPED_WIDTH).print(table)


@contextmanager
def progress(description: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr (only when someone is watching); yields what advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(description, total=total)
        yield lambda amount: bar.advance(task, amount)
