"""Choose the thresholds and the confidence of committed runs anew, on the validation parts they were chosen by.

python benchmarks/retune.py NAME [NAME ...]    (UREWRITE_DATA names the corpora)

For when decoding has changed. A run whose model is bundled is judged by the bundled graph, which is what people use.
Writes the configuration, metrics and card of runs/NAME, and configuration and card of the bundled model. Then evaluate
again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from urewrite.bundle import CARD, write_checksums, write_model
from urewrite.files import atomic_writer
from urewrite.rewriter import load_pipeline
from urewrite.training.data import load_examples
from urewrite.training.predict import pipeline_of
from urewrite.training.report import card_to_hand_on, report_tuned
from urewrite.training.settings import load_settings
from urewrite.training.tune import tuned
from urewrite.training.weights import load_model

ROOT = Path(__file__).parents[1]
RUNS, MODELS = ROOT / "runs", ROOT / "src" / "urewrite" / "models"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", nargs="+", help="a folder of runs/")
    for name in parser.parse_args().name:
        retune(name)


def retune(name: str) -> None:
    run, bundled = RUNS / name, MODELS / name
    settings = load_settings(run / "settings.yaml")
    examples = load_examples(settings.data, seed=settings.seed, mirror=None, notify=lambda _: None).validation
    pipeline = load_pipeline(bundled) if bundled.is_dir() else pipeline_of(load_model(run))
    config, metrics = tuned(pipeline, examples, settings.optimiser.monitor)
    write_model(run, config, pipeline.preparer)
    report_tuned(run, settings, config, metrics)
    if bundled.is_dir():
        write_model(bundled, config, pipeline.preparer)
        with atomic_writer(bundled / CARD) as stream:
            stream.write(card_to_hand_on((run / CARD).read_text(encoding="utf-8")))
        write_checksums(bundled)
    print(name, config.thresholds, {key: round(metrics[key], 2) for key in ("em", "bleu4", "f1", "f3")})


if __name__ == "__main__":
    main()
