from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from urewrite.cli.evaluate import evaluate
from urewrite.errors import BadInputError, UrewriteError
from urewrite.scoring import FAULTS, METRICS

app = typer.Typer(pretty_exceptions_enable=False)
app.command()(evaluate)

RECORDS = [
    {"history": ["Kobe Bryant played."], "utterance": "When did he retire?", "rewrite": "When did Kobe Bryant retire?"},
    {"history": ["你喜欢科比吗"], "utterance": "他是谁", "rewrite": "科比是谁"},
    {"history": ["Bye."], "utterance": "Thank you.", "rewrite": "Thank you."},
]
PREDICTIONS = ["When did Kobe retire?", "科比是谁", "Thank you."]


@pytest.fixture
def folder(tmp_path):
    records = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS)
    (tmp_path / "gold.jsonl").write_text(records, encoding="utf-8")
    (tmp_path / "out.txt").write_text("\n".join(PREDICTIONS) + "\n", encoding="utf-8")
    (tmp_path / "copy.txt").write_text("".join(f"{record['utterance']}\n" for record in RECORDS), encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder):
    def run(*arguments, stdin=None, predictions="out.txt", corpus="gold.jsonl"):
        places = [str(folder / name) if name.endswith((".txt", ".jsonl", ".gz")) else name for name in arguments]
        source = predictions if predictions == "-" else str(folder / predictions)
        corpus = str(folder / corpus) if corpus.endswith(".jsonl") else corpus
        return CliRunner().invoke(app, ["--predictions", source, "--corpus", corpus, *places], input=stdin)

    return run


def document(result):
    assert result.exception is None, result.output
    return json.loads(result.stdout)


def failure(result):
    assert isinstance(result.exception, UrewriteError), result.output
    assert result.stdout == ""
    return str(result.exception)


def test_json_holds_what_scripts_rely_on(run, folder):
    found = document(run("--json"))
    assert list(found) == ["corpus", "part", "n", "metrics", "faults", "confidence"]
    assert (found["corpus"], found["part"], found["n"]) == (str(folder / "gold.jsonl"), None, 3)
    assert tuple(found["metrics"]) == tuple(found["confidence"]) == METRICS
    assert found["metrics"]["em"] == 66.666667
    assert found["metrics"]["unchanged"] == 33.333333
    assert found["metrics"]["r1"] == 75
    assert found["faults"] == dict.fromkeys(FAULTS, 0) | {"exact": 2, "substitute": 1}
    low, high = found["confidence"]["em"]
    assert 0 <= low < found["metrics"]["em"] < high <= 100


def test_intervals_can_be_left_out_and_depend_on_the_seed_alone(run):
    assert "confidence" not in document(run("--json", "--no-confidence"))
    first = document(run("--json", "--seed", "1", "--resamples", "50"))
    assert document(run("--json", "--seed", "1", "--resamples", "50")) == first
    assert document(run("--json", "--seed", "2", "--resamples", "50")) != first


def test_json_lines_and_stdin_give_the_same_as_the_plain_file(run, folder):
    lines = "".join(json.dumps({"prediction": text}) + "\n" for text in PREDICTIONS)
    (folder / "out.jsonl").write_text(lines, encoding="utf-8")
    expected = document(run("--json"))
    assert document(run("--json", predictions="out.jsonl")) == expected
    assert document(run("--json", predictions="-", stdin=lines)) == expected


def test_comparison(run):
    row = document(run("--json", "--compare", "copy.txt"))["comparison"]["em"]
    assert row["first"] == 66.666667
    assert row["second"] == 33.333333
    assert row["difference"] == 33.333333
    assert row["low"] <= row["difference"] <= row["high"]
    assert 0 < row["p"] <= 1
    same = document(run("--json", "--compare", "out.txt"))["comparison"]
    assert {row["p"] for row in same.values()} == {1}


def test_the_table_for_people(run):
    result = run("--compare", "copy.txt", "--examples", "5")
    assert result.exception is None, result.output
    for expected in ("Exact match", "66.67", "Rewriting F3", "+33.33", "over-rewriting", "3 examples"):
        assert expected in result.stdout
    listed = result.stdout[result.stdout.index("\n1\n") :]
    assert listed.splitlines()[1:] == [
        "1",
        "  faults      substitute",
        "  utterance   When did he retire?",
        "  prediction  When did Kobe retire?",
        "  reference   When did Kobe Bryant retire?",
        "  missing     bryant",
        "  surplus",
    ]


def test_listed_examples_are_part_of_the_json(run):
    found = document(run("--json", "--examples", "1"))["examples"]
    assert [(entry["number"], entry["faults"], entry["missing"]) for entry in found] == [
        (1, ["substitute"], ["bryant"])
    ]


def test_texts_cannot_steer_the_terminal(run, folder):
    (folder / "odd.txt").write_text("\x1b[31m[/bold] red\n[b]\n\n", encoding="utf-8")
    result = run("--examples", "3", predictions="odd.txt")
    assert result.exception is None, result.output
    assert "\x1b" not in result.stdout
    assert "[31m[/bold] red" in result.stdout


def test_half_characters_are_reported(run, folder):
    (folder / "half.jsonl").write_text('{"prediction": "\\ud800"}\n' * 3, encoding="utf-8")
    result = run("--json", "--examples", "3", "--report", "half.txt", predictions="half.jsonl")
    assert [entry["prediction"] for entry in document(result)["examples"]] == ["?", "?", "?"]


def test_report(run, folder):
    result = run("--json", "--report", "report.txt")
    document(result)
    assert "report written to" in result.stderr
    html = (folder / "report.txt").read_text(encoding="utf-8")
    assert html.count("<article") == 3
    assert "<del>他</del><ins>科比</ins>是谁" in html


def test_a_report_that_cannot_be_written(run, folder):
    (folder / "taken.txt").mkdir()
    assert "taken.txt: the report cannot be written" in failure(run("--report", "taken.txt"))
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_counts_must_agree(run, folder):
    (folder / "short.txt").write_text("a\n", encoding="utf-8")
    result = run(predictions="short.txt")
    assert f"{folder / 'short.txt'}: 1 predictions for 3 examples" in failure(result)
    assert isinstance(result.exception, BadInputError)
    assert f"{folder / 'short.txt'}: 1 predictions for 3 examples" in failure(run("--compare", "short.txt"))
    assert "standard input: 1 predictions for 3 examples" in failure(run(predictions="-", stdin="a\n"))


def test_bad_prediction_files_are_named(run, folder):
    (folder / "bad.txt").write_bytes(b"a\n\xff\nb\n")
    assert "bad.txt, line 2: byte 1 (0xff) is not valid UTF-8" in failure(run(predictions="bad.txt"))
    (folder / "bad.jsonl").write_text('{"prediction": "a"}\n{}\n', encoding="utf-8")
    assert "bad.jsonl, line 2, field 'prediction': the key is missing" in failure(run(predictions="bad.jsonl"))
    assert "none.txt: the file cannot be read" in failure(run(predictions="none.txt"))


def test_bad_corpora_are_named(run, folder):
    (folder / "bad.jsonl").write_text('{"history": [], "utterance": "a"}\n', encoding="utf-8")
    assert "bad.jsonl, line 1, field 'rewrite'" in failure(run(corpus="bad.jsonl"))
    (folder / "empty.jsonl").write_text("", encoding="utf-8")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    assert "empty.jsonl: holds no example" in failure(run(corpus="empty.jsonl", predictions="empty.txt"))
    absent = run(corpus="absent.jsonl")
    assert "absent.jsonl: the file cannot be read" in failure(absent)
    assert type(absent.exception) is type(run(predictions="absent.txt").exception)
    assert "no corpus is called 'quac'" in failure(run(corpus="quac"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--part", "dev"], "dev"),
        (["--resamples", "0"], "resamples"),
        (["--examples", "-1"], "examples"),
    ],
)
def test_wrong_usage(run, arguments, reason):
    result = run(*arguments)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_named_corpus_needs_a_part(run):
    result = run(corpus="canard")
    assert result.exit_code == 2
    assert "--part" in result.stderr


def test_stdin_can_be_read_once(run):
    result = run("--compare", "-", predictions="-", stdin="a\n")
    assert result.exit_code == 2
    assert "stdin" in result.stderr


def test_a_named_corpus_from_a_mirror(run, folder, corpora_dir):
    result = run("--part", "test", "--mirror", str(corpora_dir), "--json", corpus="rewrite", predictions="out.txt")
    assert "3 predictions for 2,000 examples" in failure(result)
