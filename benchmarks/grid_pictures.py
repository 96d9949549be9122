"""Draw the grids that the docs show: docs/images/grid-gold-*.svg from rewrites, grid-model-*.svg from bundled models.

python benchmarks/grid_pictures.py

A model that is not bundled is left out, and said so.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from urewrite import ConnectionWords, Dialogue, Example, Rewrite, Rewriter, supervise
from urewrite.decide import gold
from urewrite.files import atomic_writer
from urewrite.language import language_of
from urewrite.pretrained import bundled

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


class Shown(NamedTuple):
    """A dialogue of the docs; without a rewrite it has no gold grid."""

    dialogue: Dialogue
    rewrite: str | None = None
    words: ConnectionWords | None = None


DIALOGUES = {
    # The first table of the paper, and its translation there.
    "beijing-zh": Shown(Dialogue.of(["北京今天天气如何", "北京今天是阴天"], "为什么总是这样"), "北京为什么总是阴天"),
    "beijing-en": Shown(
        Dialogue.of(["How is the weather in Beijing today", "Beijing is cloudy today"], "Why is always this"),
        "Why is Beijing always cloudy",
    ),
    # As in CANARD: titles, a question, its answer, a follow-up.
    "dune": Shown(
        Dialogue.of(
            ["Frank Herbert", "Dune", "When was Dune published?", "Dune was published in 1965."],
            "Did he write other books?",
        ),
        "Did Frank Herbert write other books besides Dune?",
        ConnectionWords(leading=("besides",)),
    ),
    # Nothing is missing here.
    "table": Shown(
        Dialogue.of(["Hello!", "Hello, how can I help you?"], "Please book a table for two at eight tonight.")
    ),
}


def main() -> None:
    for name, shown in DIALOGUES.items():
        model = language_of(shown.dialogue)
        if model not in bundled():
            print(f"grid-model-{name}.svg is left out: the model {model} is not bundled")
    for name, result in drawn().items():
        path = IMAGES / name
        with atomic_writer(path) as stream:
            stream.write(result.to_svg())
        print(f"{path.relative_to(IMAGES.parents[1])}: {result}")


def drawn() -> dict[str, Rewrite]:
    """What each picture shows, by its file name."""
    found: dict[str, Rewrite] = {}
    for name, shown in DIALOGUES.items():
        if shown.rewrite is not None:
            supervision = supervise(Example(shown.dialogue, shown.rewrite), shown.words)
            if not supervision.exact:
                raise SystemExit(f"{name}: no grid decodes to {shown.rewrite!r}")
            found[f"grid-gold-{name}.svg"] = gold(supervision)
        model = language_of(shown.dialogue)
        if model in bundled():
            found[f"grid-model-{name}.svg"] = predicted(model, shown.dialogue)
    return found


def predicted(model: str, dialogue: Dialogue) -> Rewrite:
    (result,) = Rewriter.from_pretrained(model).rewrite_batch([dialogue], keep_grid=True)
    return result


if __name__ == "__main__":
    main()
