"""How far a run is: bars for a terminal, lines for where none can be drawn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import lightning
from lightning.pytorch.callbacks import Callback
from tqdm import tqdm

from urewrite.training.criterion import metrics_of

Item = TypeVar("Item")


def with_bar(items: Sequence[Item], what: str, unit: str = "dialogue") -> Iterable[Item]:
    """The items, with a bar if they take seconds; none in a file or a pipe, where it would leave a line each time."""
    bar: Iterable[Item] = tqdm(items, what, leave=False, delay=2, unit=unit, disable=None)
    return bar


class EpochLines(Callback):
    """A line after every epoch where stderr is a file or a pipe, in which Lightning's bar leaves no trace."""

    def __init__(self, monitor: str, notify: Callable[[str], None]) -> None:
        self.metrics = metrics_of(monitor)
        self.notify = notify
        self.began, self.first_step = 0.0, 0

    def on_train_start(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,  # noqa: ARG002
    ) -> None:
        """A run that goes on is as fast as it is now."""
        self.began, self.first_step = time.monotonic(), trainer.global_step

    def on_train_epoch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,  # noqa: ARG002
    ) -> None:
        """Once its validation is done."""
        if sys.stderr.isatty():
            return
        taken, steps = time.monotonic() - self.began, max(1, trainer.global_step - self.first_step)
        left = (trainer.estimated_stepping_batches - trainer.global_step) * taken / steps
        known = [(name, trainer.callback_metrics.get(name)) for name in self.metrics]
        measured = "".join(f", {name} {float(value):.2f}" for name, value in known if value is not None)
        self.notify(
            f"epoch {trainer.current_epoch + 1} of {trainer.max_epochs}{measured};"
            f" {steps / taken:.1f} steps a second, {left / 60:.0f} minutes left"
        )
