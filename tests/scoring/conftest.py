"""Real texts for the scoring tests, as word tuples."""

from __future__ import annotations

import json

import pytest

from urewrite.dialogue import Dialogue, Example
from urewrite.scoring.triple import Triple


@pytest.fixture(scope="session")
def canard_copy(corpora_dir):
    """Copy on CANARD test in the words of the tokenised fixture."""
    lines = (corpora_dir / "canard" / "tokenised" / "CANARD_test.txt").read_text(encoding="utf-8").splitlines()
    fields = [line.split("\t\t") for line in lines]
    return [Triple(tuple(row[-2].split()), tuple(row[-1].split()), tuple(row[-2].split())) for row in fields]


@pytest.fixture(scope="session")
def canard_examples(corpora_dir):
    records = json.loads((corpora_dir / "canard" / "test.json").read_text(encoding="utf-8"))
    return [Example(Dialogue.of(row["History"], row["Question"]), row["Rewrite"]) for row in records]


@pytest.fixture(scope="session")
def rewrite_examples(corpora_dir):
    lines = (corpora_dir / "rewrite" / "corpus.txt").read_text(encoding="utf-8").split("\n")[18_000:20_000]
    fields = [line.split("\t\t") for line in lines]
    return [Example(Dialogue.of(row[:-2], row[-2]), row[-1]) for row in fields]
