"""`urewrite data`: list, fetch, measure and export the corpora, and see what training parts share with CANARD test."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.ceiling import ceiling, connections
from urewrite.cli.options import (
    ContextChoice,
    ContextOption,
    MirrorOption,
    Names,
    Part,
    RejectsOption,
    SkipBadFlag,
    chosen_names,
    collecting,
    known_names,
)
from urewrite.cli.output import JsonFlag, print_json, print_table, progress, say
from urewrite.cli.usage import Command
from urewrite.corpora.catalogue import available_parts, in_context, load_corpus
from urewrite.corpora.jsonl import read_jsonl, write_jsonl
from urewrite.corpora.lines import Rejects
from urewrite.corpora.overlap import assert_no_overlap, find_overlap
from urewrite.corpora.sources import CORPORA, SOURCES, find
from urewrite.corpora.stats import PAPER, Lengths, measure_corpus
from urewrite.corpora.training import TrainingPart, take_out_overlap
from urewrite.dialogue import Example
from urewrite.errors import BadInputError, DataUnavailableError, OverlapError
from urewrite.files import atomic_writer, is_stream, naming_disk_errors

app = typer.Typer(
    name="data",
    help="List, fetch, measure and export the corpora.\n\nExample: urewrite data stats rewrite canard",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

STANDARD_OUTPUT = "-"


@app.command("list", cls=Command)
def list_files(mirror: MirrorOption = None, as_json: JsonFlag = False) -> None:
    """List the corpora: files, size, checksum, licence, and where each file was found.

    Example: urewrite data list --json
    """
    documents: list[dict[str, object]] = []
    rows: list[list[str]] = []
    for corpus in SOURCES:
        files: list[dict[str, object]] = []
        for file in corpus.files:
            found = find(file.path, mirror)
            place, path = ("absent", None) if found is None else (found[0], str(found[1]))
            files.append(
                {
                    "path": file.path,
                    "url": file.url,
                    "sha256": file.sha256,
                    "bytes": file.size,
                    "found": place,
                    "found_at": path,
                }
            )
            size = "" if file.size is None else f"{file.size:,}"
            rows.append([file.path, size, (file.sha256 or "")[:8], corpus.licence, place])
        documents.append(
            {
                "corpus": corpus.name,
                "language": corpus.language,
                "description": corpus.description,
                "licence": corpus.licence,
                "citation": corpus.citation,
                "files": files,
            }
        )
    if as_json:
        print_json(documents)
    else:
        print_table("Corpora", ["file", "bytes", "sha256", "licence", "found"], rows)


@app.command("fetch", cls=Command)
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="rewrite, multi, task, canard or qrecc.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every corpus.")] = False,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Fetch URL/<path in a mirror folder> instead of the public addresses."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Fetch files that are there already, too.")] = False,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fetch corpora into the cache, verified; a download that was broken off goes on where it stopped.

    Example: urewrite data fetch rewrite task
    """
    if bool(names) == everything:
        raise typer.BadParameter("give the names of corpora, or --all")
    from urewrite.corpora.fetch import Fetcher  # slow to load

    fetcher = Fetcher(progress=progress, notify=say, mirror=mirror, base_url=base_url, force=force)
    results = fetcher.fetch(list(CORPORA) if everything else known_names(names or []))
    if as_json:
        print_json([asdict(result) for result in results])
    else:
        print_table("Files", ["file", "status"], [[result.path, result.status] for result in results])
    failures = [result for result in results if result.status == "failed"]
    if failures:
        reasons = "; ".join(dict.fromkeys(result.reason for result in failures))
        raise DataUnavailableError(f"{len(failures)} of {len(results)} files could not be fetched: {reasons}")


@app.command("stats", cls=Command)
def stats(
    names: Names = None,
    context: ContextOption = ContextChoice.full,
    skip_bad: SkipBadFlag = False,
    rejects_file: RejectsOption = None,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Print sizes and average lengths of every part beside the paper's table.

    Example: urewrite data stats rewrite canard
    """
    documents: list[dict[str, object]] = []
    rows: list[list[str]] = []
    with collecting(skip_bad, rejects_file) as rejects:
        for name in chosen_names(names):
            measured = measure_corpus(name, mirror=mirror, rejects=rejects, context=context.context, notify=say)
            for part, statistics in measured:
                documents.append({"corpus": name, "part": part, **statistics.to_record()})
                characters = "/".join(_lengths(statistics.characters))
                rows.append([f"{name} {part}", f"{statistics.examples:,}", *_lengths(statistics.tokens), characters])
            if name in PAPER:
                paper = PAPER[name]
                documents.append(
                    {"corpus": name, "part": "paper", "n": list(paper.sizes), "tokens": paper.lengths.to_record()}
                )
                rows.append([f"{name} paper", "/".join(paper.sizes), *_lengths(paper.lengths), ""])
    if as_json:
        print_json(documents)
    else:
        header = ["part", "examples", "context", "utterance", "rewrite", "characters"]
        print_table("Average lengths in tokens", header, rows)


@app.command("export", cls=Command)
def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="rewrite, multi, task, canard or qrecc.")],
    part: Annotated[Part, typer.Argument(metavar="PART", help="train, validation or test.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="File to write (.gz is packed); '-' is stdout.")],
    remove: Annotated[
        bool, typer.Option("--without-overlap", help="Leave out the dialogues that CANARD test holds too.")
    ] = False,
    context: ContextOption = ContextChoice.full,
    skip_bad: SkipBadFlag = False,
    rejects_file: Annotated[
        Path | None,
        typer.Option(
            "--rejects", metavar="FILE", help="Where --skip-bad lists the bad lines (default: OUT.rejects.jsonl)."
        ),
    ] = None,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a part of a corpus in the native format: one JSON object a line.

    Example: urewrite data export task test task.jsonl
    """
    to_stdout = out == STANDARD_OUTPUT
    if to_stdout and as_json:
        raise typer.BadParameter("--json prints one document on stdout, so the examples cannot go there as well")
    if remove and part is Part.test:
        raise typer.BadParameter("--without-overlap is for parts to train on, not for a test part")
    if skip_bad and rejects_file is None and not to_stdout and not is_stream(Path(out)):
        rejects_file = Path(f"{out}.rejects.jsonl")
    with collecting(skip_bad, rejects_file, apart_from=[] if to_stdout else [Path(out)]) as rejects:
        examples = load_corpus(name, part.value, mirror=mirror, rejects=rejects)
        checked = None if part is Part.test else _checked(name, examples, mirror, rejects, required=remove)
    if checked is not None and remove:
        examples = checked.examples
    if not examples:
        raise OverlapError(f"{name} {part.value}: every dialogue is one of CANARD test, so no example is left")
    examples = in_context(examples, context.context)
    if to_stdout:
        write_jsonl(examples, sys.stdout)
    else:
        with naming_disk_errors(Path(out)), atomic_writer(Path(out)) as stream:
            write_jsonl(examples, stream)
    overlapping = None if checked is None else len(checked.removed)
    if overlapping:
        remedy = "left out" if remove else "--without-overlap leaves them out"
        say(f"{overlapping} examples of {name} {part.value} share dialogues with CANARD test: {remedy}")
    if as_json:
        print_json(
            {
                "corpus": name,
                "part": part.value,
                "n": len(examples),
                "rejected": 0 if rejects is None else len(rejects),
                "overlapping": overlapping,
                "removed": (overlapping or 0) if remove else 0,
                "out": out,
                "rejects": None if rejects_file is None else str(rejects_file),
            }
        )
    else:
        say(f"{len(examples)} examples written")


@app.command("overlap", cls=Command)
def overlap(
    names: Names = None,
    own_file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Refuse (exit code 5) a .jsonl file of examples that overlaps."),
    ] = None,
    skip_bad: SkipBadFlag = False,
    rejects_file: RejectsOption = None,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Count, for every part, the dialogues and examples that overlap with CANARD test; or check a file of your own.

    Example: urewrite data overlap qrecc
    """
    if own_file is not None and names:
        raise typer.BadParameter("name corpora or give --from, not both", param_hint="--from")
    documents: list[dict[str, object]] = []
    with collecting(skip_bad, rejects_file, apart_from=[] if own_file is None else [own_file]) as rejects:
        test = load_corpus("canard", "test", mirror=mirror, rejects=rejects)
        if own_file is not None:
            examples = read_jsonl(own_file, rejects=rejects)
            _refuse_overlap(own_file, examples, test)
            documents.append({"corpus": str(own_file), "part": None, **_counts(examples, test)})
        else:
            for name in chosen_names(names):
                for part, examples in available_parts(name, mirror=mirror, rejects=rejects, notify=say):
                    if (name, part) != ("canard", "test"):
                        documents.append({"corpus": name, "part": part, **_counts(examples, test)})
    if as_json:
        print_json(documents)
    else:
        rows = [
            [" ".join(str(name) for name in (corpus, part) if name), *(f"{count:,}" for count in counts)]
            for corpus, part, *counts in (document.values() for document in documents)
        ]
        header = ["part", "examples", "overlap", "dialogues", "by id", "by rewrite", "by questions", "same rewrites"]
        print_table("Overlap with CANARD test", header, rows)


def _checked(
    name: str, examples: list[Example], mirror: Path | None, rejects: Rejects | None, *, required: bool
) -> TrainingPart | None:
    """The examples parted by their overlap with CANARD test; None where that could not be looked for."""
    try:
        found = take_out_overlap(name, examples, mirror=mirror, rejects=rejects)
    except (BadInputError, DataUnavailableError) as error:
        if required:
            raise
        say(f"{name} was not compared with CANARD test: {error}")
        return None
    if required and not found.checked:
        say(f"{name} was not compared with CANARD test: it is Chinese, or CANARD test is not on this machine")
    return found if found.checked else None


def _refuse_overlap(file: Path, examples: list[Example], test: list[Example]) -> None:
    try:
        assert_no_overlap(examples, test)
    except OverlapError as error:
        raise OverlapError(f"{file}: {error}") from None


def _counts(examples: list[Example], test: list[Example]) -> dict[str, int]:
    found = find_overlap(examples, test)
    return {
        "n": len(examples),
        "overlapping_examples": found.examples,
        "overlapping_dialogues": len(found.dialogues),
        "dialogues_by_id": len(found.by_id),
        "dialogues_by_rewrite": len(found.by_rewrite),
        "dialogues_by_questions": len(found.by_questions),
        "shared_rewrites": found.shared_rewrites,
    }


def _lengths(lengths: Lengths) -> list[str]:
    return [f"{value:.1f}" for value in (lengths.context, lengths.utterance, lengths.rewrite)]


app.command(cls=Command)(ceiling)
app.command(cls=Command)(connections)
