"""Word pieces of a pretrained encoder, each traced to the word it is part of."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from urewrite.edits.grid import END, SEPARATOR, Axes
from urewrite.errors import BadInputError
from urewrite.prepare.arrays import Prepared, matching_cells

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CACHED_WORDS = 50_000


class WordPieces:
    """The joint sequence as an encoder was pretrained to read it: start, context, separator, utterance, separator.

    Turns are separated by the encoder's own separator, which also stands for `[E]`. Connection words are the same in
    every dialogue, so they have no pieces: the network knows them by their place. A dialogue with more pieces than
    the encoder has positions keeps only the first piece of every word; the rows of a grid are limited elsewhere.
    """

    def __init__(self, tokenizer: Tokenizer, *, start: int, separator: int, longest: int) -> None:
        self.tokenizer = tokenizer
        self.start = start
        self.separator = separator
        self.longest = longest
        self._pieces = lru_cache(_CACHED_WORDS)(self._pieces_of)

    @classmethod
    def load(cls, path: Path, *, start: int, separator: int, longest: int) -> WordPieces:
        """Read a `tokenizer.json`."""
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing more special
            raise BadInputError(f"is no tokenizer: {error}", file=path) from error
        return cls(tokenizer, start=start, separator=separator, longest=longest)

    def prepare(self, axes: Axes) -> Prepared:
        """Pieces of rows and columns with the word each is part of."""
        height, width = axes.shape
        words = [self._pieces(key) for key in (*axes.row_keys, *axes.column_keys)]
        for source in axes.sources:
            if source.turn is None:
                words[source.first_row : source.first_row + len(source.tokens)] = [()] * len(source.tokens)
        if sum(map(len, words)) + 2 > self.longest:
            words = [pieces[:1] for pieces in words]
        ids, owners = [self.start], [-1]
        for word, pieces in enumerate(words):
            if word == height:
                ids.append(self.separator)
                owners.append(-1)
            ids.extend(pieces)
            owners.extend([word] * len(pieces))
        limit = self.longest  # only a single turn or utterance as long as the window gets here with more
        return Prepared(
            np.asarray(ids[:limit], dtype=np.int32),
            np.asarray(owners[:limit], dtype=np.int32),
            (height, width),
            matching_cells(axes),
        )

    def _pieces_of(self, key: str) -> tuple[int, ...]:
        if key in (SEPARATOR, END):
            return (self.separator,)
        text = key.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half a pair is no text to others
        return tuple(self.tokenizer.encode([text], is_pretokenized=True, add_special_tokens=False).ids)
