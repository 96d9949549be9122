"""Folders of tiny pretrained encoders, in the form Hugging Face gives them."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel
from transformers.utils import logging

from urewrite.edits.grid import ConnectionWords

WORDS = ConnectionWords(("of", "in"), ("'s", "的"))

KINDS = ["bert", "roformer", "mpnet", "electra", "distilbert", "roberta", "albert"]
SHARING = "albert"
"""The kind whose layers are all one."""

_OPTIONS = {
    "bert": ("Bert", {}),
    "roformer": ("RoFormer", {}),
    "mpnet": ("MPNet", {"pad_token_id": 1}),
    "electra": ("Electra", {"embedding_size": 8}),
    "distilbert": ("DistilBert", {"hidden_dim": 32}),
    "roberta": ("Roberta", {"type_vocab_size": 1, "max_position_embeddings": 66}),
    "albert": ("Albert", {"embedding_size": 8}),
}
_LETTERS = "abcdefxyz"
_CHINESE = "北京天气?"


def encoder_folder(kind: str, folder: Path) -> Path:
    """An encoder with random weights, large enough that every piece counts, and its tokenizer."""
    write = {"roberta": _write_byte_pieces, "albert": _write_sentence_pieces}.get(kind, _write_word_pieces)
    name, options = _OPTIONS[kind]
    sizes = {
        "vocab_size": write(kind, folder),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
        "initializer_range": 0.3,
    }
    config = getattr(transformers, f"{name}Config")(**{**sizes, **options})
    torch.manual_seed(1)
    logging.disable_progress_bar()
    try:
        getattr(transformers, f"{name}Model")(config).save_pretrained(folder)
    finally:
        logging.enable_progress_bar()
    return folder


def spelled(kind: str) -> dict[str, list[str]]:
    """The pieces of some words, as each kind of tokenizer has them; `start` and `end` are its own."""
    if kind == "roberta":
        chinese = {"北": ["Ġ", "å", "Į", "Ĺ"], "京": ["Ġ", "ä", "º", "¬"]}
        return {"start": ["<s>"], "end": ["</s>"], "what": ["Ġwhat"], "abc": ["Ġ", *"abc"], "is": ["Ġis"], **chinese}
    outer = {"start": ["[CLS]"], "end": ["[SEP]"]}
    if kind == "albert":
        return {**outer, "what": ["▁what"], "abc": ["▁", *"abc"], "is": ["▁is"], "北": ["▁", "北"], "京": ["▁", "京"]}
    return {**outer, "what": ["what"], "abc": ["a", "##b", "##c"], "is": ["is"], "北": ["北"], "京": ["京"]}


def _write_word_pieces(kind: str, folder: Path) -> int:
    """BERT's tokenizer; gives the size of its vocabulary."""
    special = ["[CLS]", "[PAD]", "[UNK]", "[SEP]", "[MASK]"]
    if kind != "mpnet":
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, "what", "is", "it", *_LETTERS, *(f"##{letter}" for letter in _LETTERS), *_CHINESE]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return len(pieces)


def _write_byte_pieces(_: str, folder: Path) -> int:
    """RoBERTa's, whose pieces are made of bytes."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    merges = [("Ġ", "w"), ("Ġw", "h"), ("Ġwh", "a"), ("Ġwha", "t"), ("Ġ", "i"), ("Ġi", "s"), ("Ġi", "t")]
    pieces = [*special, *sorted(ByteLevel.alphabet()), *map("".join, merges)]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    transformers.RobertaTokenizerFast(vocab=numbers, merges=merges).save_pretrained(folder)
    return len(pieces)


def _write_sentence_pieces(_: str, folder: Path) -> int:
    """ALBERT's, whose pieces know where a word begins."""
    special = [(piece, 0.0) for piece in ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")]
    words = [(f"▁{word}", -1.0) for word in ("what", "is", "it")]
    pieces = [*special, *words, *((piece, -4.0) for piece in ("▁", *_LETTERS, *_CHINESE))]
    transformers.AlbertTokenizerFast(vocab=pieces).save_pretrained(folder)
    return len(pieces)
