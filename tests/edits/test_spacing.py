from __future__ import annotations

import pytest

from urewrite.edits.spacing import needs_blank


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
        ("", "word"),
        ("word", ""),
    ],
)
def test_together(left, right):
    assert not needs_blank(left, right)
