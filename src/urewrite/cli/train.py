"""`urewrite train`: one training run from a settings file."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.options import MirrorOption
from urewrite.cli.output import JsonFlag, print_json, say
from urewrite.errors import UrewriteError


def train(
    settings_file: Annotated[Path, typer.Argument(metavar="CONFIG", help="The settings of the training, as YAML.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="Where the run goes (default: runs/NAME).")
    ] = None,
    max_minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after so many minutes, with a checkpoint to go on from.")
    ] = None,
    mirror: MirrorOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Train a network; the same command again goes on where the run stopped.

    Example: urewrite train configs/rewrite.yaml --max-minutes 60
    """
    try:
        from urewrite.training.fit import train as fit
        from urewrite.training.settings import load_settings
    except ImportError as error:
        raise UrewriteError(f"training needs the extra 'train': pip install 'urewrite[train]' ({error})") from error
    settings = load_settings(settings_file)
    run = folder or Path("runs") / settings.name
    with redirect_stdout(sys.stderr):  # where Lightning draws its progress
        fit(settings, run, max_minutes=max_minutes, mirror=mirror, notify=say)
    if as_json:
        print_json({"folder": str(run)})
