"""The corpora, their grids and their scores, without any model."""

from __future__ import annotations

from benchmarks.tables.layout import results, table


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


TABLES = (
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
)
