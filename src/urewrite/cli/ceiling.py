"""`urewrite data ceiling` and `urewrite data connections`: what editing can reach, and with which extra words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.data import MirrorOption, Names
from urewrite.cli.output import JsonFlag, print_json, print_table, progress, say
from urewrite.corpora.catalogue import PARTS, available_parts
from urewrite.corpora.connection import corpus_connection_words
from urewrite.corpora.jsonl import read_jsonl
from urewrite.corpora.sources import CORPORA
from urewrite.edits.connection import MOST_WORDS, derive_connection_words
from urewrite.edits.grid import ConnectionWords
from urewrite.errors import BadInputError
from urewrite.scoring.ceiling import measure_ceiling

PAPER_CEILINGS = {"rewrite": "91.0", "task": "87.6", "multi": "95.3", "canard": "42.5 (BLEU 72.5)"}
"""The paper's share of examples within reach, and the BLEU it gives for CANARD."""

LimitOption = Annotated[
    int, typer.Option("--words", min=0, help="At most so many connection words, derived from the training part.")
]


def ceiling(
    names: Names = None,
    parts: Annotated[
        list[str] | None, typer.Option("--part", metavar="PART", help="train, validation or test; repeatable.")
    ] = None,
    limit: LimitOption = MOST_WORDS,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the share of examples whose gold grid decodes to the gold rewrite, and the BLEU of that ceiling.

    Example: urewrite data ceiling rewrite canard --part test
    """
    for part in parts or ():
        if part not in PARTS:
            raise BadInputError(f"no part is called {part!r}; the parts are {', '.join(PARTS)}", field="--part")
    documents: list[dict[str, object]] = []
    rows: list[list[str]] = []
    for corpus in names or CORPORA:
        loaded = list(available_parts(corpus, parts or PARTS, mirror=mirror, notify=say))
        words, derived_from = corpus_connection_words(corpus, limit=limit, mirror=mirror)
        for part, examples in loaded:
            with progress(f"{corpus} {part}", len(examples)) as advance:
                found = measure_ceiling(examples, words, advance)
            metrics = found.scores.metrics
            obstacles = Counter(obstacle for obstacle in found.obstacles if obstacle is not None)
            documents.append(
                {
                    "corpus": corpus,
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
                    f"{corpus} {part}",
                    f"{found.scores.n:,}",
                    f"{metrics['em']:.2f}",
                    f"{metrics['bleu4']:.2f}",
                    f"{100 * obstacles['missing word'] / found.scores.n:.2f}",
                    f"{100 * obstacles['order'] / found.scores.n:.2f}",
                    PAPER_CEILINGS.get(corpus, "") if part == "test" else "",
                ]
            )
    if as_json:
        print_json(documents)
    else:
        print_table(
            f"What editing can reach with at most {limit} connection words, in percent",
            ["", "examples", "exact", "BLEU-4", "a word is missing", "order", "paper"],
            rows,
        )


def connections(
    names: Names = None,
    from_file: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Derive from a .jsonl file of examples instead.")
    ] = None,
    limit: LimitOption = MOST_WORDS,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Derive the connection words of a corpus from its training part.

    Leading words stand before what is copied from the history, trailing words after it.

    Example: urewrite data connections canard --words 5
    """
    if from_file is not None and names:
        raise typer.BadParameter("name corpora or give --from, not both", param_hint="--from")
    documents: list[dict[str, object]] = []
    if from_file is not None:
        words = derive_connection_words(read_jsonl(from_file), limit)
        documents.append({"corpus": str(from_file), **_words_document(words, None)})
    else:
        for corpus in names or CORPORA:
            words, derived_from = corpus_connection_words(corpus, limit=limit, mirror=mirror)
            documents.append({"corpus": corpus, **_words_document(words, derived_from)})
    if as_json:
        print_json(documents)
        return
    rows = [
        [
            str(document["corpus"]),
            " ".join(map(str, document["leading"])) if isinstance(document["leading"], list) else "",
            " ".join(map(str, document["trailing"])) if isinstance(document["trailing"], list) else "",
            str(document["derived_from"] or ""),
        ]
        for document in documents
    ]
    print_table(f"At most {limit} connection words", ["corpus", "leading", "trailing", "derived from"], rows)


def _words_document(words: ConnectionWords, derived_from: str | None) -> dict[str, object]:
    return {"leading": list(words.leading), "trailing": list(words.trailing), "derived_from": derived_from}
