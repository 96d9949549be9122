"""The bundled models: quality, size, leaving alone, guarantees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.tables.layout import RESULTS, ROOT, part_table, ranged, results, table
from benchmarks.tables.speed import SPEED_COMMAND

from urewrite.bundle import CHECKSUMS, GRAPH
from urewrite.pretrained import MODELS, bundled

LEAVING_ALONE = "python benchmarks/leaving_alone.py --model MODEL --corpus CORPUS"


def leaving_alone() -> str:
    """Both errors at the thresholds a model is shipped with."""
    rows = [
        [
            row["model"],
            f"{row['corpus'].upper()} {row['part']}",
            f"{row['needing none']:,}",
            row["shipped"]["wrongly changed %"],
            f"{row['examples'] - row['needing none']:,}",
            row["shipped"]["wrongly left %"],
            row["expected calibration error"],
        ]
        for row in results("leaving_alone")
    ]
    header = ["model", "", "need none", "wrongly changed %", "need rewriting", "wrongly left %", "calibration error"]
    return table(header, rows, LEAVING_ALONE)


def left_alone_made() -> str:
    """How many utterances are changed of those that were made to be left alone."""
    found = results("leaving_alone")
    header = ["model", "made of", *(f"{one['made']}, changed %" for one in found[0]["made"])]
    rows = [
        [
            row["model"],
            f"{row['corpus'].upper()} {row['part']}",
            *(f"{one['wrongly changed %']} of {one['examples']:,}" for one in row["made"]),
        ]
        for row in found
    ]
    return table(header, rows, LEAVING_ALONE)


def pleasantries() -> str:
    """How many utterances that are left alone by rule need rewriting."""
    rows = [
        [
            f"{row['corpus'].upper()} {row['part']}",
            f"{row['examples']:,}",
            row["pleasantries"],
            row["need rewriting"],
        ]
        for row in results("pleasantries")
    ]
    header = ["part", "examples", "greetings, thanks and farewells", "of these need rewriting"]
    return table(header, rows, "python benchmarks/pleasantries.py")


def guarantees() -> str:
    rows = [
        [
            row["model"],
            f"{row['dialogues']:,}",
            row["broken"],
            sum(row["failures"].values()),
            f"{row['reasons'].get('rewritten', 0):,}",
            _measured_graph(row),
        ]
        for row in results("guarantees")
    ]
    header = ["model", "hostile dialogues", "promises broken", "failures inside", "rewritten", "graph"]
    return table(header, rows, "python benchmarks/guarantees.py")


def graph_checksum(folder: Path) -> str | None:
    """The SHA-256 of a model's graph as its folder says, which loading it has verified; None if it says none."""
    path = folder / CHECKSUMS
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return next((digest for digest, _, name in (line.partition("  ") for line in lines) if name == GRAPH), None)


def _measured_graph(row: dict[str, Any]) -> str:
    """Whether a row is of the graph that is shipped."""
    if row["model"] not in bundled():
        return "not bundled"
    return "shipped" if row["graph"] == graph_checksum(MODELS / row["model"]) else "former graph"


def model_tradeoffs() -> str:
    """Every bundled model on every test part it was measured on: quality, size, latency."""
    latency: dict[tuple[str, str], str | None] = {}
    if (RESULTS / "speed.json").is_file():
        for row in results("speed").get("latency", {}).get("rows", ()):
            if row["kind"] == "shipped":
                latency[row["model"], row["corpus"]] = ranged(row["p50 ms"], 2)
    rows: list[list[object]] = []
    for name in bundled():
        size = sum(path.stat().st_size for path in (MODELS / name).iterdir()) / 1e6
        for path in sorted((ROOT / "runs" / name).glob("evaluation-*-test.json")):
            found = json.loads(path.read_text(encoding="utf-8"))
            quality = [f"{found['metrics'][metric]:.2f}" for metric in ("em", "bleu4", "rougeL", "f1")]
            fast = latency.get((name, found["corpus"]))
            rows.append([name, f"{size:.1f}", f"{found['corpus'].upper()} ({found['n']:,})", *quality, fast])
    header = ["model", "MB", "test part", "EM", "B4", "RL", "F1", "p50 ms, one thread"]
    return table(header, rows, "urewrite evaluate --model MODEL --corpus CORPUS --part test` and `" + SPEED_COMMAND)


def candidates() -> str:
    """What stood for choice, and what was chosen."""

    def rows(found: Any) -> list[list[object]]:
        return [
            [
                row["model"],
                f"**{row['candidate']}**" if row["candidate"] == "as shipped" else row["candidate"],
                row["run"],
                row["form"],
                f"{row['learned from']:,}",
                row["epochs"],
                row["folder MB"],
                ranged(row["p50 ms"], 2),
                f"{row['corpus'].upper()} ({row['validation']['examples']:,})",
                f"{row['validation']['em']:.2f}",
                f"{row['validation']['bleu4']:.2f}",
            ]
            for row in found["rows"]
        ]

    header = ["for", "candidate", "run", "form", "learned from", "epochs", "MB", "p50 ms, one thread"]
    header += ["validation part", "EM", "B4"]
    return part_table("candidates", "rows", header, rows, "python benchmarks/candidates.py")


TABLES = (leaving_alone, left_alone_made, pleasantries, guarantees, model_tradeoffs, candidates)
