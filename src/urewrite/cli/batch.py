"""`urewrite batch`: every dialogue of a file."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from urewrite.cli.output import JsonFlag, counted, print_json, say
from urewrite.cli.rewriting import (
    LanguageChoice,
    LanguageOption,
    ModeChoice,
    ModelOption,
    ModeOption,
    ProtectOption,
    ThreadsOption,
    ThresholdOption,
    load_rewriter,
    say_language_note,
)
from urewrite.errors import BadInputError, DataUnavailableError, UrewriteError
from urewrite.files import is_stream, naming_disk_errors
from urewrite.pipeline import BATCH_SIZE

if TYPE_CHECKING:
    from rich.progress import TaskID

    from urewrite.batch import Batch, Follow, Tally
    from urewrite.chunks import LineSource

_STANDARD_STREAM = "-"
_PATIENCE = 2.0
"""Seconds a job may take before a progress bar shows up."""


def batch(
    source_name: Annotated[
        str, typer.Argument(metavar="IN", help="JSON lines with history and utterance, or messages; '-' is stdin.")
    ],
    target_name: Annotated[str, typer.Argument(metavar="OUT", help="File to write (.gz is packed); '-' is stdout.")],
    model: ModelOption = "auto",
    language: LanguageOption = LanguageChoice.auto,
    threshold: ThresholdOption = None,
    mode: ModeOption = ModeChoice.auto,
    protect: ProtectOption = None,
    details: Annotated[
        bool, typer.Option("--details", help="Write the whole result (edits, confidence, reason) under 'details'.")
    ] = False,
    key: Annotated[str, typer.Option(metavar="NAME", help="The key the rewritten text goes under.")] = "rewrite",
    rejects_file: Annotated[
        Path | None,
        typer.Option("--rejects", metavar="FILE", help="Where bad lines are listed (default: OUT.rejects.jsonl)."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 3 if there were bad lines, 1 if dialogues failed.")
    ] = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, whatever an earlier attempt has left.")
    ] = False,
    batch_size: Annotated[int, typer.Option(min=1, help="Dialogues computed together.")] = BATCH_SIZE,
    threads: ThreadsOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Rewrite every dialogue of a file of JSON lines; other keys are passed on as they are.

    The output appears when it is complete, in a folder that is there. The same command again goes on with a job that
    was interrupted.

    Example: urewrite batch dialogues.jsonl rewritten.jsonl
    """
    to_stdout = target_name == _STANDARD_STREAM
    if to_stdout and as_json:
        raise typer.BadParameter("--json prints one document on stdout, so the dialogues cannot go there as well")
    if details and key == "details":
        raise typer.BadParameter("'details' is what --details writes: name another --key")
    from urewrite.batch import Batch, BatchSettings, refuse_same_files
    from urewrite.chunks import LineSource

    source = LineSource(None if source_name == _STANDARD_STREAM else Path(source_name))
    target = None if to_stdout else Path(target_name)
    streamed = target is None or is_stream(target)
    if rejects_file is None and not streamed:
        rejects_file = Path(f"{target_name}.rejects.jsonl")
    refuse_same_files(source.path, target, rejects_file)
    for file in (None if streamed else target, rejects_file):
        _refuse_missing_folder(file)
    settings = BatchSettings(details, key, batch_size, threshold, mode.mode, tuple(protect or ()), language.language)
    rewriter = load_rewriter(model, threads=threads, languages=[language.language])
    say_language_note(rewriter, language)
    with _Watch(source.size) as follow:
        job = Batch(rewriter, settings, follow)
        if streamed:
            tally = _to_stream(job, source, target, rejects_file)
        else:
            assert target is not None
            assert rejects_file is not None
            tally = _to_files(job, source, target, rejects_file, restart)
    _report(tally, rejects_file, key)
    if as_json:
        print_json(
            {
                "out": target_name,
                "n": tally.written,
                "changed": tally.changed,
                "failed": tally.failed,
                "rejected": tally.rejected,
                "rejects": None if rejects_file is None else str(rejects_file),
            }
        )
    if strict and tally.rejected:
        raise BadInputError(counted(tally.rejected, "bad line"), file=source.name)
    if strict and tally.failed:
        raise UrewriteError(f"{counted(tally.failed, 'dialogue')} failed inside")


def _refuse_missing_folder(file: Path | None) -> None:
    """A folder that is not there is more likely a slip than a wish; said before hours of work go into it."""
    if file is not None and not (folder := Path(os.path.realpath(file)).parent).is_dir():  # where a link leads
        raise DataUnavailableError(f"cannot write {file}: there is no folder {folder}")


def _to_files(job: Batch, source: LineSource, target: Path, rejects: Path, restart: bool) -> Tally:
    def began(tally: Tally) -> None:
        if tally.lines:
            say(f"{target}: goes on after line {tally.lines:,}")

    try:
        with naming_disk_errors(target):
            return job.to_files(source, target, rejects, restart=restart, began=began)
    except KeyboardInterrupt:
        say(f"interrupted: the same command goes on from what is in {target}.part")
        raise


def _to_stream(job: Batch, source: LineSource, target: Path | None, rejects: Path | None) -> Tally:
    from urewrite.batch import StreamSink

    with ExitStack() as stack:
        if target is not None:
            stack.enter_context(naming_disk_errors(target))
        output = sys.stdout.buffer if target is None else stack.enter_context(target.open("ab"))
        if rejects is None:
            return job.to_stream(source, StreamSink(output))
        with naming_disk_errors(rejects):
            listed = stack.enter_context(rejects.open("wb"))
        return job.to_stream(source, StreamSink(output, listed, rejects))


def _report(tally: Tally, rejects: Path | None, key: str) -> None:
    say(f"{counted(tally.written, 'dialogue')}, {tally.changed:,} of them rewritten")
    if tally.replaced:
        say(f"{tally.replaced:,} had a key {key!r} (or 'details') before, which is replaced; --key names another")
    if tally.failed:
        say(f"{tally.failed:,} failed inside and are passed on unchanged; the log above says why")
    if tally.rejected:
        where = "above" if rejects is None else f"in {rejects}"
        say(f"not in the output but listed {where}: {counted(tally.rejected, 'bad line')}")


class _Watch:
    """A progress bar on stderr, where someone is watching and the job takes seconds."""

    def __init__(self, size: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        left = [TimeRemainingColumn()] if size else []
        self._bar = Progress(TextColumn("{task.description}"), BarColumn(), *left, console=console, transient=True)
        self._shown = console.is_terminal
        self._size = size
        self._task: TaskID | None = None
        self._begun = time.monotonic()
        self._dialogues = 0
        self._read = 0.0

    def __enter__(self) -> Follow:
        return self._follow

    def __exit__(self, *ended: object) -> None:
        if self._task is not None:
            self._bar.stop()

    def _follow(self, dialogues: int, read: float) -> None:
        self._dialogues += dialogues
        self._read += read
        passed = time.monotonic() - self._begun
        if not self._shown or passed < _PATIENCE:
            return
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._size, completed=int(self._read))
        rate = self._dialogues / passed
        said = f"{self._dialogues:,} dialogues, {rate:,.0f} a second"
        self._bar.update(self._task, description=said, completed=self._read)
