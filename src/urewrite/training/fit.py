"""One training run: data, trainer, checkpoints, resume, and the folder that is left."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import lightning
import torch
import yaml
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from tqdm import tqdm

from urewrite.dialogue import Example
from urewrite.edits.connection import derive_connection_words
from urewrite.errors import TrainingError
from urewrite.files import atomic_writer
from urewrite.training.batches import BucketedBatches, OrderedBatches, Share
from urewrite.training.data import Examples, Gold, derive_gold, load_examples
from urewrite.training.module import HeldOut, RewritingModule
from urewrite.training.report import keep_log, write_report
from urewrite.training.settings import TrainingSettings
from urewrite.training.weights import Model, continued_model, load_model, new_model, save_model

LAST = "last.ckpt"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NETWORK = "network."


class StopAfter(Callback):
    """Ends a run in time, with a checkpoint to go on from."""

    def __init__(self, minutes: float, checkpoint: Path) -> None:
        self.deadline = time.monotonic() + 60 * minutes
        self.checkpoint = checkpoint

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:  # noqa: ANN401
        """Stop once the time is over, for all processes if it is for one."""
        over = time.monotonic() >= self.deadline
        if trainer.world_size > 1:
            over = trainer.strategy.reduce_boolean_decision(over, all=False)
        if over and not trainer.should_stop:
            trainer.save_checkpoint(self.checkpoint)
            trainer.should_stop = True


def train(
    settings: TrainingSettings,
    folder: Path,
    *,
    max_minutes: float | None = None,
    devices: int = 1,
    strategy: str = "auto",
    mirror: Path | None = None,
    notify: Callable[[str], None],
) -> None:
    """Train, or go on with what `folder` holds; leave a model folder with settings, metrics and logs there.

    With several `devices` as many processes share the work; every batch is divided among them.
    """
    # Batches come in many shapes; with room for all of them oneDNN plans each only once.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192")
    folder.mkdir(parents=True, exist_ok=True)
    lightning.seed_everything(settings.seed, verbose=False)
    examples = load_examples(settings.data, seed=settings.seed, mirror=mirror, notify=notify)
    model, gold, held_out = _prepared(settings, examples, notify)
    with atomic_writer(folder / "settings.yaml") as stream:
        yaml.safe_dump(settings.model_dump(mode="json"), stream, sort_keys=False)
    module = RewritingModule(
        model.network, settings.optimiser, settings.seed, HeldOut(held_out.examples, held_out.axes)
    )
    best, callbacks = _callbacks(settings, folder, max_minutes)
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=devices,
        strategy=strategy,
        max_epochs=settings.optimiser.epochs,
        gradient_clip_val=settings.optimiser.clip,
        callbacks=callbacks,
        logger=[CSVLogger(folder, "log", version=""), TensorBoardLogger(folder, "tensorboard", version="")],
        default_root_dir=folder,
        num_sanity_val_steps=0,
        enable_model_summary=False,
        log_every_n_steps=20,
        use_distributed_sampler=False,
    )

    def share() -> Share:
        return Share(trainer.global_rank, trainer.world_size)

    size = settings.optimiser.batch_size
    batches = BucketedBatches(
        gold.labelled(model.preparer), size, seed=settings.seed, steps=lambda: trainer.global_step, share=share
    )
    validation = OrderedBatches(held_out.labelled(model.preparer), 2 * size, share=share)
    resumed = _latest(folder)
    if resumed is not None:
        notify(f"going on from {resumed.name}")
        keep_log(folder)
    with _clear_about_full_disks(folder):
        trainer.fit(module, batches, validation, ckpt_path=resumed, weights_only=False)
    if not trainer.is_global_zero:
        return
    chosen = None
    with _clear_about_full_disks(folder):
        if Path(best.best_model_path).is_file():
            checkpoint = torch.load(best.best_model_path, map_location="cpu", weights_only=False)
            save_model(folder, model, _network_weights(checkpoint))
            chosen = settings.optimiser.monitor, float(best.best_model_score or 0)
            notify(f"best {chosen[0]}: {chosen[1]:.2f}")
        parameters = sum(parameter.numel() for parameter in model.network.parameters())
        write_report(folder, settings, model.config, parameters=parameters, best=chosen)


def _prepared(
    settings: TrainingSettings, examples: Examples, notify: Callable[[str], None]
) -> tuple[Model, Gold, Gold]:
    """The model to train and the gold grids, with the connection words of the model that is gone on from if any."""
    start = None if settings.start.model is None else Path(settings.start.model)
    if start is None:
        words = derive_connection_words(examples.train, settings.data.connection_words)
    else:
        words = load_model(start).config.connection_words
    gold = derive_gold(examples.train, words, settings.data, _shown("Gold grids")).with_rows()
    notify(f"{len(gold.grids):,} training examples, {gold.exact:.1%} of the gold grids decode to the rewrite")
    held_out = derive_gold(examples.validation, words, settings.data, _shown("Validation grids"))
    if start is None:
        model = new_model(settings, words, gold.axes, examples.described, notify)
    else:
        model = continued_model(start, settings, gold.axes, examples.described)
    return model, gold, held_out


def _callbacks(
    settings: TrainingSettings, folder: Path, max_minutes: float | None
) -> tuple[ModelCheckpoint, list[Callback]]:
    monitor = settings.optimiser.monitor
    best = ModelCheckpoint(folder, "best", monitor=monitor, mode="max", enable_version_counter=False)
    every = timedelta(minutes=settings.checkpoint_minutes)
    callbacks: list[Callback] = [
        best,
        ModelCheckpoint(folder, "recent", train_time_interval=every, enable_version_counter=False),
        EarlyStopping(monitor, patience=settings.optimiser.patience, mode="max"),
    ]
    if max_minutes is not None:
        callbacks.append(StopAfter(max_minutes, folder / LAST))
    return best, callbacks


def _network_weights(checkpoint: dict[str, Any]) -> dict[str, torch.Tensor]:
    weights = {
        name.removeprefix(_NETWORK): tensor
        for name, tensor in checkpoint["state_dict"].items()
        if name.startswith(_NETWORK)
    }
    if not weights:
        raise TrainingError("the best checkpoint holds no weights of a network")
    return weights


@contextmanager
def _clear_about_full_disks(folder: Path) -> Iterator[None]:
    """Checkpoints are written beside the last one and then put in its place, so that one is still whole."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        kept = _latest(folder)
        left = f"{kept.name} is whole: make room and run the same command again" if kept else "there is no checkpoint"
        raise TrainingError(f"no room to write in {folder} ({os.strerror(error.errno)}); {left}") from error


def _latest(folder: Path) -> Path | None:
    found = [path for path in (folder / LAST, folder / "recent.ckpt") if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _shown(what: str) -> Callable[[Sequence[Example]], Iterable[Example]]:
    """A progress bar for loops that take seconds."""

    def follow(examples: Sequence[Example]) -> Iterable[Example]:
        bar: Iterable[Example] = tqdm(examples, what, leave=False, delay=2, unit="dialogue")
        return bar

    return follow
