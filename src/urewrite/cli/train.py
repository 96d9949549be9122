"""`urewrite train`: one training run from a settings file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.options import MirrorOption
from urewrite.cli.output import JsonFlag, print_json, say
from urewrite.errors import UrewriteError


class Strategy(str, Enum):
    """Lightning's names for the ways that make sense on processors."""

    auto = "auto"
    ddp = "ddp"


FolderOption = Annotated[
    Path | None, typer.Option("--folder", metavar="DIR", help="Where the run goes (default: runs/NAME).")
]
MinutesOption = Annotated[
    float | None, typer.Option(min=0, help="Stop after so many minutes, with a checkpoint to go on from.")
]
DevicesOption = Annotated[int, typer.Option(min=1, help="Processes that share the work.")]
StrategyOption = Annotated[
    Strategy, typer.Option(help="How processes work together: 'auto' is one alone, or ddp for several.")
]


def train(
    settings_file: Annotated[Path, typer.Argument(metavar="CONFIG", help="The settings of the training, as YAML.")],
    folder: FolderOption = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, such as optimiser.epochs=10; repeatable."),
    ] = None,
    max_minutes: MinutesOption = None,
    devices: DevicesOption = 1,
    strategy: StrategyOption = Strategy.auto,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Train a network; the same command again goes on where the run stopped.

    Example: urewrite train configs/rewrite-lexicon.yaml --max-minutes 60
    """
    run_training(
        settings_file,
        changes=changes or (),
        folder=folder,
        max_minutes=max_minutes,
        devices=devices,
        strategy=strategy,
        mirror=mirror,
        as_json=as_json,
    )


def run_training(
    given: Path | Mapping[str, object],
    *,
    folder: Path | None,
    max_minutes: float | None,
    devices: int,
    strategy: Strategy,
    mirror: Path | None,
    as_json: bool,
    changes: Sequence[str] = (),
) -> None:
    """Train by a settings file or by settings already put together."""
    try:
        from lightning.pytorch.utilities import rank_zero_only

        from urewrite.training.fit import train as fit
        from urewrite.training.settings import check_settings, load_settings
    except ImportError as error:
        raise UrewriteError(f"training needs the extra 'train': pip install 'urewrite[train]' ({error})") from error
    settings = load_settings(given, changes) if isinstance(given, Path) else check_settings(given)
    run = folder or Path("runs") / settings.name
    with redirect_stdout(sys.stderr):  # where Lightning draws its progress
        fit(
            settings,
            run,
            max_minutes=max_minutes,
            devices=devices,
            strategy=strategy.value,
            mirror=mirror,
            notify=say,
        )
    if as_json:
        rank_zero_only(print_json)({"folder": str(run)})  # of several processes one speaks
