"""What 8 bits cost and save: sizes and quality of the shipped graph beside the one with float weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.speed_subjects import FLOAT, SHIPPED, Row, Subject, checked, evenly

from urewrite import Rewriter
from urewrite.bundle import FILES, GRAPH
from urewrite.corpora import load_corpus, split_by_dialogue
from urewrite.dialogue import Example
from urewrite.edits.choose import Thresholds
from urewrite.rewriter import load_pipeline
from urewrite.scoring import score

CONFIGS = Path(__file__).parents[1] / "configs"
METRICS = ("em", "bleu4")


def precision(subjects: Sequence[Subject], mirror: Path | None, most: int | None) -> Row:
    """Sizes, EM and BLEU-4 on the validation and the test part, by the path that `urewrite evaluate` takes."""
    rows = []
    for subject in subjects:
        parts = {part: scored_examples(subject, part, mirror, most) for part in ("validation", "test")}
        for kind, folder in ((SHIPPED, subject.folder), (FLOAT, subject.float_folder)):
            if folder is not None:
                rows.append(
                    {
                        "model": subject.name,
                        "kind": kind,
                        "dequantised": kind == FLOAT and subject.dequantised,
                        "corpus": subject.corpus,
                        "graph MB": round((folder / GRAPH).stat().st_size / 1e6, 2),
                        "folder MB": round(folder_size(folder) / 1e6, 2),
                        **{part: quality(folder, examples) for part, examples in parts.items()},
                    }
                )
        print(f"precision: {subject.name}")
    return {"rows": rows}


def scored_examples(subject: Subject, part: str, mirror: Path | None, most: int | None) -> list[Example]:
    """A part of the model's corpus; of a validation part that was learned from too only what was held out."""
    examples = load_corpus(subject.corpus, part, mirror=mirror)
    held_out = _held_out(subject) if part == "validation" else None
    if held_out is not None:
        examples = split_by_dialogue(examples, held_out)[1]
    return examples if most is None else evenly(examples, most)


def quality(folder: Path, examples: Sequence[Example], thresholds: Thresholds | None = None) -> Row:
    """EM and BLEU-4 of a graph under its own thresholds or under others."""
    pipeline = load_pipeline(folder)
    if thresholds is not None:
        pipeline = replace(pipeline, config=replace(pipeline.config, thresholds=thresholds))
    rewriter = Rewriter.of(pipeline)
    results = checked(rewriter.rewrite_batch([example.dialogue for example in examples]))
    metrics = score(examples, [result.text for result in results]).metrics
    return {"examples": len(examples), **{name: round(metrics[name], 2) for name in METRICS}}


def _held_out(subject: Subject) -> float | None:
    """The share of the validation part that the bundled models of the language were chosen by, if they learned from
    the rest of it.
    """
    from urewrite.training.settings import load_settings

    settings = load_settings(CONFIGS / f"{subject.language}.yaml").data
    return settings.held_out if f"{subject.corpus}:validation" in settings.corpus else None


def folder_size(folder: Path) -> int:
    """Bytes of what a model folder needs."""
    return sum((folder / name).stat().st_size for name in FILES if (folder / name).is_file())
