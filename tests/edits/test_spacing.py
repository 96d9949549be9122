from __future__ import annotations

import pytest

from urewrite.edits import spacing
from urewrite.edits.spacing import Edge, hugs, written_apart
from urewrite.tokens import tokenize


def needs_blank(left, right):
    """Of the last word of one text and the first of another."""
    before, after = tokenize(left), tokenize(right)
    return written_apart(Edge(before, len(before) - 1), Edge(after, 0))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Beijing", "today"),
        (",", "which"),
        ("5", "km"),
        ("?", "Beijing"),
        ("he", "("),
        (")", "is"),
        ("was", "“"),
        ("it", "$"),
    ],
)
def test_apart(left, right):
    assert needs_blank(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Kobe", "'s"),
        ("Kobe", "’s"),
        ("do", "n't"),
        ("we", "'re"),
        ("Beijing", "?"),
        ("Beijing", ","),
        ("5", "%"),
        ("(", "he"),
        ("$", "5"),
        ("“", "word"),
        ("word", "”"),
        ("北", "京"),
        ("iphonex", "为"),
        ("买", "iphonex"),
        ("北", "。"),
        ("did", "n't"),
        ('say ( "', "word"),  # opens
        ('the "', "word"),
    ],
)
def test_together(left, right):
    assert not needs_blank(left, right)


def test_what_is_told_without_the_patterns_is_what_they_say():
    for character in map(chr, range(0x110000)):
        assert spacing._is_unspaced(character) == bool(spacing._UNSPACED.match(character)), hex(ord(character))
        assert not (character.isalnum() and spacing._HUGS_LEFT.match(character)), hex(ord(character))
    assert hugs("do", "n't")
    assert not hugs("do", "not")
