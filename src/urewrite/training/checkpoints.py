"""When a run writes what it can go on from, and how: so that an interrupted one ends as an uninterrupted one would."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.plugins import TorchCheckpointIO

from urewrite.files import replacing


class WholeCheckpoints(TorchCheckpointIO):
    """Puts a checkpoint in its place in one step, so that one is whole whenever the process ends.

    Lightning's own comes by way of the system's temporary folder; from another disk it is copied over the last one.
    """

    def save_checkpoint(
        self,
        checkpoint: dict[str, Any],
        path: str | Path,
        storage_options: Any | None = None,  # noqa: ANN401, ARG002 - Lightning's own
    ) -> None:
        """Write beside the last checkpoint, then take its place."""
        content = io.BytesIO()
        torch.save(checkpoint, content)
        with replacing(Path(path)) as temporary, temporary.open("wb") as stream:
            stream.write(content.getbuffer())


class Recent(ModelCheckpoint):
    """A checkpoint every few minutes, but none after the last batch of an epoch.

    Lightning takes such an epoch for finished: a run that went on from there would leave out its validation.
    """

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,  # noqa: ANN401 - Lightning's own
        batch: Any,  # noqa: ANN401
        batch_idx: int,
    ) -> None:
        """Save if it is time, and if batches of the epoch are left."""
        if batch_idx + 1 < trainer.num_training_batches:
            super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx)


class Best(ModelCheckpoint):
    """The weights to use, also of a run whose folder was moved before it went on.

    Lightning would forget the best score there, and put the next weights in the place of better ones.
    """

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what is known of the best so far, as what lies in the folder that is there now."""
        super().load_state_dict(_moved(state_dict, state_dict["dirpath"], self.dirpath))


def _moved(known: Any, before: str, now: str | Path | None) -> Any:  # noqa: ANN401 - whatever the state holds
    """The same with the folder that paths lie in exchanged."""
    if isinstance(known, dict):
        return {_moved(key, before, now): _moved(value, before, now) for key, value in known.items()}
    if isinstance(known, str) and Path(before) in (Path(known), *Path(known).parents):
        return str(Path(str(now)) / Path(known).relative_to(before))
    return known


class TimeIsOverError(Exception):
    """Ends a fit at once: if Lightning were asked to stop, it would judge the weights of half an epoch first."""


class StopAfter(Callback):
    """Ends a run in time, with a checkpoint to go on from; see `Recent` for when there is none."""

    def __init__(self, minutes: float, checkpoint: Path) -> None:
        self.deadline = time.monotonic() + 60 * minutes
        self.checkpoint = checkpoint

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,  # noqa: ARG002
        outputs: Any,  # noqa: ANN401, ARG002 - Lightning's own
        batch: Any,  # noqa: ANN401, ARG002
        batch_idx: int,
    ) -> None:
        """Stop once the time is over, for all processes if it is for one."""
        if batch_idx + 1 >= trainer.num_training_batches:
            return
        over = time.monotonic() >= self.deadline
        if trainer.world_size > 1:
            over = trainer.strategy.reduce_boolean_decision(over, all=False)
        if over:
            trainer.save_checkpoint(self.checkpoint)
            raise TimeIsOverError
