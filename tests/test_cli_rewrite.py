"""The commands that run a model, apart from `batch`: rewrite, demo, bench, export."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

from typer.testing import CliRunner

from urewrite import rewriter as rewriting
from urewrite.bench import SAMPLES, _quantile
from urewrite.bundle import read_config
from urewrite.cli.main import build_app
from urewrite.cli.rewrite import read_dialogue
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.rewriter import Rewriter

HISTORY = ["嗯好，你知道北京吗", "知道"]
UTTERANCE = "它好吗"
TURNS = ["-H", HISTORY[0], "-H", HISTORY[1]]


@pytest.fixture
def run(toy_bundle):
    def run(*arguments: object, given: bytes | None = None, code: int = 0):
        command, *rest = map(str, arguments)
        model = ["--model", str(toy_bundle)] if "--model" not in rest else []
        result = CliRunner().invoke(build_app(), [command, *model, *rest], input=given)
        if code == 0 and result.exception is not None:
            raise result.exception
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture
def expected(toy_bundle):
    """What the library makes of the dialogue, which the network has learned to edit."""
    result = Rewriter.from_pretrained(toy_bundle).rewrite(HISTORY, UTTERANCE)
    assert result.changed
    return result


def process(toy_bundle, *arguments: str | bytes, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "urewrite", *arguments, "--model", str(toy_bundle)]
    return subprocess.run(command, input=given, capture_output=True, check=False)


def test_only_the_text_is_printed(run, expected):
    assert run("rewrite", *TURNS, UTTERANCE).stdout == f"{expected}\n"


def test_json_is_the_record(run, expected):
    assert json.loads(run("rewrite", *TURNS, UTTERANCE, "--json").stdout) == json.loads(
        json.dumps(expected.to_record())
    )


def test_explain_shows_edits_and_grid(run, expected):
    assert run("rewrite", *TURNS, UTTERANCE, "--explain").stdout == expected.explain(colour=False) + "\n"


@pytest.mark.parametrize("more", [[], ["--json"], ["--explain"]])
def test_a_picture_is_written_beside_what_is_printed(run, expected, tmp_path, more):
    without = run("rewrite", *TURNS, UTTERANCE, *more).stdout
    assert run("rewrite", *TURNS, UTTERANCE, *more, "--svg", tmp_path / "grid.svg").stdout == without
    assert (tmp_path / "grid.svg").read_text(encoding="utf-8") == expected.to_svg()


@pytest.mark.parametrize(
    "given",
    [
        "\n".join([*HISTORY, UTTERANCE]).encode(),
        "\r\n".join([*HISTORY, UTTERANCE, "", " ", ""]).encode(),
        json.dumps({"history": HISTORY, "utterance": UTTERANCE}, indent=2).encode(),
        json.dumps({"messages": [{"role": "user", "content": text} for text in (*HISTORY, UTTERANCE)]}).encode(),
        json.dumps([{"role": "user", "content": text} for text in (*HISTORY, UTTERANCE)], indent=1).encode(),
    ],
)
def test_dialogues_on_stdin(run, expected, given):
    assert run("rewrite", given=given).stdout == f"{expected}\n"


def test_turns_of_options_come_before_those_of_stdin(run, expected):
    assert run("rewrite", *TURNS, given=UTTERANCE.encode()).stdout == f"{expected}\n"
    assert run("rewrite", *TURNS[:2], given=f"{HISTORY[1]}\n{UTTERANCE}".encode()).stdout == f"{expected}\n"


def test_what_looks_like_json_must_be():
    assert read_dialogue(b"{not json\nwhy").utterance == "why"
    assert read_dialogue(b'"why"').utterance == '"why"'
    assert read_dialogue(b"5").utterance == "5"
    for given, reason in [
        (b'{"history": [', "standard input: not valid JSON"),
        (b'{"history": []}\n{"history": []}', "text after the object"),
        (b'{"history": []}', "standard input, field 'utterance': the key is missing"),
        (b'{"history": [], "utterance": "\xff"}', "not valid UTF-8"),
        (b"{}", "field 'history': the key is missing"),
        (b" \n\n", "standard input: holds no utterance"),
        (b"", "standard input: holds no utterance"),
        ("why".encode("utf-16"), "found UTF-16"),
    ]:
        with pytest.raises(BadInputError) as caught:
            read_dialogue(given)
        assert reason in str(caught.value)


def test_options_reach_the_model(run, expected):
    edited = [expected.utterance[edit.start : edit.end] for edit in expected.edits]
    assert run("rewrite", *TURNS, UTTERANCE, "--mode", "never").stdout == f"{UTTERANCE}\n"
    assert run("rewrite", *TURNS, UTTERANCE, "--mode", "always", "--threads", 1).stdout != f"{UTTERANCE}\n"
    assert run("rewrite", *TURNS, UTTERANCE, "--threshold", 1).stdout == f"{UTTERANCE}\n"
    assert run("rewrite", *TURNS, UTTERANCE, "--protect", "nothing", "--protect", edited[0]).stdout == f"{UTTERANCE}\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--explain", "--json", "why"], "give --explain or --json, not both"),
        (["--threshold", "2", "why"], "--threshold"),
        (["--lang", "fr", "why"], "--lang"),
        (["--mode", "maybe", "why"], "--mode"),
        (["--threads", "0", "why"], "--threads"),
    ],
)
def test_wrong_usage(run, arguments, reason):
    assert reason in run("rewrite", *arguments, code=2).stderr


def test_a_terminal_is_not_waited_for(run, monkeypatch):
    at_a_terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("urewrite.cli.rewrite.sys", at_a_terminal)
    assert "give an utterance, or a dialogue on stdin" in run("rewrite", code=2).stderr


def test_errors_name_what_is_wrong(run, tmp_path):
    for model, reason in ((tmp_path, "is no model folder"), ("nonsense", "there is no model nonsense")):
        result = CliRunner().invoke(build_app(), ["rewrite", "why", "--model", str(model)])
        assert isinstance(result.exception, DataUnavailableError)
        assert reason in str(result.exception)
    empty = CliRunner().invoke(build_app(), ["rewrite", " "])
    assert isinstance(empty.exception, BadInputError)


def test_a_failure_inside_gives_the_utterance_back_and_says_so(run, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("broken")

    monkeypatch.setattr(rewriting, "decide", fail)
    result = run("rewrite", *TURNS, UTTERANCE, code=1)
    assert result.stdout == f"{UTTERANCE}\n"
    assert "something failed inside" in result.stderr


def test_notes_go_to_stderr(run):
    given = {"history": [{"role": "system", "content": "Be kind."}, *HISTORY], "utterance": UTTERANCE}
    result = run("rewrite", given=json.dumps(given).encode())
    assert "note: history[0]: role 'system' does not speak" in result.stderr


def test_the_language_chooses_the_model(run):
    for language in ("en", "zh"):
        chosen = run("rewrite", "--model", "auto-fast", *TURNS, UTTERANCE, "--lang", language, "--json")
        assert json.loads(chosen.stdout)["model"] == f"{language}-fast"
        assert json.loads(chosen.stdout)["notes"] == []


def test_a_language_that_chooses_nothing_is_said(run):
    note = "note: the model zh-fast is for zh; asking it for en changes nothing\n"
    for arguments in (["rewrite", *TURNS, UTTERANCE], ["demo"]):
        given = b"" if arguments == ["demo"] else None
        assert run(*arguments, "--model", "zh-fast", "--lang", "en", given=given).stderr == note
        assert run(*arguments, "--model", "zh-fast", "--lang", "zh", given=given).stderr == ""


def test_real_processes_keep_every_byte(toy_bundle, expected):
    odd = b"qqqq " + b"\xff\xc3 \xe2\x82 \t" + "　é\U0001f642".encode()
    argument = process(toy_bundle, "rewrite", "--mode", "never", "-H", b"\xfe", odd)
    assert (argument.returncode, argument.stdout) == (0, odd + b"\n"), argument.stderr
    line = process(toy_bundle, "rewrite", "--mode", "never", given=b"\xfe\n" + odd + b"\r\n")
    assert (line.returncode, line.stdout) == (0, odd + b"\n"), line.stderr
    escaped = process(toy_bundle, "rewrite", given=json.dumps({"history": [], "utterance": "\ud800 a"}).encode())
    assert (escaped.returncode, escaped.stdout) == (0, b"\\ud800 a\n")


def test_a_real_process_fails_in_one_line(tmp_path):
    result = process(tmp_path, "rewrite", "why")
    assert result.returncode == 4
    assert result.stderr.decode() == f"urewrite: error: {tmp_path} is no model folder: it holds no config.json\n"


def test_demo_line_by_line(run, expected):
    lines = [HISTORY[0], "", f"> {HISTORY[1]}", UTTERANCE, "/explain", "/reset", UTTERANCE, "/quit", "never heard"]
    printed = run("demo", given="\n".join(lines).encode()).stdout
    assert printed == "\n".join([HISTORY[0], str(expected), expected.explain(colour=False), UTTERANCE, ""])


def test_demo_helps_and_keeps_bytes(run):
    printed = run("demo", "--mode", "never", given=b"/explain\n/nonsense\nqq \xff\r\n").stdout_bytes
    assert printed.startswith(b"nothing was rewritten yet\nType what is said.")
    assert printed.endswith(b"\nqq \xff\n")


def test_demo_at_a_terminal(toy_bundle, expected):
    """With prompts, colours and Ctrl-D."""
    pty = pytest.importorskip("pty", reason="not provided: terminals")
    mine, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "urewrite", "demo", "--model", str(toy_bundle)]
    typed = [*(f"{text}\n".encode() for text in (*HISTORY, UTTERANCE)), b"\x04"]
    shown = b""
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        while True:
            try:
                shown += os.read(mine, 65536)
            except OSError:  # the other side is closed
                break
            if typed and shown.endswith(b"you> "):  # not before: what comes early is not for the prompt
                os.write(mine, typed.pop(0))
    os.close(mine)
    assert process.returncode == 0, shown
    assert b"/reset" in shown
    assert re.search(rf"\x1b\[[0-9;]+m{expected.edits[0].text}\x1b\[0m", shown.decode())


def test_bench_for_programs(run, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"history": HISTORY, "utterance": UTTERANCE}) + "\n")
    found = json.loads(run("bench", "--input", path, "--repeat", 3, "--threads", 1, "--json").stdout)
    assert (found["model"], found["dialogues"], found["repeat"], found["threads"]) == ("toy", 1, 3, 1)
    assert 0 < found["latency_p50_ms"] <= found["latency_p95_ms"]
    assert found["load_seconds"] > 0
    assert found["throughput"] > 0


def test_bench_for_people(run):
    printed = run("bench", "--lang", "zh", "--repeat", 1).stdout
    assert f"{len(SAMPLES['zh'])} x 1" in printed
    for word in ("time to load", "median", "95th percentile", "mean", "throughput"):
        assert word in printed


def test_bench_needs_dialogues(run, tmp_path):
    (tmp_path / "in.jsonl").write_text("broken\n")
    (tmp_path / "empty.jsonl").write_text("\n")
    for name, reason in (("in.jsonl", "line 1"), ("empty.jsonl", "no dialogue"), ("absent.jsonl", "cannot be read")):
        result = run("bench", "--input", tmp_path / name, code=1)
        assert isinstance(result.exception, BadInputError)
        assert reason in str(result.exception)


@pytest.mark.parametrize(("share", "value"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.01, 1)])
def test_quantiles(share, value):
    assert _quantile(range(1, 21), share) == value


@pytest.mark.parametrize("options", [[], ["--int8"]])
def test_export_writes_a_folder_that_runs(run, toy_run, tmp_path, expected, options):
    folder = tmp_path / "model"
    result = CliRunner().invoke(
        build_app(), ["export", str(toy_run), "--output", str(folder), "--name", "mine", "--json", *options]
    )
    assert result.exception is None, result.output
    document = json.loads(result.stdout)
    assert (document["folder"], document["name"]) == (str(folder), "mine")
    assert document["bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert read_config(folder).name == "mine"
    assert run("rewrite", *TURNS, UTTERANCE, "--model", folder).stdout == f"{expected}\n"


def test_export_refuses_the_run_itself_and_what_is_none(toy_run, tmp_path):
    same = CliRunner().invoke(build_app(), ["export", str(toy_run), "--output", f"{toy_run}/."])
    assert isinstance(same.exception, BadInputError)
    none = CliRunner().invoke(build_app(), ["export", str(tmp_path), "--output", str(tmp_path / "out")])
    assert isinstance(none.exception, DataUnavailableError)
    assert not (tmp_path / "out").exists()


def test_export_without_the_extra_says_so(toy_run, tmp_path):
    code = "import sys; sys.modules['torch'] = None\nfrom urewrite.cli.main import main; main()"
    command = [sys.executable, "-c", code, "export", str(toy_run), "--output", str(tmp_path / "out")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "urewrite[train]" in result.stderr
    assert "Traceback" not in result.stderr
