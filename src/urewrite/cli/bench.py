"""`urewrite bench`: how fast a model is on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from urewrite.cli.output import JsonFlag, print_json, print_table
from urewrite.cli.rewriting import LanguageChoice, LanguageOption, ModelOption, ThreadsOption
from urewrite.corpora.lines import parse_json_line, parse_lines, read_lines
from urewrite.dialogue import Dialogue
from urewrite.pipeline import BATCH_SIZE

if TYPE_CHECKING:
    from urewrite.bench import Speed


def bench(
    model: ModelOption = "auto",
    source: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE", help="Dialogues as JSON lines, in place of the built-in samples."),
    ] = None,
    language: LanguageOption = LanguageChoice.auto,
    threads: ThreadsOption = None,
    repeat: Annotated[int, typer.Option(min=1, help="How often each dialogue is rewritten.")] = 20,
    batch_size: Annotated[int, typer.Option(min=1, help="Dialogues computed together.")] = BATCH_SIZE,
    as_json: JsonFlag = False,
) -> None:
    """Measure a model on this machine: time to load, latency of one dialogue, throughput of many.

    Example: urewrite bench --model en --threads 1
    """
    from urewrite.bench import measure

    dialogues = None
    if source is not None:
        dialogues = parse_lines(
            source, read_lines(source), lambda line, _: Dialogue.from_record(parse_json_line(line)), None
        )
    speed = measure(model, dialogues, lang=language.language, threads=threads, repeat=repeat, batch_size=batch_size)
    if as_json:
        print_json(asdict(speed))
    else:
        print_table(f"{speed.model} on {speed.machine}", ["", ""], _rows(speed))


def _rows(speed: Speed) -> list[list[str]]:
    return [
        ["dialogues", f"{speed.dialogues:,} x {speed.repeat:,}"],
        ["threads", f"{speed.threads or 'all'} of {speed.cores}"],
        ["time to load", f"{speed.load_seconds:.2f} s"],
        ["latency, median", f"{speed.latency_p50_ms:.1f} ms"],
        ["latency, 95th percentile", f"{speed.latency_p95_ms:.1f} ms"],
        ["latency, mean", f"{speed.latency_mean_ms:.1f} ms"],
        [f"throughput, batches of {speed.batch_size}", f"{speed.throughput:.0f} dialogues a second"],
    ]
