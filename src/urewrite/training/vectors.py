"""Word vectors as a start for the embedding, and as what is known of a lexicon's terms.

They come in GloVe's text form, or as a folder with words.txt and vectors.npy.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.files import decode_line
from urewrite.prepare import Lexicon, Vocabulary
from urewrite.prepare.lexicon import LONGEST
from urewrite.tokens import tokenize

Vector = NDArray[np.float32]

_SPREAD = 0.3
"""Of the numbers that vectors are scaled to."""


def start_from_vectors(embedding: torch.nn.Embedding, vocabulary: Vocabulary, source: Path) -> int:
    """Put known vectors into the embedding, in its first dimensions if it has more; returns how many words got one.

    They are scaled as a whole, so that vectors of any origin start with the spread a normal one of this size has.
    """
    wanted = {word: position for position, word in enumerate(vocabulary.words)}
    found: dict[int, Vector] = {}
    for word, vector in _vectors(source):
        position = wanted.get(word)
        if position is not None:
            found.setdefault(position, vector)
    if not found:
        return 0
    with torch.no_grad():
        embedding.weight[1:].normal_(0, _SPREAD)
        _place(np.stack(list(found.values())), embedding.weight, list(found), source)
    return len(found)


def lexicon_from_vectors(source: Path, most: int, width: int) -> tuple[Lexicon, torch.Tensor]:
    """The first terms in the list of words, which has the most frequent first, and the vectors by their numbers.

    Terms are words of a script without blanks: every character is a token, and none has a capital.
    """
    terms: dict[str, Vector] = {}
    for word, vector in _vectors(source):
        if len(terms) == most:
            break
        if _is_term(word):
            terms.setdefault(word, vector)
    if len(terms) < most:
        raise BadInputError(f"holds {len(terms):,} terms, not {most:,}", file=source, field="network.lexicon")
    vectors = torch.zeros(1 + most, width)
    _place(np.stack(list(terms.values())), vectors, list(range(1, 1 + most)), source)
    return Lexicon(list(terms)), vectors


def _is_term(word: str) -> bool:
    of_letters = len(word) <= LONGEST and word.isalpha() and word.lower() == word.upper()
    return of_letters and len(tokenize(word)) == len(word)


def _place(rows: NDArray[np.float32], table: torch.Tensor, where: list[int], source: Path) -> None:
    """Put vectors into rows of a table, scaled as a whole."""
    width, room = rows.shape[1], table.shape[1]
    if width > room:
        raise BadInputError(f"its vectors have {width} dimensions, network.embedding only {room}", file=source)
    table[where, :width] = torch.from_numpy(rows / (float(rows.std()) or 1.0) * _SPREAD)


def _vectors(source: Path) -> Iterator[tuple[str, Vector]]:
    if source.is_dir():
        try:
            words = (source / "words.txt").read_text(encoding="utf-8").split("\n")
            rows = np.load(source / "vectors.npy", mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise DataUnavailableError(f"the word vectors in {source} cannot be read: {error}") from error
        yield from ((word, np.asarray(row, dtype=np.float32)) for word, row in zip(words, rows, strict=False))
        return
    if not source.is_file():
        raise DataUnavailableError(f"the word vectors {source} are not on this machine")
    width = 0
    for number, line in _lines(source):
        fields = line.rstrip(" \r\n").split(" ")  # fastText ends lines with a blank
        if number == 1 and len(fields) == 2:  # says how many there are
            continue
        width = width or len(fields) - 1
        try:
            vector = np.array(fields[-width:], dtype=np.float32)
        except ValueError as error:
            raise BadInputError("expected a word and its numbers", file=source, line=number) from error
        if len(fields) <= width:
            raise BadInputError(f"expected a word and {width} numbers", file=source, line=number)
        yield " ".join(fields[:-width]), vector  # GloVe has words with blanks


def _lines(source: Path) -> Iterator[tuple[int, str]]:
    """One at a time, since such files are large, each with its number."""
    opened = gzip.open if source.suffix == ".gz" else open
    number = 0
    try:
        with opened(source, "rb") as lines:
            for number, raw in enumerate(lines, start=1):
                yield number, decode_line(raw)
    except BadInputError as error:
        raise error.at(file=source, line=number) from error
    except (OSError, EOFError, zlib.error) as error:
        raise BadInputError(f"cannot be read further: {error}", file=source, line=number + 1) from error
