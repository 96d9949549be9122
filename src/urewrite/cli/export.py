"""`urewrite export`: a trained model as a folder to hand on, which needs no torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.output import JsonFlag, print_json, say
from urewrite.errors import BadInputError, UrewriteError
from urewrite.files import naming_disk_errors, same_place


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a training run.")],
    output: Annotated[Path, typer.Option("--output", metavar="DIR", help="The folder to write.")],
    eight_bit: Annotated[bool, typer.Option("--int8", help="Matrices in 8 bits: about a quarter of the size.")] = False,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the model calls itself (default: the run's name).")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a model folder that `urewrite rewrite --model DIR` runs, with checksums.

    Example: urewrite export runs/rewrite --output models/zh --int8
    """
    if same_place(run, output):
        raise BadInputError("is the run itself: name another folder with --output", file=output)
    try:
        from urewrite.training.export import export as write_folder
        from urewrite.training.weights import load_model
    except ImportError as error:
        raise UrewriteError(f"an export needs the extra 'train': pip install 'urewrite[train]' ({error})") from error
    from urewrite.bundle import CARD, FILES, read_config

    model = load_model(run)
    with naming_disk_errors(output):
        write_folder(model, output, eight_bit=eight_bit, name=name, card=run / CARD)
        size = sum((output / file).stat().st_size for file in FILES if (output / file).is_file())
    say(f"{size / 1e6:.1f} MB written to {output}")
    if as_json:
        print_json({"folder": str(output), "name": read_config(output).name, "bytes": size})
