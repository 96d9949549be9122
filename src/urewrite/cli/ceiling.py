"""`urewrite data ceiling` and `urewrite data connections`: what editing can reach, and with which extra words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.options import MirrorOption, NamesOrFiles, Part, RejectsOption, SkipBadFlag, collecting
from urewrite.cli.output import JsonFlag, print_json, print_table, progress, say
from urewrite.corpora.catalogue import PARTS, available_parts, example_file
from urewrite.corpora.connection import corpus_connection_words
from urewrite.corpora.jsonl import read_jsonl
from urewrite.corpora.lines import Rejects
from urewrite.corpora.sources import CORPORA
from urewrite.dialogue import Example
from urewrite.edits.connection import MOST_WORDS, derive_connection_words
from urewrite.edits.grid import ConnectionWords
from urewrite.scoring.ceiling import PAPER_BLEU, PAPER_EXACT, measure_ceiling

LimitOption = Annotated[
    int, typer.Option("--words", min=0, help="At most so many connection words, derived from the training part.")
]


def ceiling(
    names: NamesOrFiles = None,
    parts: Annotated[
        list[Part] | None, typer.Option("--part", help="Part of the named corpora; repeatable, none means all.")
    ] = None,
    limit: LimitOption = MOST_WORDS,
    skip_bad: SkipBadFlag = False,
    rejects_file: RejectsOption = None,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the share of examples whose gold grid decodes to the gold rewrite, and the BLEU of that ceiling.

    The connection words of a file are derived from that same file.

    Example: urewrite data ceiling rewrite canard --part test
    """
    wanted = [part.value for part in dict.fromkeys(parts or ())] or PARTS
    sources = _sources(names)
    documents: list[dict[str, object]] = []
    rows: list[list[str]] = []
    with collecting(skip_bad, rejects_file, apart_from=_files(sources)) as rejects:
        for name, file in sources.items():
            own = None if file is None else read_jsonl(file, rejects=rejects)
            loaded: list[tuple[str | None, list[Example]]] = [(None, own)] if own is not None else []
            if own is None:
                loaded += available_parts(name, wanted, mirror=mirror, rejects=rejects, notify=say)
            words, derived_from = _words_of(name, own, limit, mirror, rejects)
            for part, examples in loaded:
                label = " ".join(filter(None, (name, part)))
                with progress(label, len(examples)) as advance:
                    found = measure_ceiling(examples, words, advance)
                metrics = found.scores.metrics
                obstacles = Counter(obstacle for obstacle in found.obstacles if obstacle is not None)
                documents.append(
                    {
                        "corpus": name,
                        "part": part,
                        "n": found.scores.n,
                        "exact": round(metrics["em"], 4),
                        "bleu4": round(metrics["bleu4"], 4),
                        "missing_word": obstacles["missing word"],
                        "order": obstacles["order"],
                        "connection_words": _words_document(words, derived_from),
                    }
                )
                rows.append(
                    [
                        label,
                        f"{found.scores.n:,}",
                        f"{metrics['em']:.2f}",
                        f"{metrics['bleu4']:.2f}",
                        f"{100 * obstacles['missing word'] / found.scores.n:.2f}",
                        f"{100 * obstacles['order'] / found.scores.n:.2f}",
                        str(PAPER_EXACT.get(name, "")) if part == "test" else "",
                        str(PAPER_BLEU.get(name, "")) if part == "test" else "",
                    ]
                )
    if as_json:
        print_json(documents)
    else:
        print_table(
            f"What editing can reach with at most {limit} connection words, in percent",
            ["", "examples", "exact", "BLEU-4", "a word is missing", "order", "paper exact", "BLEU"],
            rows,
        )


def connections(
    names: NamesOrFiles = None,
    limit: LimitOption = MOST_WORDS,
    skip_bad: SkipBadFlag = False,
    rejects_file: RejectsOption = None,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Derive the connection words of a corpus from its training part, or of a file of examples from all of it.

    Leading words stand before what is copied from the history, trailing words after it.

    Example: urewrite data connections canard --words 5
    """
    sources = _sources(names)
    derived: list[tuple[str, ConnectionWords, str]] = []
    with collecting(skip_bad, rejects_file, apart_from=_files(sources)) as rejects:
        for name, file in sources.items():
            own = None if file is None else read_jsonl(file, rejects=rejects)
            derived.append((name, *_words_of(name, own, limit, mirror, rejects)))
    if as_json:
        print_json([{"corpus": name, **_words_document(words, origin)} for name, words, origin in derived])
    else:
        rows = [[name, " ".join(words.leading), " ".join(words.trailing), origin] for name, words, origin in derived]
        print_table(f"At most {limit} connection words", ["corpus", "leading", "trailing", "derived from"], rows)


def _sources(names: Sequence[str] | None) -> dict[str, Path | None]:
    """What was named, each once: corpora, and files with their paths."""
    return {name: example_file(name) for name in names or CORPORA}


def _files(sources: Mapping[str, Path | None]) -> list[Path]:
    return [file for file in sources.values() if file is not None]


def _words_of(
    name: str, own: list[Example] | None, limit: int, mirror: Path | None, rejects: Rejects | None
) -> tuple[ConnectionWords, str]:
    """Connection words of a corpus, or of the examples of a file, and what they were derived from.

    Says so where that is not a training part.
    """
    if own is not None:
        say(f"{name}: the connection words are derived from this same file")
        return derive_connection_words(own, limit), name
    words, part = corpus_connection_words(name, limit=limit, mirror=mirror, rejects=rejects)
    if part != "train":
        say(f"{name}: no training part is here, so the connection words are derived from the {part} part")
    return words, part


def _words_document(words: ConnectionWords, derived_from: str) -> dict[str, object]:
    return {"leading": list(words.leading), "trailing": list(words.trailing), "derived_from": derived_from}
