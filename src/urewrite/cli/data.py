"""`urewrite data`: list, fetch, measure and export the corpora, and see what training parts share with CANARD test."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.output import JsonFlag, print_json, print_table, progress, say
from urewrite.corpora.catalogue import available_parts, load_corpus
from urewrite.corpora.download import naming_disk_errors
from urewrite.corpora.fetch import Fetcher
from urewrite.corpora.jsonl import write_jsonl
from urewrite.corpora.lines import Rejects
from urewrite.corpora.overlap import find_overlap
from urewrite.corpora.sources import CORPORA, SOURCES, find, source_of
from urewrite.corpora.stats import PAPER, Lengths, measure_corpus
from urewrite.errors import DataUnavailableError
from urewrite.files import atomic_writer

app = typer.Typer(
    name="data",
    help="List, fetch, measure and export the corpora.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

STANDARD_OUTPUT = "-"

MirrorOption = Annotated[
    Path | None,
    typer.Option(
        "--mirror", metavar="DIR", help="Folder with the corpora, read before UREWRITE_DATA's and before the cache."
    ),
]
Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="rewrite, multi, task, canard or qrecc; none means all.")
]


@app.command("list")
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


@app.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="rewrite, multi, task, canard or qrecc.")
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
    fetcher = Fetcher(progress=progress, notify=say, mirror=mirror, base_url=base_url, force=force)
    results = fetcher.fetch(list(CORPORA) if everything else _unique(names or []))
    if as_json:
        print_json([asdict(result) for result in results])
    else:
        print_table("Files", ["file", "status"], [[result.path, result.status] for result in results])
    failures = [result for result in results if result.status == "failed"]
    if failures:
        reasons = "; ".join(dict.fromkeys(result.reason for result in failures))
        raise DataUnavailableError(f"{len(failures)} of {len(results)} files could not be fetched: {reasons}")


@app.command("stats")
def stats(names: Names = None, mirror: MirrorOption = None, as_json: JsonFlag = False) -> None:
    """Print sizes and average lengths of every part beside the paper's table.

    Example: urewrite data stats rewrite canard
    """
    documents: list[dict[str, object]] = []
    rows: list[list[str]] = []
    for name in _chosen(names):
        for part, statistics in measure_corpus(name, mirror=mirror, notify=say):
            documents.append({"corpus": name, "part": part, **statistics.to_record()})
            characters = "/".join(_lengths(statistics.characters, 1))
            rows.append([f"{name} {part}", f"{statistics.examples:,}", *_lengths(statistics.tokens, 1), characters])
        if name in PAPER:
            paper = PAPER[name]
            documents.append(
                {"corpus": name, "part": "paper", "n": list(paper.sizes), "tokens": paper.lengths.to_record()}
            )
            rows.append([f"{name} paper", "/".join(paper.sizes), *_lengths(paper.lengths, 1), ""])
    if as_json:
        print_json(documents)
    else:
        header = ["part", "examples", "context", "utterance", "rewrite", "characters"]
        print_table("Average lengths in tokens", header, rows)


@app.command("export")
def export(
    name: Annotated[str, typer.Argument(metavar="NAME", help="rewrite, multi, task, canard or qrecc.")],
    part: Annotated[str, typer.Argument(metavar="PART", help="train, validation or test.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="File to write (.gz is packed); '-' is stdout.")],
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out instead of stopping.")] = False,
    rejects_file: Annotated[
        Path | None,
        typer.Option("--rejects", metavar="FILE", help="Where bad lines are listed (OUT.rejects.jsonl)."),
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
    if rejects_file is not None and not skip_bad:
        raise typer.BadParameter("--rejects lists what --skip-bad leaves out: give both")
    if skip_bad and to_stdout and rejects_file is None:
        raise typer.BadParameter("name the file for bad lines with --rejects when the examples go to stdout")
    rejects = Rejects() if skip_bad else None
    examples = load_corpus(name, part, mirror=mirror, rejects=rejects)
    if to_stdout:
        write_jsonl(examples, sys.stdout)
    else:
        with naming_disk_errors(Path(out)), atomic_writer(Path(out)) as stream:
            write_jsonl(examples, stream)
    listed: Path | None = None
    if rejects is not None and (rejects.items or rejects_file is not None):
        listed = rejects_file or Path(f"{out}.rejects.jsonl")
        with naming_disk_errors(listed):
            rejects.write(listed)
    rejected = 0 if rejects is None else len(rejects)
    if as_json:
        print_json(
            {
                "corpus": name,
                "part": part,
                "n": len(examples),
                "rejected": rejected,
                "out": out,
                "rejects": None if listed is None else str(listed),
            }
        )
    else:
        say(f"{len(examples)} examples written" + (f", {rejected} bad lines listed in {listed}" if rejected else ""))


@app.command("overlap")
def overlap(names: Names = None, mirror: MirrorOption = None, as_json: JsonFlag = False) -> None:
    """Count, for every part, the dialogues and examples that overlap with CANARD test.

    Example: urewrite data overlap qrecc
    """
    test = load_corpus("canard", "test", mirror=mirror)
    documents: list[dict[str, object]] = []
    rows: list[list[str]] = []
    for name in _chosen(names):
        for part, examples in available_parts(name, mirror=mirror, notify=say):
            if (name, part) == ("canard", "test"):
                continue
            found = find_overlap(examples, test)
            counts = {
                "n": len(examples),
                "overlapping_examples": found.examples,
                "overlapping_dialogues": len(found.dialogues),
                "dialogues_by_id": len(found.by_id),
                "dialogues_by_rewrite": len(found.by_rewrite),
                "dialogues_by_questions": len(found.by_questions),
                "shared_rewrites": found.shared_rewrites,
            }
            documents.append({"corpus": name, "part": part, **counts})
            rows.append([f"{name} {part}", *(f"{count:,}" for count in counts.values())])
    if as_json:
        print_json(documents)
    else:
        header = ["part", "examples", "overlap", "dialogues", "by id", "by rewrite", "by questions", "same rewrites"]
        print_table("Overlap with CANARD test", header, rows)


def _unique(names: Sequence[str]) -> list[str]:
    """The names in the given order, each once and each known."""
    return [source_of(name).name for name in dict.fromkeys(names)]


def _chosen(names: list[str] | None) -> list[str]:
    return _unique(names) if names else list(CORPORA)


def _lengths(lengths: Lengths, decimals: int) -> list[str]:
    return [f"{value:.{decimals}f}" for value in (lengths.context, lengths.utterance, lengths.rewrite)]
