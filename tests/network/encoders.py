"""Folders of tiny pretrained encoders, in the form Hugging Face gives them."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from transformers.utils import logging

from urewrite.edits.grid import ConnectionWords

WORDS = ConnectionWords(("of", "in"), ("'s", "的"))

KINDS = ["bert", "roformer", "mpnet", "electra"]

_OPTIONS = {
    "bert": ("Bert", {}),
    "roformer": ("RoFormer", {}),
    "mpnet": ("MPNet", {"pad_token_id": 1}),
    "electra": ("Electra", {"embedding_size": 8}),
}
_LETTERS = "abcdefxyz"


def encoder_folder(kind: str, folder: Path) -> Path:
    """An encoder with random weights, large enough that every piece counts, and its tokenizer."""
    special = ["[CLS]", "[PAD]", "[UNK]", "[SEP]", "[MASK]"]
    if kind != "mpnet":
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, "what", "is", "it", *_LETTERS, *(f"##{letter}" for letter in _LETTERS), *"北京天气?"]
    (folder / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    name, options = _OPTIONS[kind]
    config = getattr(transformers, f"{name}Config")(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.3,
        **options,
    )
    torch.manual_seed(1)
    logging.disable_progress_bar()
    try:
        getattr(transformers, f"{name}Model")(config).save_pretrained(folder)
    finally:
        logging.enable_progress_bar()
    return folder
