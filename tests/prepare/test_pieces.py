from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

tokenizers = pytest.importorskip("tokenizers", reason="not provided: tokenizers, which transformers brings")

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers  # noqa: E402

from urewrite.dialogue import Dialogue  # noqa: E402
from urewrite.edits.grid import ConnectionWords, lay_out  # noqa: E402
from urewrite.errors import BadInputError  # noqa: E402
from urewrite.prepare import WordPieces  # noqa: E402

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "what", "is", *"abcxyz", *(f"##{letter}" for letter in "abcxyz"), *"北京"]
WORDS = ConnectionWords(("of", "in"), ("'s", "的"))

words = st.sampled_from(["what", "is", "abc", "xyz", "aaaa", "c", "北", "京", "Ω"])
turns = st.lists(words, min_size=1, max_size=8).map(" ".join)


def word_pieces(longest=512):
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return WordPieces(tokenizer, start=2, separator=3, longest=longest)


def read(prepared):
    """The pieces with their owners, as text."""
    pieces = [PIECES[position] for position in prepared.ids]
    return list(zip(pieces, prepared.owners.tolist(), strict=True))


def test_pieces_are_traced_to_their_words():
    axes = lay_out(Dialogue.of(["What abc", "北京"], "is xyz Ω"))
    assert read(word_pieces().prepare(axes)) == [
        ("[CLS]", -1),
        ("what", 0),
        *[("a", 1), ("##b", 1), ("##c", 1)],
        ("[SEP]", 2),
        *[("北", 3), ("京", 4)],
        ("[SEP]", -1),
        ("is", 5),
        *[("x", 6), ("##y", 6), ("##z", 6)],
        ("[UNK]", 7),
        ("[SEP]", 8),
    ]


def test_connection_words_have_rows_but_no_pieces():
    axes = lay_out(Dialogue.of(["what"], "is"), WORDS)
    assert axes.row_keys == ("of", "in", "[S]", "what", "[S]", "'s", "的")
    assert read(word_pieces().prepare(axes)) == [
        ("[CLS]", -1),
        *[("[SEP]", 2), ("what", 3), ("[SEP]", 4)],
        ("[SEP]", -1),
        *[("is", 7), ("[SEP]", 8)],
    ]


def test_without_history_the_utterance_still_stands_apart():
    prepared = word_pieces().prepare(lay_out(Dialogue.of([], "is")))
    assert read(prepared) == [("[CLS]", -1), ("[SEP]", -1), ("is", 0), ("[SEP]", 1)]
    assert prepared.shape == (0, 2)


@given(st.lists(turns, max_size=3), turns, st.integers(3, 40), st.sampled_from([None, WORDS]))
def test_pieces_never_exceed_the_window(history, utterance, longest, words):
    axes = lay_out(Dialogue.of(history, utterance), words)
    whole, limited = word_pieces().prepare(axes), word_pieces(longest).prepare(axes)
    assert limited.shape == axes.shape
    assert len(limited.ids) == len(limited.owners) <= longest
    if len(whole.ids) <= longest:
        assert read(limited) == read(whole)
        return
    seen = set()
    first = [pair for pair in read(whole) if pair[1] == -1 or not (pair[1] in seen or seen.add(pair[1]))]
    assert read(limited) == first[:longest]


def test_a_saved_tokenizer_gives_the_same_pieces(tmp_path):
    made = word_pieces()
    made.tokenizer.save(str(tmp_path / "tokenizer.json"))
    loaded = WordPieces.load(tmp_path / "tokenizer.json", start=2, separator=3, longest=512)
    axes = lay_out(Dialogue.of(["What abc", "北京"], "is xyz Ω"), WORDS)
    assert read(loaded.prepare(axes)) == read(made.prepare(axes))


@pytest.mark.parametrize("text", ["", "[]", '{"model": 1}'])
def test_what_is_no_tokenizer_is_said(tmp_path, text):
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError, match=r"tokenizer\.json"):
        WordPieces.load(path, start=2, separator=3, longest=512)


def test_half_a_surrogate_pair_is_no_failure():
    axes = lay_out(Dialogue.of(["abc \ud83d"], "is \ude00 abc\ud800"))
    found = read(word_pieces().prepare(axes))
    assert ("is", axes.shape[0]) in found
