"""Where the time of training goes: steps a second, the epoch this makes, shares by operation, and peak memory.

python benchmarks/training_speed.py --data DIR    (or with UREWRITE_DATA set; nothing else should be running)
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import time
from pathlib import Path

import lightning
import torch
from torch.profiler import ProfilerActivity, profile

from urewrite.edits.connection import derive_connection_words
from urewrite.files import atomic_writer
from urewrite.training.batches import BucketedBatches, LabelledBatch, labelled_batch
from urewrite.training.data import derive_gold, load_examples
from urewrite.training.loss import grid_loss
from urewrite.training.settings import load_settings
from urewrite.training.weights import new_model

RESULTS = Path(__file__).parent / "results" / "training_speed.json"
CONFIG = Path(__file__).parents[1] / "configs" / "rewrite-lexicon.yaml"
STEPS = 100
PROFILED = 10
SHOWN = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with the corpora (default: UREWRITE_DATA, then the cache)")
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8192")  # as `urewrite train` does
    settings = load_settings(CONFIG)
    lightning.seed_everything(settings.seed, verbose=False)
    examples = load_examples(settings.data, seed=1, mirror=parser.parse_args().data, notify=print)
    words = derive_connection_words(examples.train, settings.data.connection_words)
    started = time.perf_counter()
    gold = derive_gold(examples.train, words, settings.data, lambda given: given)
    gold_seconds = time.perf_counter() - started
    model = new_model(settings, words, gold.axes, (), print)
    items = gold.labelled(model.preparer)
    batches = BucketedBatches(items, settings.optimiser.batch_size, seed=1, steps=lambda: 0)
    order = batches.order(0)  # shuffled, so any stretch of it is a fair sample
    network = model.network.train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.optimiser.learning_rate, fused=True)
    weights = torch.tensor(settings.optimiser.class_weights)

    def step(batch: LabelledBatch) -> None:
        optimiser.zero_grad()
        grid_loss(network(batch.inputs), batch.labels, weights).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.optimiser.clip)
        optimiser.step()

    taken = []
    cells = real = 0
    for number, positions in enumerate(order[: 20 + STEPS]):
        start = time.perf_counter()
        batch = labelled_batch([items[position] for position in positions], positions)
        step(batch)
        if number >= 20:
            taken.append(time.perf_counter() - start)
            cells += batch.labels.numel()
            real += int((batch.labels >= 0).sum())
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for positions in order[-PROFILED:]:
            step(labelled_batch([items[position] for position in positions], positions))
    events = sorted(profiled.key_averages(), key=lambda event: -event.self_cpu_time_total)
    total = sum(event.self_cpu_time_total for event in events)
    mean = statistics.mean(taken)
    results = {
        "config": CONFIG.name,
        "threads": torch.get_num_threads(),
        "examples": len(items),
        "gold grids, seconds": round(gold_seconds, 1),
        "steps measured": len(taken),
        "steps a second": round(1 / mean, 2),
        "epoch, minutes": round(mean * len(order) / 60, 2),
        "padded cells for each real one": round(cells / real, 2),
        "parameters": sum(p.numel() for p in network.parameters()),
        "peak memory, GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 2),
        "shares of the time, %": {
            event.key: round(100 * event.self_cpu_time_total / total, 1) for event in events[:SHOWN]
        },
    }
    print(json.dumps(results, indent=2))
    with atomic_writer(RESULTS) as stream:
        json.dump(results, stream, indent=2)
        stream.write("\n")


if __name__ == "__main__":
    main()
