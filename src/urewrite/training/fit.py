"""One training run: data, trainer, checkpoints, resume, and the folder that is left."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import lightning
import torch
import yaml
from lightning.pytorch.callbacks import Callback, EarlyStopping, EMAWeightAveraging, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from lightning.pytorch.utilities import rank_zero_only

from urewrite.bundle import read_config
from urewrite.edits.connection import derive_connection_words
from urewrite.errors import BadInputError, TrainingError
from urewrite.files import atomic_writer, same_place
from urewrite.language import languages_of
from urewrite.pretrained import to_learn_from
from urewrite.training.batches import BucketedBatches, OrderedBatches, Share
from urewrite.training.checkpoints import Best, Recent, StopAfter, TimeIsOverError, WholeCheckpoints
from urewrite.training.criterion import value_of
from urewrite.training.data import Examples, Gold, derive_gold, load_examples
from urewrite.training.module import HeldOut, RewritingModule, precision_of
from urewrite.training.predict import pipeline_of
from urewrite.training.progress import EpochLines, with_bar
from urewrite.training.refit import Choices, choices_of
from urewrite.training.report import is_finished, keep_log, write_report
from urewrite.training.settings import (
    TrainingSettings,
    asked_for_by,
    first_difference,
    flat_settings,
    load_settings,
)
from urewrite.training.teacher import ask_teachers
from urewrite.training.tune import tuned
from urewrite.training.weights import (
    Model,
    continued_model,
    network_of,
    network_to_go_on_with,
    new_model,
    save_model,
)

LAST, RECENT, BEST = "last.ckpt", "recent.ckpt", "best.ckpt"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NETWORK = "network."


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
    notify = rank_zero_only(notify)
    _check_folder(folder, settings)
    if is_finished(folder) and not (folder / BEST).is_file():
        notify("the run is finished, and its checkpoints are gone: nothing to do")
        return
    lightning.seed_everything(settings.seed, verbose=False)
    chosen_before = None if settings.refit is None else choices_of(to_learn_from(settings.refit), settings)
    examples = load_examples(
        settings.data, seed=settings.seed, mirror=mirror, notify=notify, keep_apart=chosen_before is None
    )
    model, gold, held_out = _prepared(settings, examples, chosen_before, notify)
    settings = settings.model_copy(update={"network": network_of(model.config)})  # with start.model it is that one's
    folder.mkdir(parents=True, exist_ok=True)
    rank_zero_only(_write_settings)(folder, settings)
    teacher = settings.teacher
    module = RewritingModule(
        model.network,
        settings.optimiser,
        settings.seed,
        HeldOut(held_out.examples, held_out.axes),
        teacher_weight=0 if teacher is None else teacher.weight,
    )
    best = _best(settings, folder)
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=devices,
        strategy=strategy,
        max_epochs=settings.optimiser.epochs if chosen_before is None else chosen_before.epochs,
        limit_val_batches=None if chosen_before is None else 0,
        callbacks=[best, EpochLines(settings.optimiser.monitor, notify), *_callbacks(settings, folder, max_minutes)],
        logger=[CSVLogger(folder, "log", version=""), TensorBoardLogger(folder, "tensorboard", version="")],
        default_root_dir=folder,
        num_sanity_val_steps=0,
        enable_model_summary=False,
        log_every_n_steps=20,
        use_distributed_sampler=False,
        plugins=[WholeCheckpoints()],
    )

    def share() -> Share:
        return Share(trainer.global_rank, trainer.world_size)

    size = settings.optimiser.batch_size
    finished = is_finished(folder)
    taught = None
    if teacher is not None and not finished:
        with asked_for_by("teacher.model"):
            folders = [to_learn_from(model) for model in teacher.model]
            taught = ask_teachers(folders, gold, precision_of(settings.optimiser), notify)
    batches = BucketedBatches(
        gold.labelled(model.preparer, taught), size, seed=settings.seed, steps=lambda: trainer.global_step, share=share
    )
    validation = OrderedBatches(held_out.labelled(model.preparer), 2 * size, share=share)
    resumed = None if finished else _latest(folder)
    if resumed is not None:
        notify(f"going on from {resumed.name}")
        rank_zero_only(keep_log)(folder)
    with _clear_about_full_disks(folder), _clear_about_what_is_left(folder), suppress(TimeIsOverError):
        if finished:
            notify("the run is finished; its model folder is written anew")
        else:
            trainer.fit(module, batches, validation, ckpt_path=resumed, weights_only=False)
            finished = True
    if not trainer.is_global_zero:
        return
    chosen = metrics = None
    with _clear_about_full_disks(folder):
        if (folder / BEST).is_file():
            checkpoint = torch.load(folder / BEST, map_location="cpu", weights_only=False)
            model.network.load_state_dict(_network_weights(checkpoint))
            save_model(folder, model)
            if chosen_before is not None:
                config = chosen_before.taken_over(model.config)
            else:
                # Not the score `best` knows: a run that was killed goes on from before its best checkpoint.
                score = checkpoint["callbacks"][best.state_key]["best_model_score"]
                chosen = settings.optimiser.monitor, float(score)
                config, metrics = tuned(pipeline_of(model), held_out.examples, chosen[0], examples.left_alone)
                notify(f"best {chosen[0]}: {chosen[1]:.2f}")
                notify(f"{chosen[0]} with its thresholds: {value_of(chosen[0], metrics):.2f}")
            model = replace(model, config=config)
            save_model(folder, model)
        parameters = sum(parameter.numel() for parameter in model.network.parameters())
        write_report(
            folder, settings, model.config, parameters=parameters, best=chosen, tuned=metrics, finished=finished
        )


def _check_folder(folder: Path, settings: TrainingSettings) -> None:
    """Refuse a folder that holds the model to start from or a run with other settings, and a network that is not its.

    Of other settings some would be ignored, since the checkpoint holds them too, and the card would tell of none. Where
    a run is finished, they would be told of weights that others made.
    """
    for key, given in (("start.model", settings.start.model), ("refit", settings.refit)):
        if given is not None and same_place(to_learn_from(given), folder):
            raise BadInputError(f"is where the run goes, {folder}: choose another folder", field=key)
    begun = folder / "settings.yaml"
    there = _latest(folder) is not None or is_finished(folder)
    run = load_settings(begun) if there and begun.is_file() else None
    if settings.start.model is not None and (run is None or run.network != settings.network):
        _check_network(settings, settings.start.model)
    if run is None:
        return
    found = first_difference(run, settings, leaving_out={"checkpoint_minutes"})
    if found is not None:
        key, before, now = found
        raise BadInputError(
            f"the run was begun with {before!r}, not {now!r}: keep that, or name another folder", file=begun, field=key
        )


def _check_network(settings: TrainingSettings, model: str) -> None:
    """Refuse a given network that is another than that of the model to start from, which would be taken anyway."""
    with asked_for_by("start.model"):
        its_own = flat_settings(network_to_go_on_with(to_learn_from(model), settings).model_dump(mode="json"))
    given = settings.network.model_dump(mode="json", exclude_unset=True)
    for key, value in flat_settings(given).items() if "network" in settings.model_fields_set else ():
        if key not in its_own or its_own[key] != value:
            raise BadInputError(
                f"{key} is {its_own.get(key)!r} in start.model, whose network is taken over, not {value!r}:"
                " leave network out",
                field="network",
            )


def _write_settings(folder: Path, settings: TrainingSettings) -> None:
    with atomic_writer(folder / "settings.yaml") as stream:
        yaml.safe_dump(settings.model_dump(mode="json"), stream, sort_keys=False)


def _prepared(
    settings: TrainingSettings, examples: Examples, chosen_before: Choices | None, notify: Callable[[str], None]
) -> tuple[Model, Gold, Gold]:
    """The model to train and the gold grids; connection words are those of a model it goes on from, or new ones."""
    start = None if settings.start.model is None else to_learn_from(settings.start.model)
    if chosen_before is not None:
        words = chosen_before.config.connection_words
    elif start is not None and settings.start.own_connection_words:
        words = read_config(start).connection_words
    elif settings.teacher is not None:
        with asked_for_by("teacher.model"):
            words = read_config(to_learn_from(settings.teacher.model[0])).connection_words
    else:
        words = derive_connection_words(examples.train, settings.data.connection_words)
    found = derive_gold(examples.train, words, settings.data, partial(with_bar, what="Gold grids"))
    gold = found.to_learn_from(only_exact=settings.data.only_exact)
    if not gold.grids:
        raise BadInputError(f"no example of {', '.join(settings.data.corpus)} has a history to copy from")
    exact = sum(found.exact) / len(found.exact)
    notify(f"{len(gold.grids):,} training examples; {exact:.1%} of all gold grids decode to the rewrite")
    held_out = derive_gold(examples.validation, words, settings.data, partial(with_bar, what="Validation grids"))
    if start is None:
        model = new_model(settings, words, gold.axes, examples.described(gold.examples), notify)
    else:
        with asked_for_by("start.model"):
            model = continued_model(start, settings, words, gold.axes, examples.described(gold.examples))
    languages = languages_of(example.dialogue for example in examples.train)
    return replace(model, config=replace(model.config, languages=languages)), gold, held_out


def _best(settings: TrainingSettings, folder: Path) -> ModelCheckpoint:
    """Keeps the weights to use: the best by the validation part, or the last where that is learned from."""
    if settings.refit is not None:
        return Best(folder, "best", save_on_train_epoch_end=True, enable_version_counter=False)
    return Best(folder, "best", monitor=settings.optimiser.monitor, mode="max", enable_version_counter=False)


def _callbacks(settings: TrainingSettings, folder: Path, max_minutes: float | None) -> list[Callback]:
    every = timedelta(minutes=settings.checkpoint_minutes)
    callbacks: list[Callback] = [Recent(folder, "recent", train_time_interval=every, enable_version_counter=False)]
    if settings.refit is None:
        callbacks.append(EarlyStopping(settings.optimiser.monitor, patience=settings.optimiser.patience, mode="max"))
    if settings.optimiser.averaging:
        callbacks.insert(0, EMAWeightAveraging(decay=settings.optimiser.averaging))
    if max_minutes is not None:
        callbacks.append(StopAfter(max_minutes, folder / LAST))
    return callbacks


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
    """Say what is left; `WholeCheckpoints` keeps the last checkpoint until the next one is whole."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        kept = _latest(folder)
        left = f"{kept.name} is whole: make room and run the same command again" if kept else "there is no checkpoint"
        raise TrainingError(f"no room to write in {folder} ({os.strerror(error.errno)}); {left}") from error


@contextmanager
def _clear_about_what_is_left(folder: Path) -> Iterator[None]:
    """Say which checkpoint is the last good one: none is written once something is no number."""
    try:
        yield
    except TrainingError as error:
        kept = _newest(folder, LAST, RECENT, BEST)
        left = f"{kept.name} is the last good checkpoint" if kept else "there is no checkpoint yet"
        raise TrainingError(f"{error}; {left}") from error


def _latest(folder: Path) -> Path | None:
    """The checkpoint to go on from."""
    return _newest(folder, LAST, RECENT)


def _newest(folder: Path, *names: str) -> Path | None:
    found = [folder / name for name in names if (folder / name).is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)
