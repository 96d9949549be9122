"""The `urewrite` command: gathers the commands and turns every failure into one line and an exit code.

Exit codes: 0 done; 1 unexpected failure; 2 wrong usage; 3 bad input; 4 data unavailable, or not to be written;
5 training data overlaps a test part; 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from urewrite import __version__
from urewrite.cli.usage import Command, tell_in_a_line
from urewrite.errors import DataUnavailableError, UrewriteError

COMMANDS = ("rewrite", "batch", "demo", "bench", "serve", "data", "edits", "evaluate", "train", "finetune", "export")
"""Each is a module of this folder, in the order of the help."""

_HELP = """Make follow-up utterances stand on their own, by editing them with words of their dialogue.

\b
Example: urewrite rewrite -H "Who wrote Dune?" -H "Frank Herbert wrote Dune." "When was he born?"
"""


def build_app(commands: Sequence[str] = COMMANDS) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="urewrite",
        help=_HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(root)
    for name in commands:
        module = import_module(f"urewrite.cli.{name}")
        if name == "data":
            app.add_typer(module.app)
        elif name == "serve":
            app.command(add_help_option=False, context_settings=module.TAKES_ALL)(module.serve)
        else:
            app.command(cls=Command)(getattr(module, name))
    return app


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"urewrite {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """What is asked of the program and not of a command."""


def main() -> None:
    """Entry point of the console script; loads the one command that is asked for, or all to tell of them."""
    _open_closed_streams()
    tell_in_a_line()
    for stream in (sys.stdout, sys.stderr):  # what is printed must not depend on the locale
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    asked = [name for name in sys.argv[1:2] if name in COMMANDS]
    try:
        try:
            build_app(asked or COMMANDS)(prog_name="urewrite")
        finally:
            sys.stdout.flush()  # while a failure can still be told in a line
    except UrewriteError as error:
        _say_error(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        _drop_output()
        if error.errno == errno.EPIPE:  # whoever read the output has had enough of it
            sys.exit(1)
        where = error.filename or "input or output"
        _say_error(f"{where}: {error.strerror or error}")
        sys.exit(DataUnavailableError.exit_code)
    except SystemExit as done:
        if asked == ["rewrite"] and not done.code:
            _leave_at_once()
        raise


def _say_error(text: str) -> None:
    """In one line, whatever the names of files and models in it hold."""
    from urewrite.explain import printable

    sys.stderr.write(f"urewrite: error: {printable(' '.join(text.splitlines()))}\n")


def _open_closed_streams() -> None:
    """A stream that the caller closed (`>&-`) is None to Python: then nothing is read from it, or it is not shown."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - open to the end


def _drop_output() -> None:
    """What could not be written is not tried again when Python ends, which would print a second error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave_at_once() -> None:
    """Do not take the process apart, which takes longer than a rewrite does: nothing is open but what is flushed."""
    with suppress(OSError, ValueError):  # then it ends in the usual way, which says so
        sys.stderr.flush()
        os._exit(0)
