"""The `urewrite` command: gathers the commands and turns every failure into one line and an exit code.

Exit codes: 0 done; 1 unexpected failure; 2 wrong usage; 3 bad input; 4 data unavailable; 5 training data overlaps a
test part; 130 interrupted.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from urewrite import __version__
from urewrite.cli import (
    batch,
    bench,
    ceiling,
    data,
    demo,
    edits,
    evaluate,
    export,
    finetune,
    rewrite,
    serve,
    train,
)
from urewrite.errors import UrewriteError

app = typer.Typer(
    name="urewrite",
    help="Make follow-up utterances stand on their own, by editing them with words of their dialogue.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


data.app.command()(ceiling.ceiling)
data.app.command()(ceiling.connections)
app.command()(rewrite.rewrite)
app.command()(batch.batch)
app.command()(demo.demo)
app.command()(bench.bench)
app.command(add_help_option=False, context_settings=serve.TAKES_ALL)(serve.serve)
app.add_typer(data.app)
app.command()(edits.edits)
app.command()(evaluate.evaluate)
app.command()(train.train)
app.command()(finetune.finetune)
app.command()(export.export)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"urewrite {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Make follow-up utterances stand on their own, by editing them with words of their dialogue."""


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):  # what is printed must not depend on the locale
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        app()
    except UrewriteError as error:
        sys.stderr.write(f"urewrite: error: {error}\n")
        sys.exit(error.exit_code)
