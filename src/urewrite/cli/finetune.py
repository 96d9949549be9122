"""`urewrite finetune`: go on training a model with one's own examples."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from urewrite.cli.options import MirrorOption
from urewrite.cli.output import JsonFlag
from urewrite.cli.train import DevicesOption, FolderOption, MinutesOption, Strategy, StrategyOption, run_training
from urewrite.corpora.catalogue import example_file
from urewrite.errors import BadInputError


def finetune(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A bundled model, or the folder of a trained one.")],
    examples: Annotated[
        str, typer.Argument(metavar="EXAMPLES", help="A .jsonl file with history, utterance and rewrite on each line.")
    ],
    validation: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Examples to choose by (default: a tenth of the dialogues is kept back)."),
    ] = None,
    folder: FolderOption = None,
    epochs: Annotated[int, typer.Option(min=1, help="How often to go through the examples.")] = 5,
    learning_rate: Annotated[float, typer.Option(help="Of the layers above the encoder, at its highest.")] = 5e-4,
    encoder_learning_rate: Annotated[float, typer.Option(help="Of a pretrained encoder, at its highest.")] = 5e-5,
    batch_size: Annotated[int, typer.Option(min=1, help="Dialogues of one step.")] = 32,
    seed: Annotated[int, typer.Option(min=0, help="Seed of order and dropout.")] = 1,
    max_minutes: MinutesOption = None,
    devices: DevicesOption = 1,
    strategy: StrategyOption = Strategy.auto,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fine-tune a model on your own examples; the same command again goes on where it stopped.

    The model keeps its connection words; words it has not seen are added to its vocabulary.

    Example: urewrite finetune zh-fast my-dialogues.jsonl --folder runs/mine
    """
    from urewrite.bundle import read_config
    from urewrite.pretrained import to_learn_from

    config = read_config(to_learn_from(model))
    file = example_file(examples)
    if file is None:
        raise BadInputError(f"expected a .jsonl file of examples, found the name of a corpus: {examples}")
    document = {
        "name": re.sub(r"[^A-Za-z0-9._-]+", "_", f"{config.name}-{file.name.partition('.')[0]}"),
        "seed": seed,
        "data": {
            "corpus": [examples],
            "validation": validation,
            "connection_words": len(config.connection_words),
            "most_rows": config.most_rows,
        },
        "start": {"model": model},
        "network": dict(config.network),
        "optimiser": {
            "batch_size": batch_size,
            "learning_rate": learning_rate,
            "encoder_learning_rate": encoder_learning_rate,
            "schedule": "cosine",
            "epochs": epochs,
            "patience": epochs,
        },
    }
    run_training(
        document,
        folder=folder,
        max_minutes=max_minutes,
        devices=devices,
        strategy=strategy,
        mirror=mirror,
        as_json=as_json,
    )
