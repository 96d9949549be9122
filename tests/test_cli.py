"""The console script itself, as other programs call it."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from urewrite import __version__

PAPER = ["-H", "北京今天天气如何", "-H", "北京今天是阴天", "为什么总是这样", "北京为什么总是阴天"]


def urewrite(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from urewrite.cli.main import main; main()", *arguments],
        capture_output=True,
        encoding="utf-8",
        env=None,
        check=False,
    )


@pytest.fixture
def own_data(tmp_path):
    path = tmp_path / "mine.jsonl"
    records = [
        {"history": ["Kobe Bryant"], "utterance": "his wife", "rewrite": "Kobe Bryant's wife"},
        {"history": ["Kobe Bryant"], "utterance": "the wife", "rewrite": "the wife of Kobe Bryant"},
    ] * 4
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_version():
    assert urewrite("--version").stdout.strip() == f"urewrite {__version__}"


USAGES = {
    "": "COMMAND [ARGS]...",
    "rewrite": "[UTTERANCE]",
    "batch": "IN OUT",
    "demo": "",
    "bench": "",
    "serve": "",
    "edits": "UTTERANCE REWRITE",
    "evaluate": "",
    "train": "CONFIG",
    "finetune": "MODEL EXAMPLES",
    "export": "RUN",
    "data": "COMMAND [ARGS]...",
    "data list": "",
    "data fetch": "[NAME]...",
    "data stats": "[NAME]...",
    "data export": "NAME PART OUT",
    "data overlap": "[NAME]...",
    "data ceiling": "[NAME]...",
    "data connections": "[NAME]...",
}
"""Every command, and what it takes besides options."""


@pytest.mark.parametrize(("command", "takes"), USAGES.items())
def test_every_command_explains_itself(command, takes):
    result = urewrite(*command.split(), "--help")
    assert result.returncode == 0
    usage, _, rest = result.stdout.partition("\n")
    assert usage == " ".join(f"Usage: urewrite {command} [OPTIONS] {takes}".split())
    assert re.search(r"^  Example: urewrite \w.+$", rest, re.MULTILINE)


@pytest.mark.parametrize("command", USAGES)
def test_an_unknown_option_is_told_in_one_line(command):
    result = urewrite(*command.split(), "--nonsense", "1")
    assert (result.returncode, result.stdout) == (2, "")
    hint = " ".join(f"urewrite {command} --help".split())
    assert re.fullmatch(rf"urewrite: error: no such option: --nonsense .*\(see {hint}\)\n", result.stderr)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["rewrit"], "no such command 'rewrit'. Did you mean 'rewrite'? (see urewrite --help)"),
        (["data", "lst"], "no such command 'lst'. Did you mean 'list'? (see urewrite data --help)"),
        (["edits"], "missing argument 'UTTERANCE' (see urewrite edits --help)"),
        (
            ["data", "export", "task"],
            "missing argument 'PART'. Choose from: train, validation, test (see urewrite data export --help)",
        ),
        (["evaluate"], "missing option '--corpus' (see urewrite evaluate --help)"),
        (
            ["rewrite", "--mode", "foo"],
            "invalid value for '--mode': 'foo' is not one of 'auto', 'always', 'never' (see urewrite rewrite --help)",
        ),
        (["rewrite", "--explain", "--json", "x"], "give --explain or --json, not both (see urewrite rewrite --help)"),
        (
            ["data", "overlap", "--from", "x", "task"],
            "name corpora or give --from, not both (see urewrite data overlap",
        ),
        (["rewrite", "hello", "world"], "got unexpected extra argument"),
        (["rewrite", "hello", "a\nb\x1b[31m"], "got unexpected extra argument"),
        (["rewrite", "--mode", "a\nb\x1b[31m"], "invalid value for '--mode': "),
        (["rewrite", "--model"], "option '--model' requires an argument"),
        (["rewrite", "--threads", "two", "x"], "invalid value for '--threads': "),
        (["batch", "in", "out", "--batch-size", "0"], "invalid value for '--batch-size': "),
        (["serve", "--port", "many"], "invalid value for '--port': "),
    ],
)
def test_wrong_usage_is_told_in_one_line(arguments, told):
    result = urewrite(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"urewrite: error: {told}")
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.endswith(" --help)\n")
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("command", [[], ["rewrite"]])
def test_the_example_of_the_help_can_be_run_and_is_a_good_one(command):
    (example,) = re.findall(r"^  Example: (.+)$", urewrite(*command, "--help").stdout, re.MULTILINE)
    reference = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"
    assert f"```bash\n{example}\n```" in reference.read_text(encoding="utf-8")
    program, *arguments = shlex.split(example)
    assert program == "urewrite"
    result = urewrite(*arguments)
    assert (result.returncode, result.stdout, result.stderr) == (0, "When was Frank Herbert born?\n", "")


def test_edits_for_people():
    result = urewrite("edits", *PAPER)
    assert result.returncode == 0
    assert "北京为什么总是阴天" in result.stdout
    assert "'这样' gives way to '阴天' from turn 2[5:7]" in result.stdout


def test_edits_for_programs():
    document = json.loads(urewrite("edits", *PAPER, "--json").stdout)
    assert document["exact"] is True
    assert [edit["text"] for edit in document["edits"]] == ["北京", "阴天"]
    assert len(document["grid"]) == len(document["rows"]) == 16
    assert {len(row) for row in document["grid"]} == {len(document["columns"])} == {8}
    assert "".join(document["rewrite"][p["start"] : p["end"]] for p in document["pieces"]) == document["rewrite"]


def test_edits_with_connection_words_and_markup_like_text():
    result = urewrite("edits", "-H", "[bold] Kobe", "his [/b]", "Kobe's [/b]", "--trailing", "'s")
    assert result.returncode == 0
    assert "Kobe's [/b]" in result.stdout


def test_a_long_dialogue_is_readable():
    words = [f"word{number}" for number in range(60)]
    result = urewrite("edits", "-H", " ".join(words), " ".join(words[:30]) + " it", " ".join(words[:30]) + " word59")
    lines = result.stdout.splitlines()
    assert any(line.startswith("word59") and " S " in line for line in lines)
    assert "..." in lines
    assert not any(line.startswith("word20 ") for line in lines)


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in urewrite("edits", "-H", "a \x1b[31m", "b it", "b a").stdout


def test_output_does_not_depend_on_the_locale(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert json.loads(urewrite("edits", *PAPER, "--json").stdout)["rewrite"] == "北京为什么总是阴天"
    assert "阴天" in urewrite("edits", *PAPER).stdout


def test_what_is_out_of_reach_is_said():
    assert "as close as" in urewrite("edits", "-H", "a", "b", "b c").stdout


def test_bad_input_is_one_line_and_a_code():
    result = urewrite("edits", " ", "x")
    assert result.returncode == 3
    assert result.stderr == "urewrite: error: field 'utterance': the utterance is empty\n"
    assert result.stdout == ""


def test_a_name_cannot_make_an_error_longer_or_steer_the_terminal(tmp_path):
    result = urewrite("rewrite", "--model", "no\nsuch\x1b[31m", "why")
    assert result.returncode == 4
    assert result.stderr.startswith("urewrite: error: there is no model no such\N{REPLACEMENT CHARACTER}[31m: ")
    assert result.stderr.count("\n") == 1
    result = urewrite("train", str(tmp_path / "a\x1bb"))
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr


def test_connections_and_ceiling_of_own_data(own_data, tmp_path):
    (document,) = json.loads(urewrite("data", "connections", str(own_data), str(own_data), "--json").stdout)
    assert document == {"corpus": str(own_data), "leading": ["of"], "trailing": ["'s"], "derived_from": str(own_data)}
    assert "'s" in urewrite("data", "connections", str(own_data)).stdout
    result = urewrite("data", "ceiling", str(own_data), "--part", "test", "--json")
    (row,) = json.loads(result.stdout)
    assert (row["corpus"], row["part"], row["n"], row["exact"]) == (str(own_data), None, 8, 100)
    assert row["connection_words"]["derived_from"] == str(own_data)
    assert result.stderr == f"{own_data}: the connection words are derived from this same file\n"


@pytest.mark.parametrize("command", ["ceiling", "connections"])
def test_bad_lines_of_own_data(own_data, tmp_path, command):
    own_data.write_text(own_data.read_text(encoding="utf-8") + "broken\n", encoding="utf-8")
    stopped = urewrite("data", command, str(own_data))
    assert stopped.returncode == 3
    assert stopped.stderr.startswith(f"urewrite: error: {own_data}, line 9: ")
    rejects = tmp_path / "rejects.jsonl"
    assert urewrite("data", command, str(own_data), "--skip-bad", "--rejects", str(rejects)).returncode == 0
    assert [json.loads(line)["line"] for line in rejects.read_text().splitlines()] == [9]
    assert urewrite("data", command, str(own_data), "--skip-bad", "--rejects", str(own_data)).returncode == 3


def test_words_of_the_validation_part_are_said_to_be_so(tmp_path, no_data_elsewhere):
    (tmp_path / "multi").mkdir()
    for name in ("valid.txt", "test.txt"):
        (tmp_path / "multi" / name).write_text("a\tb\tc\td\t问\t回\t0\t\n", encoding="utf-8")
    result = urewrite(
        "data", "ceiling", "multi", "multi", "--part", "test", "--part", "test", "--json", "--mirror", str(tmp_path)
    )
    (row,) = json.loads(result.stdout)
    assert row["connection_words"]["derived_from"] == "validation"
    assert (
        "multi: no training part is here, so the connection words are derived from the validation part" in result.stderr
    )


def test_ceiling_contract(corpora_dir):
    arguments = ["data", "ceiling", "task", "--part", "test", "--mirror", str(corpora_dir)]
    (row,) = json.loads(urewrite(*arguments, "--json").stdout)
    assert {"corpus", "part", "n", "exact", "bleu4"} <= row.keys()
    assert (row["corpus"], row["part"], row["n"]) == ("task", "test", 539)
    assert row["exact"] >= 87.6
    fewer = json.loads(urewrite(*arguments, "--words", "0", "--json").stdout)[0]
    assert fewer["exact"] < row["exact"]
    table = urewrite(*arguments)
    assert f"{row['exact']:.2f}" in table.stdout
    assert "87.6" in table.stdout


def test_ceiling_errors(tmp_path):
    assert urewrite("data", "ceiling", "nonsense").returncode == 3
    assert urewrite("data", "ceiling", "task", "--part", "dev").returncode == 2
    missing = urewrite("data", "ceiling", "task", "--mirror", str(tmp_path / "nothing"))
    assert missing.returncode == 4
    assert missing.stderr == f"urewrite: error: the mirror {tmp_path / 'nothing'} is not a folder\n"
    absent = urewrite("data", "ceiling", str(tmp_path / "absent.jsonl"))
    assert absent.returncode == 3
    assert absent.stderr.startswith(f"urewrite: error: {tmp_path / 'absent.jsonl'}: the file cannot be read")


def test_heavy_libraries_are_not_loaded():
    """The runtime stays light: what only tests, tables or training need is not imported with the package."""
    code = "import sys, urewrite; print([m for m in ('torch', 'rich', 'scipy', 'nltk', 'typer') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_help_does_not_wait_for_models():
    """What only a command at work needs is not loaded to explain it."""
    code = (
        "import sys; from urewrite.cli.main import build_app; build_app();"
        "print([m for m in ('onnxruntime', 'torch', 'rich', 'http.client') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_command_does_not_wait_for_others():
    code = (
        "import sys; sys.argv = ['urewrite', 'batch', '--help']; from urewrite.cli.main import main\n"
        "try: main()\n"
        "finally: print([m for m in ('urewrite.cli.data', 'urewrite.cli.train') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


def test_the_readme_example_is_true():
    readme = Path(__file__).resolve().parents[1].joinpath("README.md").read_text(encoding="utf-8")
    code = readme.split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(code, names)
    assert str(names["result"]) == "When was Frank Herbert born?"


FULL = Path("/dev/full")  # every write to it fails as on a full disk


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("arguments", [["rewrite", "-H", "Kobe Bryant", "his wife", "--json"], ["rewrite", "--help"]])
def test_full_disk_behind_stdout_is_one_line(arguments, buffered):
    with FULL.open("wb") as full:
        result = subprocess.run(
            [sys.executable, *([] if buffered else ["-u"]), "-m", "urewrite", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.stderr == f"urewrite: error: input or output: {os.strerror(errno.ENOSPC)}\n"
    assert result.returncode == 4


def test_reader_that_left_is_no_error_to_tell():
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [sys.executable, "-m", "urewrite", "--help"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert (result.stderr, result.returncode) == ("", 1)


def test_closed_streams_do_not_hurt():
    shell = "exec %s -m urewrite rewrite hello <&- >&-"
    result = subprocess.run(["sh", "-c", shell % sys.executable], stderr=subprocess.PIPE, text=True, check=False)
    assert (result.stderr, result.returncode) == ("", 0)
