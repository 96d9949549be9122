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
