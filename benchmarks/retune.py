"""Choose the thresholds and the confidence of committed runs anew, on the validation parts they were chosen by.

python benchmarks/retune.py NAME [NAME ...]    (UREWRITE_DATA names the corpora)

For when decoding has changed. A run whose model is bundled is judged by the bundled graph, which is what people use.
Writes the configuration, metrics and card of runs/NAME, and configuration and card of the bundled model. Then evaluate
again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.committed_runs import MODELS, RUNS, chosen_by, pipeline_of_run, settings_of

from urewrite.bundle import CARD, write_checksums, write_model
from urewrite.files import atomic_writer
from urewrite.training.report import card_to_hand_on, report_tuned
from urewrite.training.tune import tuned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", nargs="+", help="a folder of runs/")
    for name in parser.parse_args().name:
        retune(name)


def retune(name: str) -> None:
    run, bundled = RUNS / name, MODELS / name
    settings = settings_of(name)
    pipeline = pipeline_of_run(name)
    config, metrics = tuned(pipeline, chosen_by(settings), settings.optimiser.monitor)
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
