"""Does a model know when not to rewrite, and how sure it may be? Both errors over the threshold, and calibration.

python benchmarks/leaving_alone.py --model NAME|DIR --corpus NAME [--part test]    (UREWRITE_DATA names the corpora)

Adds to results/leaving_alone.json and draws docs/images/leaving-alone-MODEL-CORPUS.png. An utterance whose gold rewrite
is the utterance itself needs none; changing it is one error, leaving alone one that needs rewriting is the other. What
corpora hold few of is made of their test parts as trainings make it of others: rewrites as utterances after their own
history and after that of another dialogue, greetings and the like.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np

from urewrite.bundle import ModelConfig
from urewrite.corpora import load_corpus
from urewrite.decide import Wish, decide, without_network
from urewrite.dialogue import Example
from urewrite.files import atomic_writer
from urewrite.pipeline import Judged, Pipeline, judge_dialogues
from urewrite.pretrained import resolve
from urewrite.rewrite import Rewrite
from urewrite.rewriter import load_pipeline
from urewrite.tokens import tokenize
from urewrite.training.unchanged import already_rewritten, pleasantries, topic_changes

mpl.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "leaving_alone.json"
IMAGES = HERE.parent / "docs" / "images"
THRESHOLDS = [round(step / 20, 2) for step in range(21)]
BINS = 10
ENOUGH = 1000
MADE: tuple[tuple[str, Callable[[Sequence[Example], float, random.Random], list[Example]]], ...] = (
    ("own rewrites", already_rewritten),
    ("changes of topic", topic_changes),
    ("greetings and the like", pleasantries),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--part", default="test")
    arguments = parser.parse_args()
    examples = load_corpus(arguments.corpus, arguments.part)
    pipeline = load_pipeline(resolve(arguments.model))
    judged = judge_dialogues(pipeline, [example.dialogue for example in examples])
    model = Path(arguments.model).name
    row = {
        "model": model,
        "corpus": arguments.corpus,
        "part": arguments.part,
        "examples": len(examples),
        "needing none": sum(map(needs_none, examples)),
        "shipped": errors(examples, outcomes(pipeline.config, judged, Wish())),
        "curve": [
            {"threshold": one, **errors(examples, outcomes(pipeline.config, judged, Wish(threshold=one)))}
            for one in THRESHOLDS
        ],
        **reliability(examples, outcomes(pipeline.config, judged, Wish())),
        "made": [made_row(what, make(examples, share(examples), random.Random(what)), pipeline) for what, make in MADE],
    }
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else []
    same = ("model", "corpus", "part")
    kept = [other for other in kept if any(other[key] != row[key] for key in same)] + [row]
    with atomic_writer(RESULTS) as stream:
        json.dump(sorted(kept, key=lambda one: [one[key] for key in same]), stream, indent=1)
        stream.write("\n")
    draw(row, IMAGES / f"leaving-alone-{model}-{arguments.corpus}.png")


def share(examples: Sequence[Example]) -> float:
    """Which part of the examples is enough to be made into others."""
    return min(1.0, ENOUGH / len(examples))


def made_row(what: str, examples: Sequence[Example], pipeline: Pipeline) -> dict[str, object]:
    """How many of these, all of which are to be left alone, are changed."""
    judged = judge_dialogues(pipeline, [example.dialogue for example in examples])
    changed = [result.changed for result in outcomes(pipeline.config, judged, Wish())]
    return {"made": what, "examples": len(examples), "wrongly changed %": round(100 * float(np.mean(changed)), 2)}


def needs_none(example: Example) -> bool:
    return tokenize(example.rewrite).keys == tokenize(example.dialogue.utterance).keys


def outcomes(config: ModelConfig, judged: Sequence[Judged], wish: Wish) -> list[Rewrite]:
    return [without_network(config, one.axes, wish) or decide(config, one, wish) for one in judged]


def errors(examples: Sequence[Example], results: Sequence[Rewrite]) -> dict[str, float | None]:
    changed = np.array([result.changed for result in results])
    alone = np.array([needs_none(example) for example in examples])
    return {
        "wrongly changed %": round(100 * float(changed[alone].mean()), 2) if alone.any() else None,
        "wrongly left %": round(100 * float((~changed)[~alone].mean()), 2) if (~alone).any() else None,
    }


def reliability(examples: Sequence[Example], results: Sequence[Rewrite]) -> dict[str, object]:
    """Confidence against the share that is right, in bins of like confidence, and the mean difference of the two.

    What was left alone by rule has no confidence and does not count.
    """
    told = [
        (result.confidence, tokenize(result.text).keys == tokenize(example.rewrite).keys)
        for result, example in zip(results, examples, strict=True)
        if result.confidence is not None
    ]
    sure, right = np.array([one for one, _ in told]), np.array([one for _, one in told])
    bins = np.clip((sure * BINS).astype(int), 0, BINS - 1)
    table = [
        {
            "confidence": round(float(sure[bins == one].mean()), 3),
            "right": round(float(right[bins == one].mean()), 3),
            "examples": int((bins == one).sum()),
        }
        for one in range(BINS)
        if (bins == one).any()
    ]
    apart = sum(abs(one["confidence"] - one["right"]) * one["examples"] for one in table) / len(told)
    return {"reliability": table, "expected calibration error": round(apart, 4)}


def draw(row: dict[str, object], path: Path) -> None:
    curve, table, shipped = row["curve"], row["reliability"], row["shipped"]
    assert isinstance(curve, list)
    assert isinstance(table, list)
    assert isinstance(shipped, dict)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name in ("wrongly changed %", "wrongly left %"):
        values = [np.nan if one[name] is None else one[name] for one in curve]
        (line,) = left.plot(THRESHOLDS, values, label=name)
        if shipped[name] is not None:
            left.axhline(shipped[name], color=line.get_color(), linestyle=":", linewidth=1)
    left.set(xlabel="threshold", ylabel="%", ylim=(0, 100), title=f"{row['model']} on {row['corpus']} {row['part']}")
    left.legend(title="dotted: as shipped")
    right.plot([0, 1], [0, 1], color="grey", linewidth=1)
    right.plot([one["confidence"] for one in table], [one["right"] for one in table], marker="o")
    right.set(xlabel="confidence", ylabel="share that is right", xlim=(0, 1), ylim=(0, 1))
    right.set_title(f"calibration error {row['expected calibration error']}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
