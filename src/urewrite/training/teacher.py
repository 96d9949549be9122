"""Trained models as teachers of another: how likely they find every edit type of every cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from tqdm import tqdm

from urewrite.edits.choose import Probabilities
from urewrite.errors import BadInputError
from urewrite.training.data import Gold
from urewrite.training.predict import probabilities_of
from urewrite.training.weights import load_model


def ask_teachers(
    folders: Sequence[Path], gold: Gold, precision: torch.dtype, notify: Callable[[str], None]
) -> list[Probabilities]:
    """What models make of the dialogues to learn from, on average, once for all epochs, in half precision.

    `precision` is that of the products in their encoders.
    """
    said = _ask(folders[0], gold, precision, notify)
    for folder in folders[1:]:
        for mine, theirs in zip(said, _ask(folder, gold, precision, notify), strict=True):
            mine += theirs
    return [(likely / len(folders)).astype("float16") for likely in said]


def _ask(folder: Path, gold: Gold, precision: torch.dtype, notify: Callable[[str], None]) -> list[Probabilities]:
    notify(f"asking {folder.name} about {len(gold.axes):,} dialogues")
    model = load_model(folder)
    with (
        tqdm(total=len(gold.axes), desc="Teacher", leave=False, delay=2, unit="dialogue", disable=None) as bar,
        model.network.computing_in(precision),
    ):
        found = probabilities_of(model, [axes.dialogue for axes in gold.axes], follow=bar.update)
    for mine, (theirs, _) in zip(gold.axes, found, strict=True):
        if mine.row_keys != theirs.row_keys:
            raise BadInputError(
                f"{folder.name} lays out dialogues otherwise: data.most_rows, the connection words of start.model and"
                " those of other teachers must be its own",
                field="teacher.model",
            )
    return [likely for _, likely in found]
