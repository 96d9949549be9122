"""The runtime without the workshop: a virtual environment that holds what `pip install urewrite` brings and no more."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import venv
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
WORKSHOP = ("torch", "transformers", "lightning", "onnx", "matplotlib", "safetensors", "scipy")

HISTORY = ["well now , do you know Oslo ?", "Sure ."]
DIALOGUES = {
    "en": (["Who wrote Dune?", "Frank Herbert wrote Dune."], "When was he born?"),
    "en-fast": (["Who wrote Dune?", "Frank Herbert wrote Dune."], "When was he born?"),
    "zh": (["你看过泰坦尼克号吗", "看过，很好看"], "谁导演的"),
    "zh-fast": (["你喜欢周杰伦吗", "喜欢"], "为什么喜欢他"),
}
WANTED = {"en": "Herbert", "en-fast": "Herbert", "zh": "泰坦尼克号", "zh-fast": "周杰伦"}


def _with_what_they_need(*names: str) -> set[str]:
    """Distributions and, link by link, those they require on this machine."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        found.add(name)
        for text in importlib.metadata.requires(name) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


@pytest.fixture(scope="module")
def light_python(tmp_path_factory):
    """An interpreter that finds the core's requirements, each linked to where it is installed, and nothing else."""
    folder = tmp_path_factory.mktemp("light")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    (site,) = folder.glob("**/site-packages")
    for name in _with_what_they_need("urewrite") - {"urewrite"}:
        files = importlib.metadata.files(name)
        assert files is not None
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            place = site / top
            source = Path(str(importlib.metadata.distribution(name).locate_file(top)))
            if not place.exists() and source.exists():
                place.symlink_to(source)
    (site / "urewrite.pth").write_text(str(SOURCE))
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def run(python, *arguments, **options):
    return subprocess.run([python, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def test_the_workshop_is_not_there(light_python):
    code = f"import importlib.util as u; print([name for name in {WORKSHOP!r} if u.find_spec(name)])"
    assert run(light_python, "-c", code).stdout.strip() == "[]"


def test_a_model_of_ones_own_is_loaded_and_used(light_python, toy_bundle):
    code = (
        "import sys; from urewrite import Rewriter\n"
        f"result = Rewriter.from_pretrained({str(toy_bundle)!r}).rewrite({HISTORY!r}, 'where is it now ?')\n"
        "print(result)"
    )
    result = run(light_python, "-W", "error", "-c", code)
    assert (result.stdout, result.stderr) == ("where is Oslo now ?\n", "")


@pytest.fixture(scope="module")
def rewritten_by_bundled(light_python):
    """What each bundled model makes of its dialogue there, all in one process."""
    code = (
        "import json; from urewrite import Rewriter\n"
        f"for name, dialogue in {DIALOGUES!a}.items():\n"
        "    print(json.dumps([name, Rewriter.from_pretrained(name).rewrite(*dialogue).to_record()]))"
    )
    result = run(light_python, "-W", "error", "-c", code)
    assert (result.returncode, result.stderr) == (0, "")
    return dict(map(json.loads, result.stdout.splitlines()))


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_bundled_model_rewrites(rewritten_by_bundled, name):
    result = rewritten_by_bundled[name]
    assert (result["model"], result["reason"]) == (name, "rewritten")
    assert WANTED[name] in result["text"]


def test_every_module_of_the_runtime_is_imported(light_python):
    """Only `network`, `training` and `serve` may need more."""
    modules = [
        ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for path in sorted(SOURCE.glob("urewrite/**/*.py"))
        if path.parts[-2] not in ("network", "training", "serve") and path.name != "__main__.py"
    ]
    code = f"import importlib\nfor name in {modules!r}: importlib.import_module(name)"
    result = run(light_python, "-c", code)
    assert (result.returncode, result.stderr) == (0, "")
