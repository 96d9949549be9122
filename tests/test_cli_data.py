from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from urewrite.cli.data import app
from urewrite.cli.options import Part
from urewrite.corpora import PARTS, read_jsonl
from urewrite.corpora.sources import CORPORA
from urewrite.errors import BadInputError, DataUnavailableError, OverlapError

GOOD = "一\t\t二\t\t问\t\t好问"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object, code: int = 0):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if code == 0 and result.exception is not None:
            raise result.exception
        assert result.exit_code == code
        return result

    return run


@pytest.fixture
def mirror(tmp_path: Path, no_data_elsewhere) -> Path:
    """A mirror with a small REWRITE (train: 17 lines) and CANARD test."""
    folder = tmp_path / "mirror"
    (folder / "rewrite").mkdir(parents=True)
    (folder / "rewrite" / "corpus.txt").write_text(f"{GOOD}\n" * 20, encoding="utf-8")
    (folder / "canard").mkdir()
    record = {"History": ["P", "S"], "QuAC_dialog_id": "C_1_0", "Question": "Why?", "Rewrite": "Why P?"}
    (folder / "canard" / "test.json").write_text(json.dumps([record]))
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of three examples."""
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"history": ["Kobe?"], "utterance": "he", "rewrite": "Kobe"}) + "\n")
    path.write_text(path.read_text() * 3)
    return path


def spoil(mirror: Path) -> Path:
    path = mirror / "rewrite" / "corpus.txt"
    lines = path.read_bytes().split(b"\n")
    lines[2], lines[5] = b"broken", b"bad \xff"
    path.write_bytes(b"\n".join(lines))
    return path


def test_the_parts_to_choose_from_are_those_of_the_library():
    assert tuple(part.value for part in Part) == PARTS


@pytest.mark.parametrize("command", ["list", "fetch", "stats", "export", "overlap"])
def test_help_shows_an_example(run, command):
    assert f"Example: urewrite data {command}" in run(command, "--help").stdout


def test_list(run, mirror):
    documents = json.loads(run("list", "--mirror", mirror, "--json").stdout)
    assert [document["corpus"] for document in documents] == list(CORPORA)
    files = {file["path"]: file for document in documents for file in document["files"]}
    assert files["rewrite/corpus.txt"]["found"] == "mirror"
    assert files["rewrite/corpus.txt"]["found_at"] == str(mirror / "rewrite" / "corpus.txt")
    assert files["task/CamRest676_annotated.json"]["found"] == "absent"
    assert files["canard/train.json"]["sha256"] is None
    assert "CC BY-SA 4.0" in run("list", "--mirror", mirror).stdout


def test_list_sees_the_cache(run, no_data_elsewhere):
    (no_data_elsewhere / "multi").mkdir(parents=True)
    (no_data_elsewhere / "multi" / "test.txt").touch()
    documents = json.loads(run("list", "--json").stdout)
    assert [file["found"] for file in documents[1]["files"]] == ["absent", "cache"]


def test_stats(run, mirror):
    documents = json.loads(run("stats", "rewrite", "canard", "--mirror", mirror, "--json").stdout)
    named = {(document["corpus"], document["part"]): document for document in documents}
    assert named["rewrite", "all"]["n"] == 20
    assert named["rewrite", "all"]["tokens"] == {"context": 2.0, "utterance": 1.0, "rewrite": 2.0}
    assert named["canard", "paper"]["tokens"]["context"] == 85.4
    result = run("stats", "canard", "--mirror", mirror)
    assert "left out: canard/train.json" in result.stderr
    assert "canard test" in result.stdout


def test_stats_of_what_is_not_there(run, mirror):
    with pytest.raises(DataUnavailableError, match="urewrite data fetch task"):
        run("stats", "task", "--mirror", mirror)
    with pytest.raises(BadInputError, match="no corpus is called 'quac'"):
        run("stats", "quac", "--mirror", mirror)


def test_export(run, mirror, tmp_path):
    out = tmp_path / "deep" / "train.jsonl"
    document = json.loads(run("export", "rewrite", "train", out, "--mirror", mirror, "--json").stdout)
    assert document == {
        "corpus": "rewrite",
        "part": "train",
        "n": 17,
        "rejected": 0,
        "overlapping": None,
        "removed": 0,
        "out": str(out),
        "rejects": None,
    }
    assert read_jsonl(out)[16].rewrite == "好问"
    run("export", "rewrite", "train", tmp_path / "train.jsonl.gz", "--mirror", mirror)
    assert gzip.decompress((tmp_path / "train.jsonl.gz").read_bytes()) == out.read_bytes()
    result = run("export", "rewrite", "train", "-", "--mirror", mirror)
    assert result.stdout == out.read_text(encoding="utf-8")
    assert result.stderr == "17 examples written\n"


def test_export_stops_at_bad_input_and_leaves_what_was_there(run, mirror, tmp_path):
    path = spoil(mirror)
    out = tmp_path / "train.jsonl"
    out.write_text("as before")
    with pytest.raises(BadInputError, match=r"corpus\.txt, line 3: expected 4 columns") as caught:
        run("export", "rewrite", "train", out, "--mirror", mirror)
    assert caught.value.file == str(path)
    assert out.read_text() == "as before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mirror", "train.jsonl"]


def test_export_to_a_place_that_cannot_be_written(run, mirror, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataUnavailableError, match=r"cannot write .*out\.jsonl"):
        run("export", "rewrite", "train", tmp_path / "file" / "out.jsonl", "--mirror", mirror)


def test_export_skips_and_lists_bad_input(run, mirror, tmp_path):
    path = spoil(mirror)
    out = tmp_path / "train.jsonl"
    document = json.loads(run("export", "rewrite", "train", out, "--skip-bad", "--mirror", mirror, "--json").stdout)
    assert (document["n"], document["rejected"]) == (15, 2)
    assert document["rejects"] == f"{out}.rejects.jsonl"
    records = [json.loads(line) for line in Path(document["rejects"]).read_text().splitlines()]
    assert [(record["file"], record["line"], record["raw"]) for record in records] == [
        (str(path), 3, "broken"),
        (str(path), 6, "bad \\xff"),
    ]
    named = tmp_path / "rejects.jsonl"
    result = run("export", "rewrite", "train", "-", "--skip-bad", "--rejects", named, "--mirror", mirror)
    assert f"2 bad lines left out, listed in {named}\n" in result.stderr
    assert len(named.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "command", [["export", "rewrite", "test", "{out}"], ["stats", "rewrite"], ["overlap", "rewrite"]]
)
def test_the_rejects_file_is_written_even_with_nothing_in_it(run, mirror, tmp_path, command):
    named = tmp_path / "rejects.jsonl"
    named.write_text("stale")
    arguments = [argument.format(out=tmp_path / "out.jsonl") for argument in command]
    run(*arguments, "--skip-bad", "--rejects", named, "--mirror", mirror, "--json")
    assert named.read_text() == ""


@pytest.mark.parametrize(
    "command",
    [["stats", "rewrite"], ["overlap", "rewrite"], ["overlap", "--from", "{own}"]],
)
def test_bad_lines_stop_every_command_or_are_skipped(run, mirror, own, tmp_path, command):
    spoil(mirror)
    own.write_text(own.read_text() + "broken\n")
    arguments = [*(argument.format(own=own) for argument in command), "--mirror", mirror, "--json"]
    with pytest.raises(BadInputError, match=r"line [34]: "):
        run(*arguments)
    named = tmp_path / "rejects.jsonl"
    result = run(*arguments, "--skip-bad", "--rejects", named)
    listed = [json.loads(line)["line"] for line in named.read_text().splitlines()]
    assert listed == ([4] if "--from" in arguments else [3, 6])
    assert "listed in" in result.stderr
    assert json.loads(result.stdout)[0]["n"] == (3 if "--from" in arguments else 15)


def test_bad_lines_of_canard_test_can_be_skipped(run, mirror, own, tmp_path):
    path = mirror / "canard" / "test.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), {"History": []}]))
    with pytest.raises(BadInputError, match="item 2"):
        run("overlap", "--from", own, "--mirror", mirror)
    run("overlap", "--from", own, "--mirror", mirror, "--skip-bad", "--rejects", tmp_path / "rejects.jsonl")
    assert len((tmp_path / "rejects.jsonl").read_text().splitlines()) == 1


def test_when_every_line_is_bad(run, mirror, tmp_path):
    path = mirror / "rewrite" / "corpus.txt"
    path.write_text("broken\n" * 20)
    out = tmp_path / "out.jsonl"
    with pytest.raises(BadInputError, match=r"corpus\.txt: holds no example of the train part besides 17 bad ones"):
        run("export", "rewrite", "train", out, "--skip-bad", "--mirror", mirror)
    assert not out.exists()
    assert len(Path(f"{out}.rejects.jsonl").read_text().splitlines()) == 17


def test_the_rejects_file_must_be_another(run, mirror, own, tmp_path):
    out, link = tmp_path / "out.jsonl", tmp_path / "link"
    link.symlink_to(out)
    with pytest.raises(BadInputError, match="link: the bad lines cannot go into this file"):
        run("export", "rewrite", "train", out, "--skip-bad", "--rejects", link, "--mirror", mirror)
    before = own.read_text()
    with pytest.raises(BadInputError, match="the bad lines cannot go into this file"):
        run("overlap", "--from", own, "--skip-bad", "--rejects", own, "--mirror", mirror)
    assert own.read_text() == before


def write_canard_validation(mirror: Path, *dialogues: str) -> None:
    records = [
        {"History": ["P", "S", "Who?", "She."], "QuAC_dialog_id": name, "Question": "When?", "Rewrite": f"When {name}?"}
        for name in dialogues
    ]
    (mirror / "canard" / "dev.json").write_text(json.dumps(records))


def test_export_says_what_is_in_canard_test_and_leaves_it_out_when_told(run, mirror, tmp_path):
    write_canard_validation(mirror, "C_1_0", "C_2_0", "C_3_0")
    arguments = ["export", "canard", "validation", tmp_path / "out.jsonl", "--mirror", mirror, "--json"]
    result = run(*arguments)
    document = json.loads(result.stdout)
    assert (document["n"], document["overlapping"], document["removed"]) == (3, 1, 0)
    assert "1 examples of canard validation share dialogues with CANARD test" in result.stderr
    document = json.loads(run(*arguments, "--without-overlap").stdout)
    assert (document["n"], document["overlapping"], document["removed"]) == (2, 1, 1)
    assert [example.dialogue_id for example in read_jsonl(tmp_path / "out.jsonl")] == ["C_2_0", "C_3_0"]
    write_canard_validation(mirror, "C_1_0")
    with pytest.raises(OverlapError, match="no example is left"):
        run(*arguments, "--without-overlap")
    (mirror / "canard" / "test.json").write_text("[{}]")
    assert "was not compared with CANARD test" in run(*arguments).stderr
    (mirror / "canard" / "test.json").unlink()
    assert json.loads(run(*arguments).stdout)["overlapping"] is None
    with pytest.raises(DataUnavailableError, match=r"canard/test\.json"):
        run(*arguments, "--without-overlap")


def test_export_says_when_overlap_was_not_looked_for(run, mirror, tmp_path):
    result = run("export", "rewrite", "train", tmp_path / "out.jsonl", "--without-overlap", "--mirror", mirror)
    assert "rewrite was not compared with CANARD test" in result.stderr


def test_two_turn_context(run, mirror, tmp_path):
    write_canard_validation(mirror, "C_2_0")
    out = tmp_path / "out.jsonl"
    run("export", "canard", "validation", out, "--context", "two-turn", "--mirror", mirror)
    assert [turn.text for turn in read_jsonl(out)[0].dialogue.history] == ["Who?", "She."]
    for choice, turns in [("two-turn", 2), ("full", 4)]:
        documents = json.loads(run("stats", "canard", "--context", choice, "--mirror", mirror, "--json").stdout)
        assert documents[0]["part"] == "validation"
        assert documents[0]["turns"] == turns


@pytest.mark.parametrize(("file", "content"), [("rewrite/corpus.txt", ""), ("rewrite/corpus.txt", f"{GOOD}\n" * 5)])
def test_stats_of_a_part_without_examples(run, mirror, file, content):
    (mirror / file).write_text(content, encoding="utf-8")
    with pytest.raises(BadInputError, match=rf"{file}: holds no example of the \w+ part"):
        run("stats", "rewrite", "--mirror", mirror)


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "rewrite", "train", "-", "--json"],
        ["export", "rewrite", "train", "-", "--skip-bad"],
        ["export", "rewrite", "train", "/dev/null", "--skip-bad"],
        ["export", "rewrite", "train", "out.jsonl", "--rejects", "rejects.jsonl"],
        ["export", "rewrite", "dev", "out.jsonl"],
        ["export", "qrecc", "test", "out.jsonl", "--without-overlap"],
        ["export", "rewrite", "train", "out.jsonl", "--context", "half"],
        ["stats", "--skip-bad"],
        ["overlap", "--rejects", "rejects.jsonl"],
        ["overlap", "rewrite", "--from", "mine.jsonl"],
        ["fetch"],
        ["fetch", "rewrite", "--all"],
    ],
)
def test_wrong_usage(run, arguments):
    assert run(*arguments, code=2).stdout == ""


def test_overlap(run, mirror):
    documents = json.loads(run("overlap", "rewrite", "canard", "--mirror", mirror, "--json").stdout)
    assert {document["corpus"] for document in documents} == {"rewrite"}
    assert all(document["overlapping_examples"] == 0 for document in documents)
    assert "Overlap with CANARD test" in run("overlap", "rewrite", "--mirror", mirror).stdout


def test_a_file_of_one_s_own_is_refused_when_it_overlaps(run, mirror, own):
    (document,) = json.loads(run("overlap", "--from", own, "--mirror", mirror, "--json").stdout)
    assert (document["corpus"], document["part"], document["n"]) == (str(own), None, 3)
    assert document["overlapping_examples"] == 0
    own.write_text(own.read_text() + json.dumps({"history": [], "utterance": "Why?", "rewrite": "why P ?"}) + "\n")
    refused = whole_command("overlap", "--from", own, "--mirror", mirror, "--json")
    assert (refused.returncode, refused.stdout) == (5, "")
    assert refused.stderr.startswith(f"urewrite: error: {own}: 1 training examples in 1 dialogues overlap")
    assert refused.stderr.count("\n") == 1


def test_fetch_from_a_mirror_needs_no_network(run, mirror):
    documents = json.loads(run("fetch", "rewrite", "rewrite", "--mirror", mirror, "--json").stdout)
    assert documents == [{"corpus": "rewrite", "path": "rewrite/corpus.txt", "status": "mirror", "reason": ""}]


def test_fetch_reports_failures_and_fails(run, no_data_elsewhere, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    for address in ("file:///nowhere", "http://[", "http://host/é"):
        with pytest.raises(BadInputError, match="address"):
            run("fetch", "rewrite", "--base-url", address)
    arguments = ["fetch", "task", "--base-url", "http://127.0.0.1:9/", "--json"]
    result = CliRunner(env={"no_proxy": "*"}).invoke(app, arguments)
    assert isinstance(result.exception, DataUnavailableError)
    (document,) = json.loads(result.stdout)
    assert document["status"] == "failed"
    assert "127.0.0.1:9" in document["reason"]


def test_overlap_of_the_real_corpora(run, corpora_dir):
    documents = json.loads(run("overlap", "qrecc", "task", "--mirror", corpora_dir, "--json").stdout)
    counts = {(document["corpus"], document["part"]): document["overlapping_examples"] for document in documents}
    assert counts["task", "train"] == 0
    assert counts["qrecc", "train"] > 100


def whole_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    program = "from urewrite.cli.main import main; main()"
    command = [sys.executable, "-c", program, "data", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60)


def test_the_whole_command_prints_one_document_or_one_line(mirror, tmp_path):
    done = whole_command("stats", "rewrite", "--mirror", mirror, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[0]["corpus"] == "rewrite"
    spoil(mirror)
    for arguments, code, message in [
        (["export", "rewrite", "train", tmp_path / "out.jsonl", "--json"], 3, "line 3: expected 4 columns"),
        (["export", "task", "test", tmp_path / "out.jsonl", "--json"], 4, "run: urewrite data fetch task"),
    ]:
        failed = whole_command(*arguments, "--mirror", mirror)
        assert (failed.returncode, failed.stdout) == (code, "")
        assert failed.stderr.count("\n") == 1
        assert message in failed.stderr
