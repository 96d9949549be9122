"""The speed of the bundled models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.tables.layout import ROOT, part_table, ranged, results, table

SPEED_COMMAND = "python benchmarks/speed.py"
SPEED_FORMS = {"shipped": "as shipped", "float32": "float32", "torch": "PyTorch eager"}
SPEED_PLOT = "images/speed-growth.png"


def speed_table(part: str, header: Sequence[str], rows_of: Callable[[Any], Sequence[Sequence[object]]]) -> str:
    return part_table("speed", part, header, rows_of, SPEED_COMMAND)


def speed_machine() -> str:
    def rows(found: Any) -> list[list[object]]:
        peaks = found.get("throughput", {}).get("peak GFLOP/s", {})
        known: list[list[object]] = [[name, value] for name, value in found["machine"].items()]
        known += [[f"matrix product, {library}, GFLOP/s", ranged(peak)] for library, peak in peaks.items()]
        for measure, figures in found["authors"].items():
            known += [[f"authors' code, {corpus.upper()}, {measure}", figure] for corpus, figure in figures.items()]
        return known

    return speed_table("machine", ["", ""], rows)


def speed_latency() -> str:
    def row_of(row: dict[str, Any], found: Any) -> list[object]:
        shipped = row["kind"] == "shipped"
        median = row["p50 ms"]["median"]
        target = found["targets"]["p50 ms"].get(row["model"]) if shipped else None
        authors = found["authors"]["p50 ms"].get(row["corpus"])
        return [
            row["model"],
            SPEED_FORMS[row["kind"]],
            f"{row['corpus'].upper()} ({row['dialogues']:,})",
            *(ranged(row[name], 2) for name in ("p50 ms", "p95 ms", "mean ms")),
            target,
            target and f"{median / target:.2f}",
            authors and f"{authors / median:.1f}",
            ranged(row.get("times PyTorch"), 2),
        ]

    header = ["model", "form", "test part", "p50 ms", "p95 ms", "mean ms", "target", "p50 / target"]
    header += ["authors' code / p50", "PyTorch eager / p50"]
    return speed_table("latency", header, lambda found: [row_of(row, found) for row in found["latency"]["rows"]])


def speed_throughput() -> str:
    def row_of(row: dict[str, Any], found: Any) -> list[object]:
        rate = row["dialogues a second"]["median"]
        target = found["targets"]["dialogues a second"].get(row["model"]) if row["kind"] == "shipped" else None
        authors = found["authors"]["dialogues a second"].get(row["corpus"])
        return [
            row["model"],
            SPEED_FORMS[row["kind"]],
            f"{row['corpus'].upper()} ({row['dialogues']:,})",
            ranged(row["dialogues a second"]),
            target,
            authors and f"{rate / authors:.1f}",
            ranged(row.get("times PyTorch"), 2),
        ]

    header = ["model", "form", "test part", "dialogues a second", "target", "/ authors' code", "/ PyTorch eager"]
    return speed_table("throughput", header, lambda found: [row_of(row, found) for row in found["throughput"]["rows"]])


def speed_peak() -> str:
    def rows(found: Any) -> list[list[object]]:
        return [
            [
                row["model"],
                SPEED_FORMS[row["kind"]],
                row["MFLOP a dialogue, unpadded"],
                row["MFLOP a dialogue"],
                ", ".join(f"{kind} {share}" for kind, share in row["of these by node %"].items()),
                row["padded cells for each real one"],
                ranged(row["unpadded, share of the peak %"]),
                ranged(row["share of the peak %"]),
                ranged(row["graph alone, share of the peak %"]),
                found["targets"]["share of the peak %"],
            ]
            for row in found["throughput"]["rows"]
            if "MFLOP a dialogue" in row
        ]

    header = ["model", "form", "MFLOP a dialogue", "padded", "of these in %", "cells, padded / real"]
    header += ["of the peak %", "padding counted %", "graph alone %", "target %"]
    return speed_table("throughput", header, rows)


def speed_precision() -> str:
    def timed(found: Any, part: str, row: dict[str, Any], measure: str, decimals: int) -> str | None:
        rows = found.get(part, {}).get("rows", ())
        same = [one for one in rows if (one["model"], one["kind"]) == (row["model"], row["kind"])]
        return ranged(same[0][measure], decimals) if same else None

    def lost(found: Any, row: dict[str, Any]) -> str | None:
        """Points of EM below float32, on the validation and the test part."""
        whole = [one for one in found["precision"]["rows"] if one["model"] == row["model"] and one["kind"] == "float32"]
        if row["kind"] != "shipped" or not whole:
            return None
        return ", ".join(f"{whole[0][part]['em'] - row[part]['em']:+.2f}" for part in ("validation", "test"))

    def rows(found: Any) -> list[list[object]]:
        return [
            [
                row["model"],
                SPEED_FORMS[row["kind"]] + (", unpacked from 8 bits" if row["dequantised"] else ""),
                row["graph MB"],
                row["folder MB"],
                timed(found, "latency", row, "p50 ms", 2),
                timed(found, "throughput", row, "dialogues a second", 1),
                ", ".join(f"{row[part]['examples']:,}" for part in ("validation", "test")),
                *(f"{row[part][metric]:.2f}" for part in ("validation", "test") for metric in ("em", "bleu4")),
                lost(found, row),
                found["targets"]["lost EM"] if row["kind"] == "shipped" else None,
            ]
            for row in found["precision"]["rows"]
        ]

    header = ["model", "form", "graph MB", "folder MB", "p50 ms", "dialogues a second", "judged by"]
    return speed_table("precision", [*header, "validation EM", "B4", "test EM", "B4", "EM lost", "at most"], rows)


def rounding() -> str:
    """What 8 bits cost beside the weights as they were trained."""
    rows: list[list[object]] = []
    for model, row in results("rounding").items():
        for part in ("validation", "test"):
            trained, shipped = row["trained"][part], row["shipped"][part]
            figures = [f"{trained[metric]:.2f} → {shipped[metric]:.2f}" for metric in ("em", "bleu4")]
            lost = f"{trained['em'] - shipped['em']:+.2f}"
            rows.append(
                [
                    model,
                    f"{row['corpus']}:{part}",
                    f"{shipped['examples']:,}",
                    *figures,
                    lost,
                    results("speed")["targets"]["lost EM"],
                ]
            )
    return table(
        ["model", "part", "judged by", "EM", "B4", "EM lost", "at most"], rows, "python benchmarks/rounding.py"
    )


def speed_growth() -> str:
    def rows(found: Any) -> list[list[object]]:
        return [
            [
                row["model"],
                f"{row['tokens']:,}",
                row["window"],
                f"{row['turns used']:,} of {row['turns']:,}" if "ms" in row else "longer than the encoder reads",
                f"{row['rows']:,}",
                f"{row['cells']:,}",
                *(ranged(row.get(measure)) for measure in ("ms", "peak MB", "added MB")),
            ]
            for row in found["growth"]["rows"]
        ]

    header = ["model", "history, tokens", "window", "turns used", "rows", "cells", "ms", "peak MB", "of these added MB"]
    return speed_table("growth", header, rows)


def speed_exponents() -> str:
    def rows(found: Any) -> list[list[object]]:
        return [
            [
                row["model"],
                row["window"],
                row["sizes"],
                *(
                    f"{row[measure][how]:.2f}" if measure in row else None
                    for measure in ("ms", "added MB")
                    for how in ("fitted", "steepest")
                ),
                found["targets"]["exponent"],
            ]
            for row in found["growth"]["exponents"]
        ]

    header = ["model", "window", "sizes", "time", "steepest step", "memory added", "steepest step", "at most"]
    return speed_table("growth", header, rows)


def speed_plot() -> str:
    if not (ROOT / "docs" / SPEED_PLOT).is_file():
        return f"None drawn yet. `{SPEED_COMMAND}` draws it.\n"
    return f"![Time and memory of a rewrite over the cells of its grid]({SPEED_PLOT})\n"


def speed_shares() -> str:
    def rows(found: Any) -> list[list[object]]:
        return [
            [
                row["model"],
                row["how"],
                *(f"{share['median']:.1f}" for share in row["steps %"].values()),
                ranged(row["tokenising and decoding %"]),
                ranged(row["by the clock %"]),
                found["targets"]["tokenising and decoding %"],
            ]
            for row in found["shares"]["rows"]
        ]

    steps = ["laying out", "preparing", "collating", "graph", "deciding", "rest"]
    return speed_table("shares", ["model", "%", *steps, "tokenising and decoding", "by the clock", "at most"], rows)


def speed_start() -> str:
    def rows(found: Any) -> list[list[object]]:
        measured, targets = found["start"], found["targets"]
        known: list[list[object]] = [["`python -c pass`", ranged(measured["python alone, seconds"], 2), None]]
        for module, taken in measured["import, seconds"].items():
            known.append([f"`import {module}`, by itself", ranged(taken, 2), targets["import, seconds"]])
        for model, taken in measured["urewrite rewrite, seconds"].items():
            name = f"`urewrite rewrite --model {model}`"
            known.append([name, ranged(taken, 2), targets["urewrite rewrite, seconds"]])
        return known

    return speed_table("start", ["", "seconds", "at most"], rows)


TABLES = (
    speed_machine,
    speed_latency,
    speed_throughput,
    speed_peak,
    speed_precision,
    rounding,
    speed_growth,
    speed_exponents,
    speed_plot,
    speed_shares,
    speed_start,
)
