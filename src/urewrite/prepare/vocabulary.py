"""Words to ids, from the training part alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from urewrite.edits.grid import END, SEPARATOR, Axes
from urewrite.errors import BadInputError
from urewrite.files import atomic_writer
from urewrite.prepare.arrays import Prepared, matching_cells
from urewrite.prepare.lexicon import Lexicon

PADDING_WORD, UNKNOWN_WORD = "[PAD]", "[UNK]"
_SPECIAL = (PADDING_WORD, UNKNOWN_WORD, SEPARATOR, END)
SPECIAL_IDS = tuple(range(len(_SPECIAL)))
UNKNOWN, SEPARATOR_ID = _SPECIAL.index(UNKNOWN_WORD), _SPECIAL.index(SEPARATOR)


class Vocabulary:
    """An id for every word; words it does not hold share one id, padding is 0. A lexicon may tell of terms besides."""

    def __init__(self, words: Sequence[str], lexicon: Lexicon | None = None) -> None:
        if tuple(words[: len(_SPECIAL)]) != _SPECIAL:
            raise BadInputError(f"a vocabulary starts with {', '.join(_SPECIAL)}")
        self.words = tuple(words)
        self.lexicon = lexicon
        self._ids = {word: position for position, word in enumerate(self.words)}

    @classmethod
    def of(cls, axes: Iterable[Axes], least: int = 1) -> Vocabulary:
        """The words that occur at least so often in the rows and columns, most frequent first."""
        counts = Counter(key for one in axes for key in (*one.row_keys, *one.column_keys))
        frequent = sorted((word for word, count in counts.items() if count >= least), key=lambda w: (-counts[w], w))
        return cls((*_SPECIAL, *(word for word in frequent if word not in _SPECIAL)))

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, keys: Iterable[str]) -> list[int]:
        """The id of each word."""
        return [self._ids.get(key, UNKNOWN) for key in keys]

    def prepare(self, axes: Axes) -> Prepared:
        """The ids of rows and columns as one sequence."""
        ids = np.asarray(self.ids((*axes.row_keys, *axes.column_keys)), dtype=np.int32)
        terms = None if self.lexicon is None else self.lexicon.read(_texts(axes))
        return Prepared(ids, None, axes.shape, matching_cells(axes), terms)

    def extended(self, words: Iterable[str]) -> Vocabulary:
        """With more words behind those it has, whose ids stay."""
        new = (word for word in dict.fromkeys(words) if word not in self._ids)
        return Vocabulary((*self.words, *new), self.lexicon)

    def save(self, path: Path) -> None:
        """Write the words as a JSON list."""
        with atomic_writer(path) as stream:
            json.dump(self.words, stream, ensure_ascii=False)

    @classmethod
    def load(cls, path: Path, lexicon: Lexicon | None = None) -> Vocabulary:
        """Read what `save` wrote."""
        try:
            words = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise BadInputError(f"is not JSON: {error}", file=path) from error
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BadInputError("expected a list of words", file=path)
        try:
            return cls(words, lexicon)
        except BadInputError as error:
            raise error.at(file=path) from error


def _texts(axes: Axes) -> Iterator[Sequence[str]]:
    """Rows and columns as texts of their own: turns, which separators divide, each connection word, the utterance."""
    done = 0
    for rows in axes.lists:
        yield axes.row_keys[done : rows.start]
        yield from ((axes.row_keys[row],) for row in rows)
        done = rows.stop
    yield axes.row_keys[done:]
    yield axes.column_keys
