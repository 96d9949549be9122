"""A trained model as the teacher of a smaller one: how likely it finds every edit type of every cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from urewrite.edits.choose import Probabilities
from urewrite.errors import BadInputError
from urewrite.training.data import Gold
from urewrite.training.predict import probabilities_of
from urewrite.training.weights import load_model


def ask_teacher(folder: Path, gold: Gold, notify: Callable[[str], None]) -> list[Probabilities]:
    """What the model of a folder makes of the dialogues to learn from, once for all epochs, in half precision."""
    notify(f"asking {folder.name} about {len(gold.axes):,} dialogues")
    with tqdm(total=len(gold.axes), desc="Teacher", leave=False, delay=2, unit="dialogue") as bar:
        found = probabilities_of(load_model(folder), [axes.dialogue for axes in gold.axes], follow=bar.update)
    for mine, (theirs, _) in zip(gold.axes, found, strict=True):
        if mine.row_keys != theirs.row_keys:
            raise BadInputError(
                "lays out dialogues otherwise: data.most_rows and the connection words of start.model must be its own",
                field="teacher.model",
            )
    return [likely.astype("float16") for _, likely in found]
