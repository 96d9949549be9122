"""The per-example report: one HTML file that opens anywhere, with what every prediction missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from urewrite.dialogue import Example
from urewrite.edits.alignment import Gap, differing_spans
from urewrite.scoring.faults import FAULTS, Verdict, count_faults
from urewrite.scoring.page import PAGE
from urewrite.scoring.scores import Scores
from urewrite.scoring.uncertainty import Comparison, Interval
from urewrite.tokens import Tokens, tokenize

LABELS: dict[str, str] = {
    "em": "Exact match",
    **{f"bleu{n}": f"BLEU-{n}" for n in (1, 2, 3, 4)},
    **{f"rouge{n}": f"ROUGE-{n}" for n in (1, 2, "L")},
    **{f"{kind[0].lower()}{n}": f"Rewriting {kind}{n}" for n in (1, 2, 3) for kind in ("P", "R", "F")},
    "unchanged": "Unchanged",
}
"""How each metric is called in tables for people."""


Table = tuple[list[str], list[list[str]]]
"""A header and rows of cells, the first of which says what the row is about."""


def summary_table(scores: Scores, intervals: Mapping[str, Interval] | None = None) -> Table:
    """All metrics, with their intervals if they are given."""
    header = ["Metric", "Score"]
    rows = [[LABELS[name], f"{value:.2f}"] for name, value in scores.metrics.items()]
    if intervals is not None:
        header.append("95 % interval")
        for row, interval in zip(rows, intervals.values(), strict=True):
            row.append(f"{interval.low:.2f} to {interval.high:.2f}")
    return header, rows


def comparison_table(comparison: Mapping[str, Comparison]) -> Table:
    """All metrics of two systems, side by side."""
    header = ["Metric", "First", "Second", "Difference", "95 % interval", "p"]
    rows = [
        [
            LABELS[name],
            f"{row.first:.2f}",
            f"{row.second:.2f}",
            f"{row.difference:+.2f}",
            f"{row.low:+.2f} to {row.high:+.2f}",
            f"{row.p:.3f}",
        ]
        for name, row in comparison.items()
    ]
    return header, rows


def html_report(
    title: str,
    examples: Sequence[Example],
    predictions: Sequence[str],
    scores: Scores,
    verdicts: Sequence[Verdict],
    intervals: Mapping[str, Interval] | None = None,
    comparison: Mapping[str, Comparison] | None = None,
) -> Iterator[str]:
    """The pieces of a self-contained HTML page, in order; it loads nothing from elsewhere, and all text is escaped."""
    counts = count_faults(verdicts)
    tables = _table("Scores", summary_table(scores, intervals))
    if comparison is not None:
        tables += _table("Compared with a second system", comparison_table(comparison))
    head, tail = PAGE.split("{examples}")
    yield (
        head.replace("{n}", f"{scores.n:,}")
        .replace("{tables}", tables)
        .replace("{filters}", _filters(counts, scores.n))
        .replace("{title}", _shown(title))
    )
    for number, (example, prediction, verdict) in enumerate(zip(examples, predictions, verdicts, strict=True), 1):
        yield _article(number, example, prediction, verdict)
    yield tail


def _table(caption: str, table: Table) -> str:
    header, rows = table
    columns = "".join(f"<th scope=col>{name}</th>" for name in header)
    body = "".join(
        f"<tr><th scope=row>{label}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>" for label, *cells in rows
    )
    return f"<table><caption>{caption}</caption><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"


def _filters(counts: Mapping[str, int], n: int) -> str:
    buttons = [f'<button data-show="all" aria-pressed=true>all <b>{n:,}</b></button>']
    buttons += [
        f'<button data-show="{name}" aria-pressed=false title="{meaning}">{name} <b>{counts[name]:,}</b></button>'
        for name, meaning in FAULTS.items()
    ]
    return "".join(buttons)


def _article(number: int, example: Example, prediction: str, verdict: Verdict) -> str:
    utterance = tokenize(example.dialogue.utterance)
    turns = "".join(f"<li dir=auto>{_shown(turn.text)}</li>" for turn in example.dialogue.history)
    tags = "".join(f'<span class="tag {name}">{name}</span>' for name in verdict.faults)
    notes = "".join(
        f"<span class=note>{label}: {_shown(' · '.join(words))}</span>"
        for label, words in (("missing", verdict.missing), ("surplus", verdict.surplus))
        if words
    )
    history = f"<details><summary>history ({len(example.dialogue.history)})</summary><ol>{turns}</ol></details>"
    return (
        f'<article data-faults="{" ".join(verdict.faults)}"><header><span class=number>{number}</span>{tags}{notes}'
        f"</header><dl><dt>Utterance</dt><dd dir=auto>{_shown(utterance.text)}</dd>"
        f"<dt>Prediction</dt><dd dir=auto>{word_difference(utterance, tokenize(prediction))}</dd>"
        f"<dt>Reference</dt><dd dir=auto>{word_difference(utterance, tokenize(example.rewrite))}</dd></dl>"
        f"{history if turns else ''}</article>\n"
    )


def word_difference(old: Tokens, new: Tokens) -> str:
    """The new text as HTML, its added words in `<ins>`, words of the old text that are gone in `<del>`."""
    if not new:
        return "<i>empty</i>"
    pieces: list[str] = []
    position = 0
    for gap in differing_spans(old.keys, new.keys):
        pieces.append(_shown(new.text[position : _start(new, gap.new_start)]))
        position = _start(new, gap.new_start)
        pieces.append(_changed(old, new, gap))
        if gap.new_end > gap.new_start:
            position = new.ends[gap.new_end - 1]
    pieces.append(_shown(new.text[position:]))
    return "".join(pieces)


def _changed(old: Tokens, new: Tokens, gap: Gap) -> str:
    removed = added = ""
    if gap.old_end > gap.old_start:
        removed = f"<del>{_shown(old.text[old.starts[gap.old_start] : old.ends[gap.old_end - 1]])}</del>"
    if gap.new_end > gap.new_start:
        added = f"<ins>{_shown(new.text[new.starts[gap.new_start] : new.ends[gap.new_end - 1]])}</ins>"
    elif gap.old_end < len(old) and old.starts[gap.old_end] > old.ends[gap.old_end - 1]:
        return f"{removed} "
    return removed + added


def _start(tokens: Tokens, index: int) -> int:
    return tokens.starts[index] if index < len(tokens) else len(tokens.text)


def _shown(text: str) -> str:
    """Escaped, and with a replacement character for what a UTF-8 file cannot hold."""
    return escape(text.encode("utf-8", "replace").decode("utf-8"))
