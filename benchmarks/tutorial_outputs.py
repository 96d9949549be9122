"""Run what the docs tell people to run, and write down what came out.

python benchmarks/tutorial_outputs.py            write the outputs into the pages
python benchmarks/tutorial_outputs.py --check    only say whether they are up to date (exit code 1: they are not)

A block of bash or Python is run if a mark follows it: `<!-- run -->`, or `<!-- output -->` and `<!-- /output -->`,
between which its output is put. The marked blocks of a page are run in their order, each by itself, in one folder that
is empty at first; `pip install . && ` before a command is passed over, as the package is there. If one fails, its page
is left as it is.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from urewrite.files import atomic_writer

ROOT = Path(__file__).resolve().parents[1]
MARKED = re.compile(
    r"(?P<block>^```(?P<language>bash|python)\n(?P<code>(?:(?!```)[^\n]*\n)*)```\n\n)"
    r"(?:<!-- run -->|<!-- output -->\n.*?(?P<end>^<!-- /output -->))",
    re.DOTALL | re.MULTILINE,
)
LONGEST_SECONDS = 600
INSTALL = "pip install . && "


def with_outputs(page: str) -> str:
    """The page with what its marked blocks print now."""
    with tempfile.TemporaryDirectory() as folder:
        return MARKED.sub(lambda match: filled(match, Path(folder)), page)


def filled(match: re.Match[str], folder: Path) -> str:
    printed = run(match["language"], match["code"].removeprefix(INSTALL), folder)
    if match["end"] is None:
        return match[0]
    lines = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    if "```" in lines:
        raise SystemExit(f"a block cannot hold this output:\n{lines}")
    return f"{match['block']}<!-- output -->\n\n```text\n{lines}```\n\n{match['end']}"


def rounded(page: str) -> str:
    """With short decimals, for comparing: the last digits of a network's output differ from processor to processor."""
    return re.sub(r"\d+\.\d{5,}", lambda found: f"{float(found[0]):.2f}", page)


def run(language: str, code: str, folder: Path) -> str:
    """What a block prints, on stdout and stderr alike; with the `urewrite` and `python` of this interpreter."""
    command = ["bash", "-e", "-o", "pipefail", "-c", code] if language == "bash" else [sys.executable, "-c", code]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "HF_HUB_OFFLINE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=LONGEST_SECONDS,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"this failed with exit code {done.returncode}:\n{code}\n{done.stdout}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description="Write what commands print into the pages that show them.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if an output is out of date")
    parser.add_argument("pages", nargs="*", type=Path, help="the pages (default: README.md and all of docs)")
    given = parser.parse_args()
    stale: list[str] = []
    for page in given.pages or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        written = with_outputs(text)
        if rounded(written) != rounded(text):
            stale.append(os.path.relpath(page, ROOT))
            if not given.check:
                with atomic_writer(page) as stream:
                    stream.write(written)
    if stale:
        print(("out of date: " if given.check else "written: ") + ", ".join(stale))
    sys.exit(1 if given.check and stale else 0)


if __name__ == "__main__":
    main()
