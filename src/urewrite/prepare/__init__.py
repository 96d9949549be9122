"""The first step of prepare, run, decode: a dialogue's axes as the numbers a network takes. numpy only."""

from urewrite.prepare.arrays import MULTIPLE, GridArrays, Prepared, Preparer, by_size, collate, in_batches
from urewrite.prepare.lexicon import Lexicon
from urewrite.prepare.pieces import WordPieces
from urewrite.prepare.vocabulary import Vocabulary

__all__ = [
    "MULTIPLE",
    "GridArrays",
    "Lexicon",
    "Prepared",
    "Preparer",
    "Vocabulary",
    "WordPieces",
    "by_size",
    "collate",
    "in_batches",
]
