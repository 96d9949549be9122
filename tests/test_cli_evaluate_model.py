from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

import typer
from typer.testing import CliRunner

from urewrite.cli.evaluate import evaluate
from urewrite.errors import BadInputError, DataUnavailableError

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(evaluate)


@pytest.fixture
def model(toy_run):
    return toy_run


@pytest.fixture
def run(model):
    def run(*arguments):
        corpus = model.parent / "validation.jsonl"
        return CliRunner().invoke(app, ["--corpus", str(corpus), *map(str, arguments)])

    return run


def document(result):
    assert result.exception is None, result.output
    return json.loads(result.stdout)


def test_a_model_is_scored_like_its_saved_predictions(run, model, tmp_path):
    saved = tmp_path / "saved.txt"
    found = document(run("--model", model, "--save-predictions", saved, "--json", "--examples", 3))
    assert list(found)[:4] == ["model", "corpus", "part", "n"]
    assert (found["model"], found["n"]) == ("run", 60)
    assert found["metrics"]["em"] > 50
    lines = [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 60
    assert {tuple(line) for line in lines} == {("prediction",)}
    read_back = document(run("--predictions", saved, "--json", "--examples", 3))
    assert {"model": "run", **read_back} == found


def test_a_model_gets_report_table_and_comparison(run, model, tmp_path):
    records = (model.parent / "validation.jsonl").read_text(encoding="utf-8").splitlines()
    utterances = [json.loads(record)["utterance"] for record in records]
    (tmp_path / "copy.txt").write_text("\n".join(utterances) + "\n", encoding="utf-8")
    report, output = tmp_path / "report.html", tmp_path / "new" / "evaluation.json"
    result = run("--model", model, "--compare", tmp_path / "copy.txt", "--report", report, "--output", output)
    assert result.exception is None, result.output
    assert "60 examples" in result.stdout
    assert "Compared with the second system" in result.stdout
    assert "<title>run on validation.jsonl" in report.read_text(encoding="utf-8")
    written = json.loads(output.read_text(encoding="utf-8"))
    assert written["comparison"]["em"]["second"] == 0
    assert {"metrics", "faults", "confidence"} <= set(written)
    printed = run("--model", model, "--compare", tmp_path / "copy.txt", "--json")
    assert document(printed) == written


def test_output_is_written_for_predictions_too(run, model, tmp_path):
    (tmp_path / "out.txt").write_text("a\n" * 60, encoding="utf-8")
    output = tmp_path / "evaluation.json"
    printed = document(run("--predictions", tmp_path / "out.txt", "--output", output, "--json"))
    assert json.loads(output.read_text(encoding="utf-8")) == printed
    assert "model" not in printed


@pytest.mark.parametrize(
    ("option", "what"), [("--output", "JSON document"), ("--save-predictions", "predictions"), ("--report", "report")]
)
def test_what_cannot_be_written_is_said(run, model, tmp_path, option, what):
    result = run("--model", model, option, tmp_path)
    assert isinstance(result.exception, BadInputError)
    assert f"{tmp_path}: the {what} cannot be written" in str(result.exception)


def test_half_a_character_is_saved_and_read_back(model, tmp_path):
    corpus, saved = tmp_path / "half.jsonl", tmp_path / "saved.jsonl"
    record = {"history": [], "utterance": "\ud800 好 qqqq", "rewrite": "\ud800 好 qqqq"}
    corpus.write_text(json.dumps(record) + "\n", encoding="utf-8")
    first = CliRunner().invoke(
        app, ["--corpus", str(corpus), "--model", str(model), "--save-predictions", str(saved), "--json"]
    )
    second = CliRunner().invoke(app, ["--corpus", str(corpus), "--predictions", str(saved), "--json"])
    assert document(first) == {"model": "run", **document(second)}
    assert json.loads(saved.read_text(encoding="utf-8"))["prediction"] == record["utterance"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "give one of --model and --predictions"),
        (["--model", "a", "--predictions", "b"], "give one of --model and --predictions"),
        (["--predictions", "b", "--save-predictions", "c"], "--save-predictions keeps those of --model"),
    ],
)
def test_wrong_usage(run, arguments, reason):
    result = run(*arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())


def test_a_wrong_folder_is_named(run, tmp_path):
    result = run("--model", tmp_path)
    assert isinstance(result.exception, DataUnavailableError)
    assert f"{tmp_path} is no model folder: it holds no config.json" in str(result.exception)
    assert result.stdout == ""


def test_a_model_without_the_extra_says_so(model):
    code = "import sys; sys.modules['torch'] = None\nfrom urewrite.cli.main import main; main()"
    corpus = model.parent / "validation.jsonl"
    command = [sys.executable, "-c", code, "evaluate", "--model", str(model), "--corpus", str(corpus)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "urewrite[train]" in result.stderr
    assert "Traceback" not in result.stderr
