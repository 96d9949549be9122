"""Trainings as real processes, started as a user starts them; or in this process, which has loaded what takes long."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from contextlib import redirect_stderr
from pathlib import Path
from unittest import mock

import yaml


def written(folder: Path, document: object) -> Path:
    path = folder / "settings.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), encoding="utf-8")
    return path


def start(*arguments: object, program: Path | None = None, **options: object) -> subprocess.Popen[str]:
    """The command `urewrite`, or a program that stands in for it."""
    given = ("-m", "urewrite") if program is None else (program,)
    command = [sys.executable, "-W", "ignore", *map(str, (*given, *arguments))]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def here(*arguments: object, code: int = 0) -> str:
    """What the command `urewrite` says when it is run in this process and ends with this exit code."""
    import torch

    from urewrite.cli.main import main

    torch.set_num_threads(1)
    said = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["urewrite", *map(str, arguments)]),
        redirect_stderr(said),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            main()
            ended = 0
        except SystemExit as error:
            ended = error.code if isinstance(error.code, int) else int(error.code is not None)
    assert ended == code, said.getvalue()
    return said.getvalue()


def finished(process: subprocess.Popen[str], code: int = 0) -> str:
    """What a process said once it has ended with this exit code."""
    _, messages = process.communicate(timeout=300)
    assert process.returncode == code, messages
    return messages
