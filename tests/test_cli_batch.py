from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("lightning", reason="not provided: lightning, which the extra train brings")

from typer.testing import CliRunner

from training.toy import toy_records
from urewrite import chunks
from urewrite import rewriter as rewriting
from urewrite.cli.main import build_app
from urewrite.errors import BadInputError, DataUnavailableError, UrewriteError
from urewrite.rewriter import Rewriter

SLOW = """
import time
from urewrite import chunks, resumable
from urewrite.cli.main import main
chunks.LINES_AT_ONCE = 20
commit = resumable.PartFiles.commit
def slow(self, *arguments, **options):
    commit(self, *arguments, **options)
    time.sleep(0.2)
resumable.PartFiles.commit = slow
main()
"""
"""The command with small chunks, and slow enough to be met in the middle of its work."""


def line(**record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def good(amount: int) -> list[bytes]:
    keys = ("history", "utterance")
    return [line(n=n, **{key: record[key] for key in keys}) for n, record in enumerate(toy_records(amount, 3))]


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(good(10)))
    return path


@pytest.fixture
def target(tmp_path) -> Path:
    return tmp_path / "out.jsonl"


@pytest.fixture
def run(toy_bundle):
    def run(*arguments: object, given: bytes | None = None, code: int = 0, error: type[Exception] | None = None):
        result = CliRunner().invoke(
            build_app(), ["batch", "--model", str(toy_bundle), *map(str, arguments)], input=given
        )
        if error is not None:
            assert isinstance(result.exception, error), result.output
        elif code == 0 and result.exception is not None:
            raise result.exception
        else:
            assert result.exit_code == code, result.output
        return result

    return run


def records(path: Path) -> list[dict[str, object]]:
    content = path.read_bytes()
    return [json.loads(one) for one in (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines()]


def left_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_records_get_the_rewrite_in_order(run, toy_bundle, source, target):
    run(source, target)
    rewriter = Rewriter.from_pretrained(toy_bundle)
    expected = [
        {**record, "rewrite": str(rewriter.rewrite(record["history"], record["utterance"]))}
        for record in records(source)
    ]
    assert records(target) == expected
    assert any(record["rewrite"] != record["utterance"] for record in expected)
    assert left_in(target.parent) == ["in.jsonl", "out.jsonl", "out.jsonl.rejects.jsonl"]


def test_other_keys_are_passed_on_to_the_last_digit(run, source, target):
    odd = b'{"utterance" : "qqqq",  "history": [], "x": 1.10, "y": 1e999, "z": "\\u00e9", "x": 1234567890123456 }  \r\n'
    source.write_bytes(odd)
    run(source, target)
    kept = odd.rstrip(b" \r\n").removesuffix(b"}")
    assert target.read_bytes() == kept + b', "rewrite": "qqqq"}\n'


def test_messages_details_and_another_key(run, source, target, toy_bundle):
    turns = [{"role": "user", "content": "qqqq"}, {"role": "assistant", "content": "Sure ."}]
    source.write_bytes(line(messages=[*turns, {"role": "user", "content": "and why ?"}], rewrite="gold", id=7))
    run(source, target, "--details", "--key", "ours")
    (record,) = records(target)
    result = Rewriter.from_pretrained(toy_bundle).rewrite(["qqqq", "Sure ."], "and why ?")
    assert (record["rewrite"], record["id"], record["ours"]) == ("gold", 7, result.text)
    assert record["details"]["reason"] == result.reason
    assert record["details"].keys() == result.to_record().keys()


def test_a_key_that_is_taken_is_replaced_and_said(run, source, target):
    source.write_bytes(line(history=[], rewrite="gold", utterance="qqqq"))
    assert "1 had a key 'rewrite'" in run(source, target).stderr
    assert list(records(target)[0].items()) == [("history", []), ("rewrite", "qqqq"), ("utterance", "qqqq")]


BAD = [b"broken\n", b'"text"\n', b'{"history": [], "utterance": "\xff\xfe"}\n', line(history="x", utterance="why")]


def test_bad_lines_are_listed_and_nothing_is_lost(run, source, target):
    source.write_bytes(b"".join([BAD[0], *good(2), b"\n", *BAD[1:], *good(1)]))
    result = run(source, target)
    assert [record["n"] for record in records(target)] == [0, 1, 0]
    rejects = records(Path(f"{target}.rejects.jsonl"))
    assert [reject["line"] for reject in rejects] == [1, 5, 6, 7]
    assert {reject["file"] for reject in rejects} == {str(source)}
    assert [reject["raw"].encode("utf-8", "surrogateescape") + b"\n" for reject in rejects] == BAD
    for reject, reason in zip(rejects, ["not valid JSON", "a JSON object", "0xff", "'history'"], strict=True):
        assert reason in reject["reason"]
    assert "4 bad lines" in result.stderr
    source.write_bytes(b"".join([BAD[0], *good(1)]))
    assert run(source, target).stderr.endswith(": 1 bad line\n")


def test_strict_ends_with_a_code_but_writes_everything(run, source, target, tmp_path):
    source.write_bytes(b"".join([*good(2), *BAD]))
    (tmp_path / "bad").mkdir()
    result = run(source, target, "--strict", "--rejects", tmp_path / "bad" / "list.jsonl.gz", error=BadInputError)
    assert str(result.exception) == f"{source}: 4 bad lines"
    assert len(records(target)) == 2
    assert len(records(tmp_path / "bad" / "list.jsonl.gz")) == 4
    run(source, target, "--strict", error=BadInputError)
    source.write_bytes(b"".join(good(2)))
    run(source, target, "--strict")
    assert Path(f"{target}.rejects.jsonl").read_bytes() == b""


def test_packed_files(run, tmp_path, source, monkeypatch):
    monkeypatch.setattr(chunks, "LINES_AT_ONCE", 3)
    (tmp_path / "in.gz").write_bytes(gzip.compress(source.read_bytes()))
    run(source, tmp_path / "plain.jsonl")
    run(tmp_path / "in.gz", tmp_path / "out.jsonl.gz")
    assert records(tmp_path / "out.jsonl.gz") == records(tmp_path / "plain.jsonl")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    run(tmp_path / "empty.jsonl", tmp_path / "nothing.gz")
    assert gzip.decompress((tmp_path / "nothing.gz").read_bytes()) == b""


def test_streams(run, source, target, tmp_path):
    run(source, target)
    assert run(source, "-").stdout_bytes == target.read_bytes()
    piped = run("-", "-", given=source.read_bytes() + BAD[0])
    assert piped.stdout_bytes == target.read_bytes()
    assert '"raw": "broken"' in piped.stderr
    run("-", "-", "--rejects", tmp_path / "bad.jsonl", given=BAD[0])
    assert [reject["line"] for reject in records(tmp_path / "bad.jsonl")] == [1]
    run("-", tmp_path / "from-stdin.jsonl", given=source.read_bytes())
    assert (tmp_path / "from-stdin.jsonl").read_bytes() == target.read_bytes()


def test_json_summary(run, source, target):
    source.write_bytes(b"".join([*good(6), *BAD]))
    summary = json.loads(run(source, target, "--json").stdout)
    changed = sum(record["rewrite"] != record["utterance"] for record in records(target))
    assert summary == {
        "out": str(target),
        "n": 6,
        "changed": changed,
        "failed": 0,
        "rejected": 4,
        "rejects": f"{target}.rejects.jsonl",
    }
    run(source, "-", "--json", code=2)
    run(source, target, "--details", "--key", "details", code=2)


def test_no_two_files_may_be_one(run, source, target, tmp_path):
    before = source.read_bytes()
    (tmp_path / "link").symlink_to(source)
    os.link(source, tmp_path / "hard")
    for out in (source, f"{tmp_path}/../{tmp_path.name}/in.jsonl", tmp_path / "link", tmp_path / "hard"):
        result = run(source, out, error=BadInputError)
        assert "the output cannot be the same file as the input" in str(result.exception)
    for rejects in (source, target):
        run(source, target, "--rejects", rejects, error=BadInputError)
    assert source.read_bytes() == before
    assert not target.exists()


def test_what_cannot_be_read_or_written_is_named(run, source, target, tmp_path):
    run(tmp_path / "absent.jsonl", target, error=BadInputError)
    run(tmp_path, target, error=BadInputError)
    run(source, source / "out.jsonl", error=DataUnavailableError)
    assert left_in(tmp_path) == ["in.jsonl"]
    result = CliRunner().invoke(build_app(), ["batch", str(source), str(target), "--model", str(tmp_path)])
    assert isinstance(result.exception, DataUnavailableError)
    assert not target.exists()


def test_folders_are_not_made(run, source, target, tmp_path):
    absent = tmp_path / "absent" / "deeper"
    (tmp_path / "link").symlink_to(absent / "file")
    for arguments in (
        [source, absent / "file"],
        [source, tmp_path / "link"],
        [source, target, "--rejects", absent / "file"],
        [source, "-", "--rejects", absent / "file"],
    ):
        result = run(*arguments, error=DataUnavailableError)
        assert str(result.exception) == f"cannot write {arguments[-1]}: there is no folder {absent}"
    assert left_in(tmp_path) == ["in.jsonl", "link"]


def test_a_language_that_chooses_nothing_is_said_once(run, source, target, tmp_path):
    bundled = ["batch", str(source), str(target), "--model", "zh-fast", "--restart", "--lang"]
    note = "note: the model zh-fast is for zh; asking it for en changes nothing"
    assert CliRunner().invoke(build_app(), [*bundled, "en"]).stderr.splitlines().count(note) == 1
    assert "note:" not in CliRunner().invoke(build_app(), [*bundled, "zh"]).stderr


def test_failures_inside_are_counted(run, source, target, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("broken")

    monkeypatch.setattr(rewriting, "decide", fail)
    assert "10 failed inside" in run(source, target).stderr
    written = target.read_bytes()
    target.unlink()
    assert str(run(source, target, "--strict", error=UrewriteError).exception) == "10 dialogues failed inside"
    assert target.read_bytes() == written
    assert all(record["rewrite"] == record["utterance"] for record in records(target))


def broken_off(monkeypatch, after: int) -> None:
    """Ctrl-C in the middle of a later chunk."""
    monkeypatch.setattr(chunks, "LINES_AT_ONCE", 3)
    whole = Rewriter.rewrite_batch
    calls = iter(range(100))

    def rewrite_batch(*arguments, **options):
        if next(calls) == after:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(Rewriter, "rewrite_batch", rewrite_batch)


def test_an_interrupted_job_says_how_to_go_on(run, source, target, monkeypatch):
    broken_off(monkeypatch, after=2)
    result = run(source, target, code=130)
    assert f"the same command goes on from what is in {target}.part" in result.stderr
    assert not target.exists()
    assert "goes on after line 6" in run(source, target).stderr
    assert [record["n"] for record in records(target)] == [*range(10)]
    assert left_in(target.parent) == ["in.jsonl", "out.jsonl", "out.jsonl.rejects.jsonl"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threshold", 0.5], "another threshold"),
        (["--details", "--batch-size", 8], "another details, batch_size"),
        (["--protect", "a"], "another protect"),
    ],
)
def test_a_job_with_other_options_is_not_gone_on_with(run, source, target, monkeypatch, options, said):
    broken_off(monkeypatch, after=1)
    run(source, target, code=130)
    assert said in str(run(source, target, *options, error=BadInputError).exception)
    run(source, target, *options, "--restart")
    assert len(records(target)) == 10


def test_an_input_that_changed_is_not_gone_on_with(run, source, target, monkeypatch, toy_bundle, tmp_path):
    broken_off(monkeypatch, after=1)
    run(source, target, code=130)
    source.write_bytes(source.read_bytes() + good(1)[0])
    assert "another input size, input time, input start" in str(run(source, target, error=BadInputError).exception)
    run(source, target, "--restart")
    assert len(records(target)) == 11


def test_another_model_does_not_go_on(run, source, target, monkeypatch, toy_bundle, tmp_path):
    broken_off(monkeypatch, after=1)
    run(source, target, code=130)
    other = tmp_path / "other"
    Rewriter.from_pretrained(toy_bundle).save_pretrained(other)
    config = json.loads((other / "config.json").read_text(encoding="utf-8"))
    (other / "config.json").write_text(json.dumps({**config, "name": "other"}), encoding="utf-8")
    (other / "SHA256SUMS").unlink()
    result = CliRunner().invoke(build_app(), ["batch", str(source), str(target), "--model", str(other)])
    assert "another model" in str(result.exception)


def start(toy_bundle: Path, *arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SLOW, "batch", "--model", toy_bundle, "--threads", 1, *arguments]
    return subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(process: subprocess.Popen[bytes]) -> bytes:
    """What a process said once it has done its work."""
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said
    return said


def wait_for_progress(process: subprocess.Popen[bytes], target: Path, lines: int) -> None:
    state = target.with_name(f"{target.name}.part.json")
    until = time.monotonic() + 240
    while time.monotonic() < until:
        if state.exists() and json.loads(state.read_bytes())["progress"].get("lines", 0) >= lines:
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    raise AssertionError("no progress")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="not provided: SIGKILL")
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_killed_job_goes_on_to_the_same_bytes(toy_bundle, tmp_path, suffix):
    source = tmp_path / "in.jsonl"
    lines = good(120)
    for position, bad in zip((5, 30, 70), BAD, strict=False):
        lines.insert(position, bad)
    source.write_bytes(b"".join(lines))
    whole, killed = tmp_path / f"whole.jsonl{suffix}", tmp_path / f"killed.jsonl{suffix}"
    finished(start(toy_bundle, source, whole, "--details"))
    with start(toy_bundle, source, killed, "--details") as process:
        wait_for_progress(process, killed, 40)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not killed.exists()
    with killed.with_name(f"{killed.name}.part").open("ab") as part:
        part.write(b'{"torn": "a li')
    assert b"goes on after line" in finished(start(toy_bundle, source, killed, "--details"))
    assert killed.read_bytes() == whole.read_bytes()
    assert len(records(killed)) == 120
    rejects = [Path(f"{path}.rejects.jsonl") for path in (whole, killed)]
    assert rejects[0].read_bytes() == rejects[1].read_bytes()
    assert len(records(rejects[1])) == 3
    assert not [name for name in left_in(tmp_path) if ".part" in name or ".lock" in name]


def test_what_comes_packed_through_a_pipe_is_unpacked(toy_bundle):
    with start(toy_bundle, "-", "-") as process:
        written, said = process.communicate(gzip.compress(b"".join(good(3))), timeout=240)
    assert process.returncode == 0, said
    assert len(written.splitlines()) == 3
    assert b"bad line" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="not provided: /dev/full")
def test_a_full_device_is_named(toy_bundle, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"".join(good(3)))
    with start(toy_bundle, source, "/dev/full") as process:
        _, said = process.communicate(timeout=240)
    assert process.returncode != 0
    assert b"cannot write /dev/full: No space left on device" in said


def test_a_closed_pipe_is_quiet(toy_bundle, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_bytes(line(history=[], utterance="why", more="x" * 5000) * 100)  # more than a pipe holds
    with start(toy_bundle, source, "-") as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 1
