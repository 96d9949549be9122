"""Which term a character is part of, in scripts that are written without blanks between words.

Tokens of such scripts are single characters, and a network that reads characters knows only the words that its
training dialogues repeat. A lexicon names many more. A run of characters is divided into its terms as they are most
likely by Zipf's law, under which the term of rank r is 1/r as frequent as the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import inf, log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from urewrite.errors import BadInputError
from urewrite.files import atomic_writer

LONGEST = 4
"""Characters of the longest term; longer ones are rare, and mostly made of others."""

NO_TERM = 0
"""The number of characters and words that no term holds; the first term has number 1."""

PLACES = 4
"""Where a character stands in its term: it is the whole of it, the first, one within, or the last of it."""
ALONE, FIRST, WITHIN, LAST = range(PLACES)

_KEPT, _LONGEST_KEPT = 4096, 100
"""How many runs are remembered, and how long they may be: turns come back with every turn that follows them."""

_OFFSET = 2.7
"""Mandelbrot's: the first few terms are less frequent than Zipf's law says."""


class Lexicon:
    """Terms, most frequent first, and the division of characters into them."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.terms = tuple(terms)
        self._numbers = {term: number for number, term in enumerate(self.terms, start=1)}
        if len(self._numbers) != len(self.terms) or not all(0 < len(term) <= LONGEST for term in self.terms):
            raise BadInputError(f"a lexicon holds terms of 1 to {LONGEST} characters, each once")
        every = log(log(len(self.terms) + _OFFSET) + 1)
        self._costs = {term: log(number + _OFFSET) + every for term, number in self._numbers.items()}
        self._unknown = log(len(self.terms) + _OFFSET) + 2 * every
        # Most pairs of neighbours begin no term: telling that first spares a look at longer ones.
        self._beginnings = frozenset(term[:2] for term in self.terms if len(term) > 1)
        self._told = lru_cache(_KEPT)(self._told_of)

    def __len__(self) -> int:
        return len(self.terms)

    def divided(self, run: str) -> list[str]:
        """The likeliest terms that together are the run; a character that no term holds is by itself."""
        costs, beginnings, unknown = self._costs.get, self._beginnings, self._unknown
        size = len(run)
        least = [0.0] + [inf] * size
        begins = [0] * (size + 1)
        for first, character in enumerate(run):
            so_far, end = least[first], first + 1
            total = so_far + costs(character, unknown)
            if total < least[end]:
                least[end], begins[end] = total, first
            if run[first : first + 2] in beginnings:
                for end in range(first + 2, min(first + LONGEST, size) + 1):
                    total = so_far + costs(run[first:end], inf)
                    if total < least[end]:
                        least[end], begins[end] = total, first
        terms: list[str] = []
        end = size
        while end:
            terms.append(run[begins[end] : end])
            end = begins[end]
        return terms[::-1]

    def read(self, texts: Iterable[Sequence[str]]) -> NDArray[np.int32]:
        """Of each token of all texts the number of its term and its place in that: shape (tokens, 2).

        No term goes from one text into the next. A token of several characters is no part of a longer term, but may be
        one.
        """
        found: list[int] = []
        for keys in texts:
            start = 0
            for position, key in enumerate((*keys, "")):
                if len(key) == 1:
                    continue
                if start < position:
                    run = "".join(keys[start:position])
                    found += self._told(run) if len(run) <= _LONGEST_KEPT else self._told_of(run)
                if position < len(keys):
                    found += (self._numbers.get(key, NO_TERM), ALONE)
                start = position + 1
        return np.array(found, dtype=np.int32).reshape(-1, 2)

    def _told_of(self, run: str) -> tuple[int, ...]:
        """Number and place of each character."""
        told: list[int] = []
        for term in self.divided(run):
            number, size = self._numbers.get(term, NO_TERM), len(term)
            if size == 1:
                told += (number, ALONE)
            else:
                told += (number, FIRST, *(number, WITHIN) * (size - 2), number, LAST)
        return tuple(told)

    def first(self, amount: int) -> Lexicon:
        """The most frequent of its terms alone."""
        return Lexicon(self.terms[:amount])

    def save(self, path: Path) -> None:
        """Write a term a line."""
        with atomic_writer(path) as stream:
            stream.writelines(f"{term}\n" for term in self.terms)

    @classmethod
    def load(cls, path: Path) -> Lexicon:
        """Read what `save` wrote."""
        try:
            return cls(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"))
        except UnicodeDecodeError as error:
            raise BadInputError(f"is not UTF-8: {error}", file=path) from error
        except BadInputError as error:
            raise error.at(file=path) from error
