"""Trainings as real processes, started as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def finished(process: subprocess.Popen[str], code: int = 0) -> str:
    """What a process said once it has ended with this exit code."""
    _, messages = process.communicate(timeout=300)
    assert process.returncode == code, messages
    return messages
