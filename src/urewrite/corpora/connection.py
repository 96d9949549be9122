"""The connection words of a corpus, derived from what one may train on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from urewrite.corpora.lines import Rejects
from urewrite.corpora.training import load_training
from urewrite.edits.connection import MOST_WORDS, derive_connection_words
from urewrite.edits.grid import ConnectionWords
from urewrite.errors import DataUnavailableError


class CorpusWords(NamedTuple):
    """Connection words and the part they were derived from."""

    words: ConnectionWords
    part: str


def corpus_connection_words(
    corpus: str, *, limit: int = MOST_WORDS, mirror: Path | None = None, rejects: Rejects | None = None
) -> CorpusWords:
    """Words derived from the training part, or from the validation part where no training part is at hand (MULTI)."""
    part = "train"
    try:
        training = load_training(corpus, part, mirror=mirror, rejects=rejects)
    except DataUnavailableError:
        part = "validation"
        training = load_training(corpus, part, mirror=mirror, rejects=rejects)
    return CorpusWords(derive_connection_words(training.examples, limit), part)
