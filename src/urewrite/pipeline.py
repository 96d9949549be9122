"""Prepare and run: dialogues to the probabilities of their grids, whatever computes them.

The path of a dialogue is prepare, run, decode, here and everywhere: `Pipeline` is its first two thirds, and only `run`
differs between the network in training and the exported graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from urewrite.bundle import ModelConfig
from urewrite.dialogue import Dialogue
from urewrite.edits.choose import Probabilities
from urewrite.edits.grid import Axes, lay_out
from urewrite.prepare import GridArrays, Preparer, collate, in_batches

BATCH_SIZE = 16
"""Dialogues computed together where nobody says how many; with more, what is between the layers outgrows the caches."""

Run = Callable[[GridArrays], Probabilities]
"""Probabilities (batch, edit types, rows, columns) of a batch; cells outside an example mean nothing."""


@runtime_checkable
class RunsSideBySide(Protocol):
    """A run that computes several batches at once, and gives them in their order."""

    def each(self, batches: Iterable[GridArrays]) -> Iterator[Probabilities]:
        """One after the other, as soon as each is there."""
        ...


class Judged(NamedTuple):
    """A dialogue laid out, with the probabilities of the edit types of every cell."""

    axes: Axes
    probabilities: Probabilities


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What a model needs to judge dialogues."""

    config: ModelConfig
    preparer: Preparer
    run: Run

    def lay_out(self, dialogue: Dialogue) -> Axes:
        """The axes of a dialogue as the model takes them: its connection words, its window."""
        return lay_out(dialogue, self.config.connection_words, most_rows=self.config.most_rows)

    def judge(self, axes: Axes) -> Probabilities:
        """One dialogue by itself."""
        rows, columns = axes.shape
        found: Probabilities = self.run(collate([self.preparer.prepare(axes)]))[0, :, :rows, :columns]
        return found

    def judge_all(self, laid_out: Sequence[Axes], batch_size: int = 64) -> Iterator[tuple[int, Probabilities]]:
        """Many dialogues, each with its position, in an order in which those of like size share a batch."""
        groups = in_batches([axes.shape for axes in laid_out], batch_size)
        batches = (collate([self.preparer.prepare(laid_out[position]) for position in group]) for group in groups)
        several: object = self.run  # it may be more than a function
        judged = several.each(batches) if isinstance(several, RunsSideBySide) else map(self.run, batches)
        for positions, batch in zip(groups, judged, strict=True):
            for position, likely in zip(positions, batch, strict=True):
                rows, columns = laid_out[position].shape
                yield position, likely[:, :rows, :columns]


def judge_dialogues(
    pipeline: Pipeline,
    dialogues: Sequence[Dialogue],
    *,
    batch_size: int = 64,
    follow: Callable[[int], object] | None = None,
) -> list[Judged]:
    """All dialogues in the given order; `follow` is told how many more are done."""
    laid_out = [pipeline.lay_out(dialogue) for dialogue in dialogues]
    found: dict[int, Probabilities] = {}
    for position, likely in pipeline.judge_all(laid_out, batch_size):
        found[position] = likely.copy()  # or the whole batch would be kept
        if follow is not None:
            follow(1)
    return [Judged(axes, found[position]) for position, axes in enumerate(laid_out)]
