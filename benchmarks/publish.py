"""Write the measured figures into the docs: every table between `<!-- table: NAME -->` and `<!-- /table -->`.

python benchmarks/publish.py            write the tables from benchmarks/results/*.json
python benchmarks/publish.py --check    only say whether they are up to date (exit code 1: they are not)
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from urewrite.files import atomic_writer
from urewrite.pretrained import MODELS, bundled

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
TABLE = re.compile(r"(<!-- table: (?P<name>[a-z_]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def table(header: Sequence[str], rows: Sequence[Sequence[object]], command: str) -> str:
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    lines += ["| " + " | ".join("–" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + f"\n\nMeasured by `{command}`.\n"


def ceiling() -> str:
    rows = [
        [
            row["corpus"].upper(),
            f"{row['n']:,}",
            row["exact"],
            row["paper exact"],
            row["bleu4"],
            row["paper bleu"],
            row["missing word"],
            row["order"],
        ]
        for row in results("ceiling")
    ]
    header = ["test part", "examples", "exact %", "paper", "BLEU-4", "paper", "a word is missing %", "order %"]
    return table(header, rows, "python benchmarks/ceiling.py")


def ceiling_steps() -> str:
    found = results("ceiling")
    steps = [step for step, share in found[0]["validation"].items() if isinstance(share, float)]
    rows = [[step, *(row["validation"][step] for row in found)] for step in steps]
    return table(["exact %", *(row["corpus"].upper() for row in found)], rows, "python benchmarks/ceiling.py")


def row_choices() -> str:
    found = results("ceiling")
    rows = [
        [choice, measure, *(row["validation"]["rows"][choice][measure] for row in found)]
        for choice, measures in found[0]["validation"]["rows"].items()
        for measure in measures
    ]
    return table(["rows", "", *(row["corpus"].upper() for row in found)], rows, "python benchmarks/ceiling.py")


def connection_words() -> str:
    rows = [
        [row["corpus"].upper(), " ".join(row["leading"]), " ".join(row["trailing"]), row["words_derived_from"]]
        for row in results("ceiling")
    ]
    return table(["corpus", "leading", "trailing", "derived from"], rows, "python benchmarks/ceiling.py")


def missing_words() -> str:
    rows = []
    for row in results("ceiling"):
        found = row["missing words"]
        listed = " ".join(f"`{word}`" for word in found["most often"])
        rows.append([row["corpus"].upper(), f"{found['examples']:,}", found["of these one word only, %"], listed])
    header = ["test part", "rewrites that lack a word", "only one %", "most often"]
    return table(header, rows, "python benchmarks/ceiling.py")


def corpus_stats() -> str:
    rows = []
    for row in results("corpus_stats"):
        lengths = row["tokens"]
        n = ", ".join(row["n"]) if isinstance(row["n"], list) else f"{row['n']:,}"
        rows.append(
            [f"{row['corpus'].upper()} {row['part']}", n, lengths["context"], lengths["utterance"], lengths["rewrite"]]
        )
    return table(["", "examples", "context", "utterance", "rewrite"], rows, "python benchmarks/corpus_stats.py")


def tokeniser() -> str:
    found = results("tokeniser_agreement")
    named = {
        "CANARD test, all texts": found["canard"]["all"],
        "CANARD test, question and rewrite": found["canard"]["question_and_rewrite"],
        "CANARD test, tokenised text split again": found["canard"]["tokenised_again"],
        "REWRITE, characters and runs": found["rewrite"]["characters_and_runs"],
        "REWRITE, jieba": found["rewrite"]["jieba"],
    }
    rows = [
        [
            name,
            f"{row['tokens']:,}",
            f"{100 * row['token_agreement']:.2f}",
            f"{row['lines']:,}",
            row["lines_that_differ"],
        ]
        for name, row in named.items()
    ]
    header = ["against", "tokens", "tokens that agree %", "texts", "texts that differ"]
    return table(header, rows, "python benchmarks/tokeniser_agreement.py")


def scoring() -> str:
    found = results("scoring")["copy"]
    metrics = ["em", "bleu1", "bleu2", "bleu4", "rouge1", "rouge2", "rougeL"]
    rows = [
        [f"{corpus.upper()}, {who}", *(f"{row[metric][key]:.2f}" if metric in row else None for metric in metrics)]
        for corpus, row in found.items()
        for who, key in (("authors' scorer", "authors"), ("urewrite", "ours"))
    ]
    header = ["Copy on the test part", "EM", "BLEU-1", "BLEU-2", "BLEU-4", "ROUGE-1", "ROUGE-2", "ROUGE-L"]
    return table(header, rows, "python benchmarks/scoring.py")


def scoring_speed() -> str:
    found = results("scoring")
    rows = list(found["seconds"].items())
    return table([f"{found['examples']:,} CANARD examples", "seconds"], rows, "python benchmarks/scoring.py")


def edits_speed() -> str:
    rows = []
    for corpus, row in results("edits").items():
        seconds, rate = row["deriving"]["seconds"], row["decoding"]["grids a second"]
        rows.append(
            [
                f"{corpus.upper()} ({row['parts']})",
                f"{row['deriving']['examples']:,}",
                f"{seconds['median']:.2f} ({seconds['least']:.2f}–{seconds['most']:.2f})",
                row["decoding"]["mean cells"],
                f"{rate['median']:,.0f} ({rate['least']:,.0f}–{rate['most']:,.0f})",
            ]
        )
    header = ["corpus", "examples", "seconds to derive all grids", "cells a grid", "grids decoded a second"]
    return table(header, rows, "python benchmarks/edits.py")


SHORT = {
    "em": "EM",
    **{f"bleu{n}": f"B{n}" for n in (1, 2, 4)},
    **{f"rouge{n}": f"R{n}" for n in (1, 2, "L")},
    **{f"f{n}": f"F{n}" for n in (1, 2, 3)},
}
RUNS_COMMAND = "python benchmarks/results_table.py"


def spread(measured: dict[str, Any]) -> str:
    deviation = measured["deviation"]
    return f"{measured['mean']:.2f}" + (f" ± {deviation:.2f}" if deviation is not None else "")


def seeds_of(row: dict[str, Any]) -> str:
    listed = ", ".join(map(str, row["seeds"]))
    return listed if len(row["seeds"]) == 1 else f"{listed} (n = {len(row['seeds'])})"


def epochs_of(row: dict[str, Any]) -> str | None:
    known = sorted({epochs for epochs in row["epochs"] if epochs is not None})
    return "–".join(map(str, dict.fromkeys((known[0], known[-1])))) if known else None


def none_yet(what: str) -> str:
    return f"{what} `{RUNS_COMMAND}` writes the table.\n"


def beside_the_paper(metrics: Sequence[str], described: Sequence[str]) -> list[list[object]]:
    """The rows of every corpus that something was measured on, those of the paper first."""
    found = results("results")
    rows: list[list[object]] = []
    for corpus in dict.fromkeys(row["corpus"] for row in found["test"]):
        for system, figures in found["paper"].get(corpus, {}).items():
            rows.append([f"{system}, paper", corpus.upper(), *[None] * len(described), *map(figures.get, metrics)])
        for row in found["test"]:
            if row["corpus"] == corpus:
                said = {
                    "run": row["run"],
                    "trained on": "; ".join(row["trained on"]),
                    "epochs": epochs_of(row),
                    "seeds": seeds_of(row),
                }
                figures = [spread(row["metrics"][metric]) for metric in metrics]
                rows.append([row["system"], corpus.upper(), *map(said.get, described), *figures])
    return rows


def test_results() -> str:
    described = ["run", "trained on", "epochs", "seeds"]
    rows = beside_the_paper(list(SHORT), described)
    if not rows:
        return none_yet("No run has been evaluated on a test part yet.")
    return table(["system", "test part", *described, *SHORT.values()], rows, RUNS_COMMAND)


def test_results_short() -> str:
    metrics = ["em", "bleu2", "bleu4", "rouge2", "rougeL", "f1"]
    rows = beside_the_paper(metrics, ["seeds"])
    if not rows:
        return none_yet("No run has been evaluated on a test part yet.")
    return table(["system", "test part", "seeds", *(SHORT[metric] for metric in metrics)], rows, RUNS_COMMAND)


def compared(kind: str, none: str) -> str:
    """Rows with the difference to the baseline above them."""
    metrics = ["em", "f1", "f2", "f3", "bleu2", "rouge2"]
    rows: list[list[object]] = []
    above: dict[str, Any] | None = None
    for row in results("results")[kind]:
        if row["changed"] is None or row["baseline"]:
            above = row if row["baseline"] else None
        cells = [spread(row["metrics"][metric]) for metric in metrics]
        if above is not None and above is not row:
            gained = [row["metrics"][metric]["mean"] - above["metrics"][metric]["mean"] for metric in metrics]
            cells = [f"{cell} ({gain:+.2f})" for cell, gain in zip(cells, gained, strict=True)]
        changed = ", ".join(f"`{name}: {written(value)}`" for name, value in (row["changed"] or {}).items())
        rows.append([row["run"], row["validation"], changed or None, epochs_of(row), seeds_of(row), *cells])
    if not rows:
        return none_yet(none)
    header = ["run", "validation part", "changed", "epochs", "seeds", *(SHORT[metric] for metric in metrics)]
    return table(header, rows, RUNS_COMMAND)


def written(value: object) -> str:
    """A setting as it stands in a settings file."""
    return json.dumps(value, ensure_ascii=False).replace('"', "")


def ablations() -> str:
    return compared("ablations", "No ablation has been run yet.")


def improvements() -> str:
    return compared("improvements", "No improvement has been run yet.")


def decoding() -> str:
    """What thresholds change, beside decoding the most likely type of each cell."""
    metrics = ["em", "bleu4", "f1", "f3"]
    rows: list[list[object]] = []
    for row in results("results")["decoding"]:
        before, after = row["by cells"], row["by thresholds"]
        changed = [f"{before[name]:.2f} → {after[name]:.2f}" for name in metrics]
        rows.append([row["run"], row["validation"], *row["thresholds"].values(), *changed])
    if not rows:
        return none_yet("No run has chosen thresholds yet.")
    header = ["run", "validation part", "cell", "region", "lone", *(SHORT[metric] for metric in metrics)]
    return table(header, rows, RUNS_COMMAND)


def repeats() -> str:
    metrics = ["em", "bleu4", "f1", "f3"]
    rows = [
        [
            row["run"],
            row["validation"],
            *(f"{row['with repeats'][name]:.2f} → {row['without'][name]:.2f}" for name in metrics),
        ]
        for row in results("repeats")
    ]
    header = ["run", "validation part", *(SHORT[metric] for metric in metrics)]
    return table(header, rows, "python benchmarks/repeats.py")


def training_speed() -> str:
    found = results("training_speed")
    shares = found.pop("shares of the time, %")
    rows: list[list[object]] = [[name, value] for name, value in found.items()]
    rows += [[f"share of `{name}`, %", value] for name, value in shares.items()]
    return table(["", ""], rows, "python benchmarks/training_speed.py")


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
    return table(header, rows, "python benchmarks/leaving_alone.py --model MODEL --corpus CORPUS")


def guarantees() -> str:
    rows = [
        [
            row["model"],
            f"{row['dialogues']:,}",
            row["broken"],
            row["reasons"].get("error", 0),
            f"{row['reasons'].get('rewritten', 0):,}",
        ]
        for row in results("guarantees")
    ]
    header = ["model", "hostile dialogues", "promises broken", "failures inside", "rewritten"]
    return table(header, rows, "python benchmarks/guarantees.py")


SPEED_COMMAND = "python benchmarks/speed.py"
SPEED_FORMS = {"shipped": "as shipped", "float32": "float32", "torch": "PyTorch eager"}
SPEED_PLOT = "images/speed-growth.png"


def speed_table(part: str, header: Sequence[str], rows_of: Callable[[Any], Sequence[Sequence[object]]]) -> str:
    """A table of a part of the speed benchmark, or that it was not measured yet."""
    found = results("speed") if (RESULTS / "speed.json").is_file() else {}
    if part not in found:
        return f"None measured yet. `{SPEED_COMMAND}` writes the table.\n"
    return table(header, rows_of(found), SPEED_COMMAND)


def ranged(measured: dict[str, float] | None, decimals: int = 1) -> str | None:
    """A median with the least and the most."""
    if measured is None:
        return None
    middle, least, most = (f"{measured[name]:,.{decimals}f}" for name in ("median", "least", "most"))
    return f"{middle} ({least}–{most})"


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
                *(f"{row[part][metric]:.2f}" for part in ("validation", "test") for metric in ("em", "bleu4")),
                lost(found, row),
                found["targets"]["lost EM"] if row["kind"] == "shipped" else None,
            ]
            for row in found["precision"]["rows"]
        ]

    header = ["model", "form", "graph MB", "folder MB", "p50 ms", "dialogues a second", "validation EM", "B4"]
    return speed_table("precision", [*header, "test EM", "B4", "EM lost", "at most"], rows)


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

    header = ["model", "sizes", "time", "steepest step", "memory added", "steepest step", "at most"]
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
                found["targets"]["tokenising and decoding %"],
            ]
            for row in found["shares"]["rows"]
        ]

    steps = ["laying out", "preparing", "collating", "graph", "deciding", "rest"]
    return speed_table("shares", ["model", "%", *steps, "tokenising and decoding", "at most"], rows)


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


TABLES: dict[str, Callable[[], str]] = {
    function.__name__: function
    for function in (
        ceiling,
        ceiling_steps,
        row_choices,
        connection_words,
        missing_words,
        corpus_stats,
        tokeniser,
        scoring,
        scoring_speed,
        edits_speed,
        test_results,
        test_results_short,
        ablations,
        improvements,
        decoding,
        repeats,
        training_speed,
        leaving_alone,
        guarantees,
        model_tradeoffs,
        speed_machine,
        speed_latency,
        speed_throughput,
        speed_peak,
        speed_precision,
        speed_growth,
        speed_exponents,
        speed_plot,
        speed_shares,
        speed_start,
    )
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
