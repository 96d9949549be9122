"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.output import counted, say
from urewrite.corpora.catalogue import Context
from urewrite.corpora.lines import Rejects
from urewrite.corpora.sources import CORPORA, source_of
from urewrite.errors import BadInputError
from urewrite.files import naming_disk_errors, same_place


class Part(str, Enum):
    """The parts every named corpus has."""

    train = "train"
    validation = "validation"
    test = "test"


class ContextChoice(str, Enum):
    """How much of the history is kept."""

    full = "full"
    two_turn = "two-turn"

    @property
    def context(self) -> Context:
        """As the library calls it."""
        return "full" if self is ContextChoice.full else "two-turn"


MirrorOption = Annotated[
    Path | None,
    typer.Option(
        "--mirror", metavar="DIR", help="Folder with the corpora, read before UREWRITE_DATA's and before the cache."
    ),
]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="NAME", help="rewrite, multi, task, canard or qrecc; none means all.")
]
NamesOrFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        help="rewrite, multi, task, canard, qrecc, or a .jsonl file of examples; none means all corpora.",
    ),
]
ContextOption = Annotated[
    ContextChoice, typer.Option("--context", help="The whole history, or only its last two turns.")
]
SkipBadFlag = Annotated[
    bool, typer.Option("--skip-bad", help="Leave bad lines out and list them in a file instead of stopping.")
]
RejectsOption = Annotated[
    Path | None, typer.Option("--rejects", metavar="FILE", help="Where --skip-bad lists the bad lines, as JSON lines.")
]


def known_names(names: Sequence[str]) -> list[str]:
    """The names of corpora in the given order, each once and each known."""
    return [source_of(name).name for name in dict.fromkeys(names)]


def chosen_names(names: Sequence[str] | None) -> list[str]:
    """The corpora that were named, or all."""
    return known_names(names) if names else list(CORPORA)


@contextmanager
def collecting(skip_bad: bool, file: Path | None, *, apart_from: Sequence[Path] = ()) -> Iterator[Rejects | None]:
    """What collects bad lines (None: they are errors). The file is written, even with nothing in it, however this ends.

    It must be another than the files the command reads or writes, `apart_from`.
    """
    if not skip_bad:
        if file is not None:
            raise typer.BadParameter("--rejects lists what --skip-bad leaves out: give both")
        yield None
        return
    if file is None:
        raise typer.BadParameter("name the file for bad lines with --rejects")
    for other in apart_from:
        if same_place(file, other):
            raise BadInputError("the bad lines cannot go into this file: it is used already", file=file)
    rejects = Rejects()
    try:
        yield rejects
    finally:
        with naming_disk_errors(file):
            rejects.write(file)
    if len(rejects):
        say(f"{counted(len(rejects), 'bad line')} left out, listed in {file}")
