"""Count anew what committed runs learned from, and write it into their configurations and cards.

python benchmarks/recount.py NAME [NAME ...]    (UREWRITE_DATA names the corpora)

Of each source only the examples that were really learned from count: with `data.only_exact` those whose grid decodes to
the rewrite, and never those without a history. A model that went on from another one also learned from what that had:
count the other one first.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.committed_runs import RUNS, examples_of, settings_of, write_again

from urewrite.bundle import read_config
from urewrite.pretrained import to_learn_from
from urewrite.training.data import derive_gold
from urewrite.training.report import METRICS_FILE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("name", nargs="+", help="a folder of runs/")
    for name in parser.parse_args().name:
        recount(name)


def recount(name: str) -> None:
    settings, config = settings_of(name), read_config(RUNS / name)
    examples = examples_of(settings)
    gold = derive_gold(examples.train, config.connection_words, settings.data, lambda given: given)
    learned_from = gold.to_learn_from(only_exact=settings.data.only_exact).examples
    start = settings.start.model
    before = () if start is None else read_config(to_learn_from(start)).trained_on
    config = replace(config, trained_on=tuple(dict.fromkeys((*before, *examples.described(learned_from)))))
    metrics = json.loads((RUNS / name / METRICS_FILE).read_text(encoding="utf-8"))
    write_again(name, config, metrics["tuned"])
    print(name, *config.trained_on, sep="\n  ")


if __name__ == "__main__":
    main()
