"""One training run: data, trainer, checkpoints, resume, and the folder that is left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import lightning
import yaml
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from safetensors.torch import save_file

from urewrite.corpora import load_corpus, load_training, read_jsonl, split_by_dialogue
from urewrite.corpora.catalogue import example_file
from urewrite.corpora.training import refuse_overlap
from urewrite.dialogue import Example
from urewrite.edits.connection import derive_connection_words
from urewrite.edits.grid import ConnectionWords
from urewrite.edits.supervise import supervise
from urewrite.files import atomic_writer
from urewrite.training.batches import BucketedBatches, Prepared, prepare
from urewrite.training.module import HeldOut, RewritingModule
from urewrite.training.settings import TrainingSettings
from urewrite.training.vocabulary import Vocabulary

LAST = "last.ckpt"


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Everything a run learns from and is judged by."""

    words: ConnectionWords
    vocabulary: Vocabulary
    train: list[Prepared]
    validation: list[Prepared]
    held_out: HeldOut


class StopAfter(Callback):
    """Ends a run in time, with a checkpoint to go on from."""

    def __init__(self, minutes: float, checkpoint: Path) -> None:
        self.deadline = time.monotonic() + 60 * minutes
        self.checkpoint = checkpoint

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:  # noqa: ANN401
        """Stop once the time is over."""
        if time.monotonic() >= self.deadline and not trainer.should_stop:
            trainer.save_checkpoint(self.checkpoint)
            trainer.should_stop = True


def prepare_data(settings: TrainingSettings, mirror: Path | None, notify: Callable[[str], None]) -> TrainingData:
    """Load the corpus, derive connection words and gold grids, and give words their ids."""
    examples, held_out = _parts(settings, mirror, notify)
    words = derive_connection_words(examples, settings.data.connection_words)
    examples = examples[: settings.data.examples]
    search = settings.data.labels == "exact"
    gold = [supervise(example, words, search=search) for example in examples]
    exact = sum(item.exact for item in gold)
    notify(f"{len(gold):,} training examples, {exact / len(gold):.1%} of the gold grids decode to the rewrite")
    vocabulary = Vocabulary.of((item.axes for item in gold), settings.data.least_count)
    held_gold = [supervise(example, words, search=search) for example in held_out]
    return TrainingData(
        words,
        vocabulary,
        [prepare(item.axes, item.grid, vocabulary) for item in gold],
        [prepare(item.axes, item.grid, vocabulary) for item in held_gold],
        HeldOut(held_out, [item.axes for item in held_gold]),
    )


def train(
    settings: TrainingSettings,
    folder: Path,
    *,
    max_minutes: float | None,
    mirror: Path | None,
    notify: Callable[[str], None],
) -> None:
    """Train, or go on with what `folder` holds; leave weights, metrics and settings there."""
    folder.mkdir(parents=True, exist_ok=True)
    lightning.seed_everything(settings.seed, verbose=False)
    data = prepare_data(settings, mirror, notify)
    _write_json(folder / "connection_words.json", {"leading": data.words.leading, "trailing": data.words.trailing})
    data.vocabulary.save(folder / "vocabulary.json")
    with atomic_writer(folder / "settings.yaml") as stream:
        yaml.safe_dump(settings.model_dump(mode="json"), stream, sort_keys=False)
    module = RewritingModule(settings, len(data.vocabulary), data.held_out)
    monitor = settings.optimiser.monitor
    best = ModelCheckpoint(folder, "best", monitor=monitor, mode="max", enable_version_counter=False)
    recent = ModelCheckpoint(
        folder,
        "recent",
        train_time_interval=timedelta(minutes=settings.checkpoint_minutes),
        enable_version_counter=False,
    )
    callbacks: list[Callback] = [
        best,
        recent,
        EarlyStopping(monitor, patience=settings.optimiser.patience, mode="max"),
    ]
    if max_minutes is not None:
        callbacks.append(StopAfter(max_minutes, folder / LAST))
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=settings.optimiser.epochs,
        gradient_clip_val=settings.optimiser.clip,
        callbacks=callbacks,
        logger=[CSVLogger(folder, "log", version=""), TensorBoardLogger(folder, "tensorboard", version="")],
        default_root_dir=folder,
        num_sanity_val_steps=0,
        enable_model_summary=False,
        log_every_n_steps=20,
    )
    resumed = _latest(folder)
    if resumed is not None:
        notify(f"going on from {resumed.name}")
    size = settings.optimiser.batch_size
    batches = BucketedBatches(data.train, size, seed=settings.seed, steps=lambda: trainer.global_step)
    trainer.fit(module, batches, BucketedBatches(data.validation, 2 * size), ckpt_path=resumed, weights_only=False)
    if Path(best.best_model_path).is_file():
        _export(Path(best.best_model_path), settings, data, folder)
        notify(f"best {monitor}: {float(best.best_model_score or 0):.2f}")


def _parts(
    settings: TrainingSettings, mirror: Path | None, notify: Callable[[str], None]
) -> tuple[list[Example], list[Example]]:
    """What to learn from and what to choose by."""
    corpus, validation = settings.data.corpus, settings.data.validation
    file = example_file(corpus)
    if file is not None:
        examples = read_jsonl(file)
        refuse_overlap(examples, mirror=mirror, notify=notify)
        if validation is not None:
            return examples, read_jsonl(Path(validation))
        return split_by_dialogue(examples, 0.1)
    training = load_training(corpus, mirror=mirror)
    if training.removed:
        notify(f"left out {len(training.removed)} training examples that CANARD test shares")
    if validation is not None:
        return training.examples, read_jsonl(Path(validation))
    return training.examples, load_corpus(corpus, "validation", mirror=mirror)


def _latest(folder: Path) -> Path | None:
    found = [path for path in (folder / LAST, folder / "recent.ckpt") if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def _export(checkpoint: Path, settings: TrainingSettings, data: TrainingData, folder: Path) -> None:
    """The best weights in a form that runs nothing when it is read."""
    module = RewritingModule.load_from_checkpoint(
        checkpoint,
        settings=settings,
        vocabulary=len(data.vocabulary),
        held_out=data.held_out,
        weights_only=False,
    )
    weights = {name: tensor.contiguous() for name, tensor in module.network.state_dict().items()}
    save_file(weights, folder / "model.safetensors")


def _write_json(path: Path, document: object) -> None:
    with atomic_writer(path) as stream:
        json.dump(document, stream, ensure_ascii=False, indent=2)
        stream.write("\n")
