"""The package as it is shipped: what the wheel holds, and that it works where only it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling", reason="the wheel is built with hatchling, which the extra dev brings")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {"urewrite/__init__.py", "urewrite/py.typed", "urewrite/edits/grid.py"} <= set(names)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"urewrite"}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_installed_wheel_runs(wheel, tmp_path):
    target = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    code = "import urewrite; from urewrite.cli.main import main; print(urewrite.__file__, flush=True); main()"
    result = subprocess.run(
        [sys.executable, "-c", code, "edits", "-H", "Kobe", "he left", "Kobe left"],
        env={**os.environ, "PYTHONPATH": str(target)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.startswith(str(target))
    assert "'he' gives way to 'Kobe'" in result.stdout
