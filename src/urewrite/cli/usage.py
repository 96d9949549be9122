"""How commands show what they take, and how a call that is wrong is told."""

from __future__ import annotations

import sys
from typing import IO, Any

import typer
from typer.core import TyperCommand


class Command(TyperCommand):
    """A command whose usage line reads as that of other tools, and whose example can be copied as one line."""

    def __init__(self, name: str | None, **settings: Any) -> None:  # noqa: ANN401 - typer's own
        super().__init__(name, **settings)
        if self.help is not None:
            self.help = self.help.replace("\n\nExample:", "\n\n\b\nExample:")  # \b: click is not to wrap this

    def collect_usage_pieces(self, ctx: object) -> list[str]:  # noqa: ARG002 - click's own
        """`[OPTIONS] NEEDED [OTHER] [MORE]...`."""
        pieces = ["[OPTIONS]"]
        for one in self.params:
            if one.param_type_name == "argument":
                name = one.metavar or str(one.name).upper()
                pieces.append((name if one.required else f"[{name}]") + ("" if one.nargs == 1 else "..."))
        return pieces


def tell_in_a_line() -> None:
    """From now on a wrong call is told in one line, as every other error is, and not below the usage.

    By the error itself, so that it also holds for a command that reads its options with an app of its own.
    """
    usage_error = typer.BadParameter.__mro__[1]  # its base, in click or in typer's own copy of it
    usage_error.show = _show  # type: ignore[attr-defined]


def _show(error: typer.BadParameter, file: IO[str] | None = None) -> None:
    """Of any usage error, although only some have a parameter."""
    command = "urewrite" if error.ctx is None else error.ctx.command_path
    (file or sys.stderr).write(f"urewrite: error: {_told(error)} (see {command} --help)\n")


def _told(error: typer.BadParameter) -> str:
    """The message in the form of ours, whatever stood in the arguments."""
    from urewrite.explain import printable  # loads numpy

    error.message = error.message.removeprefix("Value error, ")  # of the library that reads values
    ours = getattr(error, "param", error) is None  # raised by a command, and no invalid value, as click would call it
    text = printable(" ".join((error.message if ours else error.format_message()).split())).removesuffix(".")
    return text[:1].lower() + text[1:]
