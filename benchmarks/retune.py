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

from benchmarks.committed_runs import examples_of, pipeline_of_run, settings_of, write_again

from urewrite.training.tune import tuned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", nargs="+", help="a folder of runs/")
    for name in parser.parse_args().name:
        retune(name)


def retune(name: str) -> None:
    settings = settings_of(name)
    pipeline = pipeline_of_run(name)
    examples = examples_of(settings)
    config, metrics = tuned(pipeline, examples.validation, settings.optimiser.monitor, examples.left_alone)
    write_again(name, config, metrics)
    print(name, config.thresholds, {key: round(metrics[key], 2) for key in ("em", "bleu4", "f1", "f3")})


if __name__ == "__main__":
    main()
