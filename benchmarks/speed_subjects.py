"""What `speed.py` measures: models as shipped, their float graphs, the same weights in PyTorch, and real dialogues."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from urewrite import Rewriter
from urewrite.bundle import ModelConfig, read_config
from urewrite.dialogue import Dialogue, Example
from urewrite.language import Language
from urewrite.pipeline import Pipeline
from urewrite.pretrained import resolve
from urewrite.rewrite import Rewrite
from urewrite.rewriter import load_pipeline

Row = dict[str, Any]
"""A part of the results, as JSON has it."""

SHIPPED, FLOAT, TORCH = "shipped", "float32", "torch"
"""The contestants: the graph of the folder, the one with float weights, PyTorch eager with the weights of the first."""

CORPORA: Mapping[Language, str] = {"zh": "rewrite", "en": "canard"}

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Subject:
    """A model to measure. `float_folder` holds its float graph, `dequantised` if made from the 8-bit weights."""

    name: str
    given: str
    folder: Path
    language: Language
    float_folder: Path | None
    dequantised: bool

    @property
    def corpus(self) -> str:
        return CORPORA[self.language]


def subjects_of(models: Sequence[str], floats: Mapping[str, Path], scratch: Path) -> list[Subject]:
    """The models by name or folder; a float graph that is not given is made from the shipped weights in `scratch`."""
    found: list[Subject] = []
    for given in models:
        folder = resolve(given)
        name = folder.resolve().name
        whole = floats.get(name) or _dequantised(folder, scratch / name)
        found.append(Subject(name, given, folder, _language(read_config(folder), name), whole, name not in floats))
    return found


def bundled_subject(name: str) -> Subject:
    """A bundled model as it is shipped, and nothing beside it."""
    folder = resolve(name)
    return Subject(name, name, folder, _language(read_config(folder), name), None, False)


def pipelines(subject: Subject, threads: int | None) -> dict[str, Pipeline]:
    """Every contestant of a model, each on so many threads (all cores by default)."""
    found = {SHIPPED: load_pipeline(subject.folder, threads=threads)}
    if subject.float_folder is not None:
        found[FLOAT] = load_pipeline(subject.float_folder, threads=threads)
    eager = _torch_pipeline(subject.folder, threads)
    if eager is not None:
        found[TORCH] = eager
    return found


def evenly(items: Sequence[_Item], amount: int) -> list[_Item]:
    """So many of the items, or all, at equal distances."""
    amount = min(amount, len(items))
    return [items[position * len(items) // amount] for position in range(amount)]


def dialogues_of(examples: Sequence[Example], amount: int) -> list[Dialogue]:
    return [example.dialogue for example in evenly(examples, amount)]


def checked(results: Sequence[Rewrite]) -> Sequence[Rewrite]:
    """The results, none of which may be an error: the time of a failure is not the time of a rewrite."""
    if any(result.reason == "error" for result in results):
        raise SystemExit("a rewrite failed; the log says why")
    return results


def warmed(rewriter: Rewriter, dialogues: Sequence[Dialogue]) -> Rewriter:
    """A rewriter whose first calls, which set things up, are over."""
    checked(rewriter.rewrite_batch(dialogues))
    return rewriter


def spread(values: Sequence[float]) -> Row:
    """What is published of repeated measurements."""
    return {
        "median": significant(statistics.median(values)),
        "least": significant(min(values)),
        "most": significant(max(values)),
    }


def significant(value: float) -> float:
    return float(f"{value:.4g}")


def _language(config: ModelConfig, name: str) -> Language:
    for language in CORPORA:
        if config.languages == (language,) or (len(config.languages) != 1 and name.startswith(language)):
            return language
    raise SystemExit(f"{name}: expected a model of English or Chinese alone, or a folder named en… or zh…")


def _dequantised(folder: Path, target: Path) -> Path | None:
    """A folder with a float graph of the weights that the shipped graph holds."""
    try:
        from urewrite.training.export import export
        from urewrite.training.weights import load_model
    except ImportError as error:
        print(f"{folder.name}: no float graph, since the extra 'train' is missing ({error})")
        return None
    export(load_model(folder), target, eight_bit=False)
    return target


def _torch_pipeline(folder: Path, threads: int | None) -> Pipeline | None:
    try:
        import torch

        from urewrite.training.predict import pipeline_of
        from urewrite.training.weights import load_model
    except ImportError as error:
        print(f"{folder.name}: PyTorch is not measured, since the extra 'train' is missing ({error})")
        return None
    torch.set_num_threads(threads or os.cpu_count() or 1)
    return pipeline_of(load_model(folder))
