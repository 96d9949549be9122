"""`urewrite evaluate`: score the output of any system."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from urewrite.cli.options import MirrorOption, Part
from urewrite.cli.output import JsonFlag, print_json, print_table, printable, say
from urewrite.corpora.catalogue import example_file, load_corpus
from urewrite.corpora.jsonl import read_jsonl
from urewrite.dialogue import Example
from urewrite.errors import BadInputError
from urewrite.files import atomic_writer
from urewrite.scoring.faults import Verdict, count_faults, judge_triples
from urewrite.scoring.predictions import STANDARD_INPUT, name_of, read_predictions
from urewrite.scoring.report import comparison_table, html_report, summary_table
from urewrite.scoring.scores import score_triples
from urewrite.scoring.triple import Triple, triples_of
from urewrite.scoring.uncertainty import RESAMPLES, compare, confidence_intervals

_DECIMALS = 6


def evaluate(
    predictions_file: Annotated[
        str,
        typer.Option(
            "--predictions",
            metavar="FILE",
            help="One prediction a line in corpus order, or JSON lines with the key 'prediction'; '-' is stdin.",
        ),
    ],
    corpus: Annotated[
        str, typer.Option(metavar="NAME", help="rewrite, multi, task, canard, qrecc, or a .jsonl file of examples.")
    ],
    part: Annotated[
        Part | None, typer.Option(help="Part of a named corpus; 'test' is the one papers report on.")
    ] = None,
    mirror: MirrorOption = None,
    compared_file: Annotated[
        str | None,
        typer.Option("--compare", metavar="FILE", help="Predictions of a second system, to compare the first with."),
    ] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a report on every example as HTML.")
    ] = None,
    examples_shown: Annotated[
        int, typer.Option("--examples", min=0, help="List the first so many predictions with faults.")
    ] = 0,
    confidence: Annotated[
        bool, typer.Option("--confidence/--no-confidence", help="Compute 95 % confidence intervals.")
    ] = True,
    resamples: Annotated[int, typer.Option(min=1, help="Resamples for intervals and p-values.")] = RESAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    as_json: JsonFlag = False,
) -> None:
    """Score any system's rewrites: EM, BLEU, ROUGE, rewriting P/R/F, and what each prediction missed.

    Predictions are matched with examples by position, so a bad line of the corpus always stops it: there is no
    --skip-bad here.

    Example: urewrite evaluate --predictions out.txt --corpus canard --part test --report report.html
    """
    if predictions_file == compared_file == STANDARD_INPUT:
        raise typer.BadParameter("only one of --predictions and --compare can be read from stdin")
    file = example_file(corpus)
    if file is not None:
        part, examples = None, read_jsonl(file)
    elif part is not None:
        examples = load_corpus(corpus, part.value, mirror=mirror)
    else:
        raise typer.BadParameter("a named corpus needs --part: train, validation or test", param_hint="--part")
    rewrites, triples = _paired(examples, predictions_file)
    scores = score_triples(triples)
    verdicts = judge_triples(triples, examples)
    intervals = confidence_intervals(scores, resamples=resamples, seed=seed) if confidence else None
    comparison = None
    if compared_file is not None:
        _, others = _paired(examples, compared_file)
        comparison = compare(scores, score_triples(others), resamples=resamples, seed=seed)
    if report_file is not None:
        title = f"{Path(predictions_file).name} on {f'{corpus}, {part.value}' if part else Path(corpus).name}"
        _write(report_file, html_report(title, examples, rewrites, scores, verdicts, intervals, comparison))
    wrong = [position for position, verdict in enumerate(verdicts) if verdict.faults != ("exact",)][:examples_shown]
    listed = [_listed(position, examples[position], rewrites[position], verdicts[position]) for position in wrong]
    if as_json:
        document: dict[str, object] = {
            "corpus": corpus,
            "part": part.value if part else None,
            "n": scores.n,
            "metrics": _rounded(scores.metrics),
            "faults": count_faults(verdicts),
        }
        if intervals is not None:
            document["confidence"] = {
                name: [round(bound, _DECIMALS) for bound in intervals[name]] for name in intervals
            }
        if comparison is not None:
            document["comparison"] = {name: _rounded(row._asdict()) for name, row in comparison.items()}
        if listed:
            document["examples"] = listed
        print_json(document)
    else:
        print_table(f"{scores.n:,} examples", *summary_table(scores, intervals))
        if comparison is not None:
            print_table("Compared with the second system", *comparison_table(comparison))
        counts = count_faults(verdicts)
        print_table(
            "What the predictions missed",
            ["Fault", "Predictions", "%"],
            [[name, f"{count:,}", f"{100 * count / scores.n:.1f}"] for name, count in counts.items()],
        )
        for entry in listed:
            sys.stdout.write(_as_text(entry))


def _paired(examples: Sequence[Example], source: str) -> tuple[list[str], list[Triple]]:
    """The predictions of a file, and each with its example."""
    rewrites = read_predictions(source)
    try:
        return rewrites, triples_of(examples, rewrites)
    except BadInputError as error:
        raise error.at(file=name_of(source)) from None


def _write(path: Path, pieces: Iterable[str]) -> None:
    try:
        with atomic_writer(path) as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise BadInputError(f"the report cannot be written: {error.strerror}", file=path) from error
    say(f"report written to {path}")


def _listed(position: int, example: Example, prediction: str, verdict: Verdict) -> dict[str, object]:
    return {
        "number": position + 1,
        "faults": list(verdict.faults),
        "utterance": _encodable(example.dialogue.utterance),
        "prediction": _encodable(prediction),
        "reference": _encodable(example.rewrite),
        "missing": [_encodable(word) for word in verdict.missing],
        "surplus": [_encodable(word) for word in verdict.surplus],
    }


def _encodable(text: str) -> str:
    """With a question mark for each half of a surrogate pair, which stdout cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _as_text(entry: Mapping[str, object]) -> str:
    lines = [f"\n{entry['number']}"]
    for name, value in list(entry.items())[1:]:
        text = " ".join(value) if isinstance(value, list) else str(value)
        lines.append(f"  {name:<11} {printable(text)}".rstrip())
    return "\n".join(lines) + "\n"


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, _DECIMALS) for name, value in values.items()}
