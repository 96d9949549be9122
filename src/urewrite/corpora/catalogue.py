"""The one way to load a part of a corpus by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from urewrite.corpora import sources
from urewrite.corpora.canard import read_canard, read_reduced
from urewrite.corpora.lines import Rejects, require_examples
from urewrite.corpora.multi import read_columns, read_pair
from urewrite.corpora.qrecc import read_development, read_sample
from urewrite.corpora.rewrite import read_rewrite
from urewrite.corpora.task import read_task
from urewrite.dialogue import Dialogue, Example
from urewrite.errors import BadInputError, DataUnavailableError

PARTS: tuple[str, ...] = ("train", "validation", "test")
"""The parts of every corpus; `test` is what the paper reports on."""

Context = Literal["full", "two-turn"]

_REDUCED = ("canard/train_reduced/train.question.tsv", "canard/train_reduced/train.rewrite.tsv")


def load_corpus(
    corpus: str,
    part: str,
    *,
    mirror: Path | None = None,
    rejects: Rejects | None = None,
    context: Context = "full",
    every_version: bool = False,
) -> list[Example]:
    """The examples of a part of a corpus, in file order.

    Files are looked for in `mirror`, in the folder named by `UREWRITE_DATA`, and in the cache. With `rejects` bad lines
    are collected there and left out; without it the first one is raised. `context="two-turn"` keeps only the last two
    turns of each history. `every_version` adds the second incomplete version of the turns of TASK
    that have two.
    """
    source = sources.source_of(corpus)
    if part not in PARTS:
        raise BadInputError(f"no part is called {part!r}; the parts are {', '.join(PARTS)}")
    if context not in ("full", "two-turn"):
        raise BadInputError(f"no context is called {context!r}; the contexts are full, two-turn")
    files = sources.find_first(source.name, _files_of(corpus, part), mirror)
    examples = _read(corpus, part, files, rejects, every_version)
    require_examples(examples, files, rejects, part)
    return in_context(examples, context)


def example_file(name: str) -> Path | None:
    """The file of examples (see `read_jsonl`) a name leads to; None if it is that of a corpus.

    A name with a folder in it, or one that ends in `.jsonl` or `.jsonl.gz`, is a file's; any other must be known.
    """
    if os.path.dirname(name) or name.endswith((".jsonl", ".jsonl.gz")):  # noqa: PTH120 - Path would drop "./"
        return Path(name)
    sources.source_of(name)
    return None


def in_context(examples: list[Example], context: Context) -> list[Example]:
    """The examples with the whole history, or only its last two turns."""
    return examples if context == "full" else [_last_two_turns(example) for example in examples]


def available_parts(
    corpus: str,
    parts: Sequence[str] = PARTS,
    *,
    mirror: Path | None = None,
    rejects: Rejects | None = None,
    context: Context = "full",
    notify: Callable[[str], None],
) -> Iterator[tuple[str, list[Example]]]:
    """Those of the parts that are on this machine. A missing one is told to `notify`; all missing is an error."""
    missing: list[str] = []
    for part in parts:
        try:
            examples = load_corpus(corpus, part, mirror=mirror, rejects=rejects, context=context)
        except DataUnavailableError as error:  # noqa: PERF203 - each part is there or not for itself
            missing.append(str(error))
        else:
            yield part, examples
    if len(missing) == len(parts):
        raise DataUnavailableError(missing[0])
    for reason in missing:
        notify(f"left out: {reason}")


def _files_of(corpus: str, part: str) -> list[tuple[str, ...]]:
    """The files a part is read from, in order of preference."""
    if corpus == "rewrite":
        return [("rewrite/corpus.txt",)]
    if corpus == "task":
        return [("task/CamRest676_annotated.json",)]
    if corpus == "multi":
        name = "valid" if part == "validation" else part
        return [(f"multi/{name}.txt",), (f"multi/{name}.sr", f"multi/{name}.tr")]
    if corpus == "canard":
        if part == "train":
            return [("canard/train.json",), _REDUCED]
        return [("canard/dev.json",)] if part == "validation" else [("canard/test.json",)]
    if part == "test":
        return [("qrecc/dev-sampled2k-modified.json",)]
    return [("qrecc/train_sample_4k_human_rewrite.jsonl",)]


def _read(corpus: str, part: str, files: list[Path], rejects: Rejects | None, every_version: bool) -> list[Example]:
    if corpus == "rewrite":
        return read_rewrite(files[0], part, rejects=rejects)
    if corpus == "task":
        return read_task(files[0], part, rejects=rejects, every_version=every_version)
    if corpus == "multi":
        if len(files) == 2:
            return read_pair(files[0], files[1], part, rejects=rejects)
        return read_columns(files[0], part, rejects=rejects)
    if corpus == "canard":
        if len(files) == 2:
            return read_reduced(files[0], files[1], rejects=rejects)
        return read_canard(files[0], rejects=rejects)
    if part == "test":
        return read_development(files[0], rejects=rejects)
    return read_sample(files[0], part, rejects=rejects)


def _last_two_turns(example: Example) -> Example:
    dialogue = Dialogue(example.dialogue.history[-2:], example.dialogue.utterance)
    return Example(dialogue, example.rewrite, example.dialogue_id)
