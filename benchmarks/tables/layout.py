"""What all tables share: where results are, and how a table is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def is_measured(name: str) -> bool:
    return (RESULTS / f"{name}.json").is_file()


def table(header: Sequence[str], rows: Sequence[Sequence[object]], command: str) -> str:
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join("–" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + f"\n\nMeasured by `{command}`.\n"


def part_table(
    name: str,
    part: str,
    header: Sequence[str],
    rows_of: Callable[[Any], Sequence[Sequence[object]]],
    command: str,
) -> str:
    """A table of a part of a benchmark, or that it was not measured yet."""
    found = results(name) if is_measured(name) else {}
    if part not in found:
        return f"None measured yet. `{command}` writes the table.\n"
    return table(header, rows_of(found), command)


def ranged(measured: dict[str, float] | None, decimals: int = 1) -> str | None:
    """A median with the least and the most."""
    if measured is None:
        return None
    middle, least, most = (f"{measured[name]:,.{decimals}f}" for name in ("median", "least", "most"))
    return f"{middle} ({least}–{most})"
