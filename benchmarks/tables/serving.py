"""The service under load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.tables.layout import part_table, ranged

SERVING_COMMAND = "python benchmarks/serving.py"


def serving_table(part: str, header: Sequence[str], rows_of: Callable[[Any], Sequence[Sequence[object]]]) -> str:
    return part_table("serving", part, header, lambda found: rows_of(found[part]), SERVING_COMMAND)


def serving_inside() -> str:
    """The service beside calls inside a process, on the same core."""

    def rows(found: Any) -> list[list[object]]:
        together = [row for row in found["rows"] if row["form"] == "together"]
        most = max(together, key=lambda row: row["answers a second"])
        alone = next(row for row in together if row["clients"] == 1)
        return [
            [
                "dialogues a second at saturation",
                ranged(found["inside"]["dialogues a second"]),
                f"{most['answers a second']} ({most['clients']} clients)",
                f"{found['saturated, % of inside']} %",
                "at least 60 %",
            ],
            [
                "p50 of one client, ms",
                ranged(found["inside"]["p50 ms"], 2),
                alone["p50 ms"],
                f"{found['one client, ms above inside']:+} ms",
                "at most +3 ms",
            ],
        ]

    return serving_table("clients", ["on one core", "inside a process", "over HTTP", "", "wanted"], rows)


def serving_clients() -> str:
    def rows(found: Any) -> list[list[object]]:
        return [
            [
                row["form"],
                row["clients"],
                *(row[name] for name in ("answers a second", "p50 ms", "p95 ms", "p99 ms")),
                statuses(row["statuses"]),
                row["swapped"],
                row["different"],
                row["memory MB"],
            ]
            for row in found["rows"]
        ]

    header = ["computed", "clients", "answers a second", "p50 ms", "p95 ms", "p99 ms", "statuses"]
    return serving_table("clients", [*header, "swapped", "wrong", "memory MB"], rows)


def serving_overload() -> str:
    def rows(found: Any) -> list[list[object]]:
        seconds = found["seconds"] / len(found["parts"])
        return [
            [
                f"{number * seconds:.0f}–{(number + 1) * seconds:.0f}",
                *(part[name] for name in ("answers a second", "p50 ms", "p95 ms", "p99 ms")),
                statuses(part["statuses"]),
                part["swapped"],
                part["different"],
                part["memory MB"],
            ]
            for number, part in enumerate(found["parts"])
        ]

    header = ["second", "answers a second", "p50 ms", "p95 ms", "p99 ms", "statuses", "swapped", "wrong", "memory MB"]
    return serving_table("overload", header, rows)


def serving_stopping() -> str:
    names = {"term": "SIGTERM to the service", "kill": "SIGKILL to one of two workers"}

    def rows(found: Any) -> list[list[object]]:
        return [
            [
                names[name],
                found["exit code"] if name == "term" else None,
                statuses(found[name]["statuses"]),
                found[name]["swapped"],
                found[name]["different"],
            ]
            for name in names
        ]

    return serving_table("stopping", ["under load", "exit code", "statuses", "swapped", "wrong"], rows)


def statuses(counted: Mapping[str, int]) -> str:
    """How many requests ended how; `refused` and `lost` never reached a worker, or lost it."""
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(counted.items()))


TABLES = (serving_inside, serving_clients, serving_overload, serving_stopping)
