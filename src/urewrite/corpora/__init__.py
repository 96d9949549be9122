"""The corpora of incomplete utterance rewriting: read, fetched, measured, and kept apart from what is tested on."""

from __future__ import annotations

from urewrite.corpora.catalogue import PARTS, example_file, load_corpus
from urewrite.corpora.jsonl import read_jsonl
from urewrite.corpora.lines import Reject, Rejects
from urewrite.corpora.overlap import assert_no_overlap, find_overlap, without_overlap
from urewrite.corpora.parts import split_by_dialogue
from urewrite.corpora.sources import CORPORA
from urewrite.corpora.training import TrainingPart, load_training

__all__ = [
    "CORPORA",
    "PARTS",
    "Reject",
    "Rejects",
    "TrainingPart",
    "assert_no_overlap",
    "example_file",
    "find_overlap",
    "load_corpus",
    "load_training",
    "read_jsonl",
    "split_by_dialogue",
    "without_overlap",
]
