"""Write the measured figures into the docs: every table between `<!-- table: NAME -->` and `<!-- /table -->`.

python benchmarks/publish.py            write the tables from benchmarks/results/*.json
python benchmarks/publish.py --check    only say whether they are up to date (exit code 1: they are not)
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the modules beside this one

from benchmarks.tables import corpora, models, runs, serving, speed
from benchmarks.tables.layout import ROOT

from urewrite.files import atomic_writer

TABLE = re.compile(r"(<!-- table: (?P<name>[a-z_]+) -->\n).*?(<!-- /table -->)", re.DOTALL)
TABLES: dict[str, Callable[[], str]] = {
    one.__name__: one for module in (corpora, runs, models, speed, serving) for one in module.TABLES
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the measured figures into the docs.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a table is out of date")
    check = parser.parse_args().check
    stale: list[str] = []
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        text = page.read_text(encoding="utf-8")
        written = TABLE.sub(lambda match: match[1] + "\n" + TABLES[match["name"]]() + "\n" + match[3], text)
        if written != text:
            stale.append(str(page.relative_to(ROOT)))
            if not check:
                with atomic_writer(page) as stream:
                    stream.write(written)
    if stale:
        print(("out of date: " if check else "written: ") + ", ".join(stale))
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
