"""`urewrite evaluate`: score a model of ours, or the output of any system."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from urewrite.bundle import GRAPH
from urewrite.cli.options import MirrorOption, Part
from urewrite.cli.output import JsonFlag, print_json, print_table, progress, say
from urewrite.corpora.catalogue import example_file, load_corpus
from urewrite.corpora.jsonl import read_jsonl
from urewrite.dialogue import Example
from urewrite.errors import BadInputError, UrewriteError
from urewrite.explain import printable
from urewrite.files import atomic_writer
from urewrite.pretrained import resolve
from urewrite.rewriter import Rewriter, load_pipeline
from urewrite.scoring.faults import Verdict, count_faults, judge_triples
from urewrite.scoring.predictions import STANDARD_INPUT, name_of, read_predictions
from urewrite.scoring.report import comparison_table, html_report, summary_table
from urewrite.scoring.scores import Scores, score_triples
from urewrite.scoring.triple import Triple, triples_of
from urewrite.scoring.uncertainty import RESAMPLES, Comparison, Interval, compare, confidence_intervals

_DECIMALS = 6


def evaluate(
    corpus: Annotated[
        str, typer.Option(metavar="NAME", help="rewrite, multi, task, canard, qrecc, or a .jsonl file of examples.")
    ],
    predictions_file: Annotated[
        str | None,
        typer.Option(
            "--predictions",
            metavar="FILE",
            help="One prediction a line in corpus order, or JSON lines with the key 'prediction'; '-' is stdin.",
        ),
    ] = None,
    model_folder: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME|DIR", help="Predict with a bundled model or that of a folder instead."),
    ] = None,
    part: Annotated[
        Part | None, typer.Option(help="Part of a named corpus; 'test' is the one papers report on.")
    ] = None,
    mirror: MirrorOption = None,
    saved_file: Annotated[
        Path | None,
        typer.Option("--save-predictions", metavar="FILE", help="Keep the model's predictions, as JSON lines."),
    ] = None,
    compared_file: Annotated[
        str | None,
        typer.Option("--compare", metavar="FILE", help="Predictions of a second system, to compare the first with."),
    ] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a report on every example as HTML.")
    ] = None,
    output_file: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the JSON document to a file, too.")
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
    """Score rewrites of a model or of any system: EM, BLEU, ROUGE, rewriting P/R/F, and what each prediction missed.

    Give either --model or --predictions. Predictions are matched with examples by position, so a bad line of the
    corpus always stops it: there is no --skip-bad here.

    Example: urewrite evaluate --predictions out.txt --corpus canard --part test --report report.html
    """
    if (model_folder is None) == (predictions_file is None):
        raise typer.BadParameter("give one of --model and --predictions")
    if saved_file is not None and model_folder is None:
        raise typer.BadParameter("--save-predictions keeps those of --model: give both")
    if predictions_file == compared_file == STANDARD_INPUT:
        raise typer.BadParameter("only one of --predictions and --compare can be read from stdin")
    file = example_file(corpus)
    if file is not None:
        part, examples = None, read_jsonl(file)
    elif part is not None:
        examples = load_corpus(corpus, part.value, mirror=mirror)
    else:
        raise typer.BadParameter("a named corpus needs --part: train, validation or test", param_hint="--part")
    # Read before a model predicts, which may take long.
    others = None if compared_file is None else _paired(examples, compared_file)[1]
    if model_folder is not None:
        system = resolve(model_folder).resolve().name
        rewrites = _predicted(model_folder, examples)
        if saved_file is not None:
            _write(saved_file, map(_prediction_line, rewrites), "predictions")
        triples = triples_of(examples, rewrites)
    else:
        assert predictions_file is not None
        system = Path(predictions_file).name
        rewrites, triples = _paired(examples, predictions_file)
    scores = score_triples(triples)
    verdicts = judge_triples(triples, examples)
    intervals = confidence_intervals(scores, resamples=resamples, seed=seed) if confidence else None
    comparison = None
    if others is not None:
        comparison = compare(scores, score_triples(others), resamples=resamples, seed=seed)
    if report_file is not None:
        title = f"{system} on {f'{corpus}, {part.value}' if part else Path(corpus).name}"
        pieces = html_report(title, examples, rewrites, scores, verdicts, intervals, comparison)
        _write(report_file, pieces, "report")
    wrong = [position for position, verdict in enumerate(verdicts) if verdict.faults != ("exact",)][:examples_shown]
    listed = [_listed(position, examples[position], rewrites[position], verdicts[position]) for position in wrong]
    document = {
        **({"model": system} if model_folder is not None else {}),
        "corpus": corpus,
        "part": part.value if part else None,
        **_figures(scores, verdicts, intervals, comparison),
        **({"examples": listed} if listed else {}),
    }
    if output_file is not None:
        _write(output_file, [json.dumps(document, ensure_ascii=False, indent=2), "\n"], "JSON document")
    if as_json:
        print_json(document)
    else:
        _print_tables(scores, verdicts, intervals, comparison)
        for entry in listed:
            sys.stdout.write(_as_text(entry))


def _figures(
    scores: Scores,
    verdicts: Sequence[Verdict],
    intervals: Mapping[str, Interval] | None,
    comparison: Mapping[str, Comparison] | None,
) -> dict[str, object]:
    document: dict[str, object] = {
        "n": scores.n,
        "metrics": _rounded(scores.metrics),
        "faults": count_faults(verdicts),
    }
    if intervals is not None:
        document["confidence"] = {name: [round(bound, _DECIMALS) for bound in intervals[name]] for name in intervals}
    if comparison is not None:
        document["comparison"] = {name: _rounded(row._asdict()) for name, row in comparison.items()}
    return document


def _print_tables(
    scores: Scores,
    verdicts: Sequence[Verdict],
    intervals: Mapping[str, Interval] | None,
    comparison: Mapping[str, Comparison] | None,
) -> None:
    print_table(f"{scores.n:,} examples", *summary_table(scores, intervals))
    if comparison is not None:
        print_table("Compared with the second system", *comparison_table(comparison))
    counts = count_faults(verdicts)
    print_table(
        "What the predictions missed",
        ["Fault", "Predictions", "%"],
        [[name, f"{count:,}", f"{100 * count / scores.n:.1f}"] for name, count in counts.items()],
    )


def _paired(examples: Sequence[Example], source: str) -> tuple[list[str], list[Triple]]:
    """The predictions of a file, and each with its example."""
    rewrites = read_predictions(source)
    try:
        return rewrites, triples_of(examples, rewrites)
    except BadInputError as error:
        raise error.at(file=name_of(source)) from None


def _predicted(model: str, examples: Sequence[Example]) -> list[str]:
    """The predictions of a model, with a progress bar where they take seconds."""
    rewriter = _rewriter(model)
    dialogues = [example.dialogue for example in examples]
    with progress("Predicting", len(dialogues)) as follow:
        return [rewrite.text for rewrite in rewriter.rewrite_batch(dialogues, follow=follow)]


def _rewriter(model: str) -> Rewriter:
    """A model that was exported, or a run's folder, for which PyTorch is needed."""
    folder = resolve(model)
    if (folder / GRAPH).is_file():
        return Rewriter.of(load_pipeline(folder))
    try:
        from urewrite.training.predict import pipeline_of
        from urewrite.training.weights import load_model
    except ImportError as error:
        raise UrewriteError(
            f"a model without {GRAPH} needs the extra 'train': pip install 'urewrite[train]' ({error})"
        ) from error
    return Rewriter.of(pipeline_of(load_model(folder)))


def _prediction_line(text: str) -> str:
    """As `--predictions` reads it back; half a surrogate pair, which UTF-8 cannot carry, is escaped."""
    return json.dumps({"prediction": text}, ensure_ascii=_encodable(text) != text) + "\n"


def _write(path: Path, pieces: Iterable[str], what: str) -> None:
    try:
        with atomic_writer(path) as stream:
            stream.writelines(pieces)
    except OSError as error:
        raise BadInputError(f"the {what} cannot be written: {error.strerror}", file=path) from error
    say(f"{what} written to {path}")


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
