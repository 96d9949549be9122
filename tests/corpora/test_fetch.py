from __future__ import annotations

import errno
import hashlib
import io
import os
import signal
import socket
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from urewrite.corpora import download, sources
from urewrite.corpora.download import Checksum, Download, Patience
from urewrite.corpora.fetch import Fetcher, extract
from urewrite.corpora.sources import Archive, Corpus, SourceFile
from urewrite.errors import BadInputError, DataUnavailableError

CONTENT = bytes(range(256)) * 2000
HASTE = Patience(timeout=0.5, attempts=3, pause=0.01)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Watcher:
    """Counts what a download reports."""

    def __init__(self) -> None:
        self.bytes = 0
        self.messages: list[str] = []

    def advance(self, amount: int) -> None:
        self.bytes += amount

    @contextmanager
    def progress(self, description, total):
        yield self.advance


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture
def get(server, tmp_path, watcher):
    """Download `/f` of the server to `file`; the content it must have is the first argument."""

    def get(content: bytes = CONTENT, size: int | None = len(CONTENT), patience: Patience = HASTE) -> bytes:
        target = tmp_path / "deep" / "file"
        checksum = Checksum("sha256", sha256(content))
        Download(f"{server.url}/f", target, checksum, size).run(watcher.advance, watcher.messages.append, patience)
        assert not target.with_name("file.part").exists()
        assert watcher.bytes == len(content)
        return target.read_bytes()

    return get


def part(tmp_path: Path) -> Path:
    path = tmp_path / "deep" / "file.part"
    path.parent.mkdir(exist_ok=True)
    return path


def test_a_plain_download(server, get, watcher):
    server.serve("/f", CONTENT)
    assert get() == CONTENT
    assert watcher.messages == []


def test_an_empty_file(server, get):
    server.serve("/f", b"")
    assert get(b"", 0) == b""


@pytest.mark.parametrize("send_length", [True, False])
def test_a_broken_off_download_goes_on(server, get, send_length):
    server.serve("/f", CONTENT, break_after=[100_000, 7, 200_000], send_length=send_length)
    assert get() == CONTENT
    assert server.requests == [("/f", None), ("/f", "bytes=100000-"), ("/f", "bytes=100007-"), ("/f", "bytes=300007-")]


def test_progress_allows_more_breaks_than_attempts(server, get):
    server.serve("/f", CONTENT, break_after=[50_000] * 9)
    assert get() == CONTENT


def test_breaking_off_at_the_same_place_is_given_up_and_the_part_kept(server, get, tmp_path):
    server.serve("/f", CONTENT, break_after=[1000] * 9, ranges=False)
    with pytest.raises(DataUnavailableError, match=r"broke off after 1000 of 512000 bytes.*3 attempts"):
        get()
    assert part(tmp_path).stat().st_size == 1000
    assert not (tmp_path / "deep" / "file").exists()


def test_the_next_run_resumes(server, get, tmp_path):
    server.serve("/f", CONTENT)
    part(tmp_path).write_bytes(CONTENT[:12345])
    assert get() == CONTENT
    assert server.requests == [("/f", "bytes=12345-")]


def test_a_complete_part_is_only_verified(server, get, tmp_path):
    part(tmp_path).write_bytes(CONTENT)
    assert get() == CONTENT
    assert server.requests == []


@pytest.mark.parametrize("kept", [b"x" * 500, b"x" * len(CONTENT), b"x" * (len(CONTENT) + 1)])
def test_a_part_that_does_not_fit_is_thrown_away(server, get, tmp_path, kept):
    server.serve("/f", CONTENT)
    part(tmp_path).write_bytes(kept)
    assert get() == CONTENT
    assert server.requests[-1] == ("/f", None)


def test_a_server_without_ranges_starts_again(server, get, tmp_path):
    server.serve("/f", CONTENT, ranges=False)
    part(tmp_path).write_bytes(CONTENT[:999])
    assert get() == CONTENT
    assert server.requests == [("/f", "bytes=999-")]


def test_an_unsatisfiable_range_starts_again(server, get, tmp_path):
    server.serve("/f", CONTENT)
    part(tmp_path).write_bytes(CONTENT + b"more")
    assert get(size=None) == CONTENT
    assert server.requests == [("/f", f"bytes={len(CONTENT) + 4}-"), ("/f", None)]


def test_another_range_than_asked_for_starts_again(server, get, tmp_path):
    server.serve("/f", CONTENT, wrong_range=True)
    part(tmp_path).write_bytes(CONTENT[:999])
    assert get() == CONTENT


def test_wrong_content_is_refused_with_both_sums_and_removed(server, get, tmp_path):
    wrong = bytes(len(CONTENT))
    server.serve("/f", wrong)
    with pytest.raises(DataUnavailableError) as caught:
        get()
    assert sha256(CONTENT) in str(caught.value)
    assert sha256(wrong) in str(caught.value)
    assert list((tmp_path / "deep").iterdir()) == []


@pytest.mark.parametrize("size", [len(CONTENT), None])
def test_too_much_content_is_stopped(server, get, tmp_path, monkeypatch, size):
    monkeypatch.setattr(download, "LARGEST_FILE", len(CONTENT))
    server.serve("/f", CONTENT * 3)
    with pytest.raises(DataUnavailableError, match="more than the expected 512000 bytes"):
        get(size=size)
    assert list((tmp_path / "deep").iterdir()) == []


def test_too_little_content_is_wrong_content(server, get):
    server.serve("/f", CONTENT[:-1])
    with pytest.raises(DataUnavailableError, match="not the published one"):
        get()


@pytest.mark.parametrize("status", [403, 404, 410, 451])
def test_a_refusal_is_not_asked_again(server, get, status):
    server.serve("/f", CONTENT, statuses=[status] * 9)
    with pytest.raises(DataUnavailableError, match=f"answered {status}"):
        get()
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_passing_trouble_is_waited_out(server, get, watcher, status):
    server.serve("/f", CONTENT, statuses=[status, status])
    assert get() == CONTENT
    assert len(watcher.messages) == 2


def test_a_lasting_trouble_is_given_up(server, get):
    server.serve("/f", CONTENT, statuses=[503] * 9)
    with pytest.raises(DataUnavailableError, match=r"answered 503.*3 attempts"):
        get()
    assert len(server.requests) == 3


def test_a_stall_times_out_and_is_resumed(server, get):
    server.serve("/f", CONTENT, stall=[3.0])
    assert get(patience=Patience(timeout=0.2, attempts=2, pause=0.01)) == CONTENT
    assert server.requests == [("/f", None), ("/f", "bytes=10-")]


def test_nobody_listens(tmp_path, watcher):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/f"
        with pytest.raises(DataUnavailableError, match="the connection failed"):
            Download(url, tmp_path / "f", Checksum("sha256", ""), 1).run(watcher.advance, print, HASTE)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/hostname", "starts with http://"),
        ("ftp://example.org/f", "starts with http://"),
        ("nonsense", "starts with http://"),
        ("http:///f", "and a host"),
        ("http://[", "is not an address: Invalid IPv6 URL"),
        ("http://host:port/f", "is not an address: Port"),
        ("http://host:99999/f", "is not an address: Port out of range"),
        (f"http://{'a' * 70}.org/f", "is not an address"),
        ("http://host/é", "written as %XX"),
        ("http://host/a b", "written as %XX"),
        ("http://host/a\nb", "written as %XX"),
    ],
)
def test_an_address_that_can_never_be_asked_is_bad_input(tmp_path, watcher, url, reason):
    with pytest.raises(BadInputError, match=reason) as caught:
        Download(url, tmp_path / "f", Checksum("sha256", ""), 1).run(watcher.advance, watcher.messages.append, HASTE)
    assert "\n" not in str(caught.value)
    assert watcher.messages == []


def test_a_length_no_number_can_hold_is_not_counted_on(server, get):
    server.serve("/f", b"", raw=b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n" + CONTENT)
    assert get() == CONTENT


@pytest.mark.parametrize("target", ["http://[", "http://host:port/", f"http://{'a' * 70}.org/", "file:///etc/hostname"])
def test_being_sent_on_to_a_bad_address_is_not_asked_again(server, get, target):
    server.serve("/f", b"", raw=f"HTTP/1.1 302 Found\r\nLocation: {target}\r\n\r\n".encode())
    with pytest.raises(DataUnavailableError):
        get()
    assert len(server.requests) == 1


def test_what_a_server_says_stays_on_one_line(server, get):
    server.serve("/f", b"", raw=b"HTTP/1.1 302 Found\r\nLocation: /f\r\n\r\n")
    with pytest.raises(DataUnavailableError, match=r"infinite loop\. The last 30x error") as caught:
        get()
    assert "\n" not in str(caught.value)
    server.serve("/f", b"", raw=b"HTTP/1.1 403 No\x1b[31m way\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(DataUnavailableError, match=r"answered 403 No \[31m way$"):
        get()


def test_a_bad_chunk_leaves_nothing_behind(server, get, tmp_path):
    server.serve("/f", b"", raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    with pytest.raises(DataUnavailableError, match=r"3 attempts in a row; try again later$"):
        get()
    assert list((tmp_path / "deep").iterdir()) == []


def test_a_full_disk_is_named(server, get, monkeypatch):
    server.serve("/f", CONTENT)
    real_open = Path.open

    class Full(io.RawIOBase):
        def write(self, data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def open_full(path, mode="r", *arguments, **options):
        return Full() if path.suffix == ".part" and mode == "ab" else real_open(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", open_full)
    with pytest.raises(DataUnavailableError, match=r"cannot write .*file: No space left on device"):
        get()


def test_a_folder_that_cannot_be_made_is_named(server, get, tmp_path):
    (tmp_path / "deep").write_text("a file where a folder should be")
    with pytest.raises(DataUnavailableError, match=r"cannot write .*file: "):
        get()


KILLED = """
import sys
from pathlib import Path
from urewrite.corpora.download import Checksum, Download, Patience
url, target, digest, size = sys.argv[1:]
Download(url, Path(target), Checksum("sha256", digest), int(size)).run(lambda amount: None, print, Patience())
"""


def test_a_killed_process_is_resumed(server, get, tmp_path):
    server.serve("/f", CONTENT, drip=0.01)
    arguments = [f"{server.url}/f", str(tmp_path / "deep" / "file"), sha256(CONTENT), str(len(CONTENT))]
    with subprocess.Popen([sys.executable, "-c", KILLED, *arguments]) as process:
        for _ in range(500):
            if part(tmp_path).exists() and part(tmp_path).stat().st_size > 20_000:
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    arrived = part(tmp_path).stat().st_size
    assert 20_000 < arrived < len(CONTENT)
    server.serve("/f", CONTENT)
    assert get() == CONTENT
    assert server.requests[-1] == ("/f", f"bytes={arrived}-")


def packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def toy(server, monkeypatch, no_data_elsewhere):
    """A corpus of one plain file and an archive of two, served at its public addresses; gives the cache."""
    plain, test, train = b"plain", b"[1]", b"[2]"
    release = packed({"Release/test.json": test, "Release/train.json": train, "../evil": b"x", "Release/more": b"x"})
    archive = Archive("toy/Release.zip", f"{server.url}/public.zip", hashlib.md5(release).hexdigest(), "Release")
    files = (
        SourceFile("toy/train.json", archive.url, None, None, archive),
        SourceFile("toy/test.json", archive.url, sha256(test), len(test), archive),
        SourceFile("toy/sub/plain.txt", f"{server.url}/public.txt", sha256(plain), len(plain)),
    )
    monkeypatch.setattr(sources, "SOURCES", (Corpus("toy", "en", "", "", "", files),))
    server.serve("/public.zip", release)
    server.serve("/public.txt", plain)
    server.serve("/base/toy/test.json", test)
    server.serve("/base/toy/sub/plain.txt", plain)
    return no_data_elsewhere


def run(watcher: Watcher, **settings) -> dict[str, str]:
    fetcher = Fetcher(watcher.progress, watcher.messages.append, patience=HASTE, **settings)
    return {result.path.removeprefix("toy/"): result.status for result in fetcher.fetch(["toy"])}


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {".lock"}


ALL = {"toy/train.json", "toy/test.json", "toy/sub/plain.txt"}


def test_a_corpus_is_fetched_and_only_named_members_unpacked(toy, server, watcher):
    assert run(watcher) == {"train.json": "fetched", "test.json": "fetched", "sub/plain.txt": "fetched"}
    assert tree(toy) == ALL
    assert (toy / "toy" / "train.json").read_bytes() == b"[2]"
    asked = len(server.requests)
    assert run(watcher) == {"train.json": "present", "test.json": "present", "sub/plain.txt": "present"}
    assert len(server.requests) == asked


def test_force_fetches_again_and_damage_is_repaired(toy, server, watcher):
    run(watcher)
    asked = len(server.requests)
    (toy / "toy" / "sub" / "plain.txt").write_bytes(b"pl")
    assert run(watcher) == {"train.json": "present", "test.json": "present", "sub/plain.txt": "fetched"}
    assert (toy / "toy" / "sub" / "plain.txt").read_bytes() == b"plain"
    assert len(server.requests) == asked + 1
    assert set(run(watcher, force=True).values()) == {"fetched"}
    assert len(server.requests) == asked + 3


def test_a_base_url_serves_files_by_their_mirror_path(toy, server, watcher):
    result = run(watcher, base_url=f"{server.url}/base/")
    assert result == {"train.json": "unavailable", "test.json": "fetched", "sub/plain.txt": "fetched"}
    assert tree(toy) == ALL - {"toy/train.json"}
    server.files["/base/toy/Release.zip"] = server.files["/public.zip"]
    assert run(watcher, base_url=f"{server.url}/base")["train.json"] == "fetched"


def test_one_failure_does_not_stop_the_others(toy, server, watcher):
    server.serve("/public.zip", b"not the archive")
    fetcher = Fetcher(watcher.progress, watcher.messages.append, patience=HASTE)
    results = fetcher.fetch(["toy"])
    assert [result.status for result in results] == ["failed", "failed", "fetched"]
    assert "expected md5" in results[0].reason
    assert tree(toy) == {"toy/sub/plain.txt"}


def test_what_a_mirror_has_is_not_fetched(toy, server, watcher, tmp_path):
    mirror = tmp_path / "mirror"
    for path in ("toy/test.json", "toy/sub/plain.txt"):
        (mirror / path).parent.mkdir(parents=True, exist_ok=True)
        (mirror / path).write_bytes(b"as it is")
    result = run(watcher, mirror=mirror)
    assert result == {"train.json": "unavailable", "test.json": "mirror", "sub/plain.txt": "mirror"}
    assert server.requests == []


def test_unknown_corpora_are_refused(watcher, no_data_elsewhere):
    with pytest.raises(BadInputError, match="rewrite, multi, task, canard, qrecc"):
        Fetcher(watcher.progress, print).fetch(["nothing"])


def test_a_cache_that_cannot_be_made_is_named(watcher, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UREWRITE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(DataUnavailableError, match=r"cannot write .*cache"):
        Fetcher(watcher.progress, print).fetch(["rewrite"])


def test_a_cache_that_cannot_be_locked_is_named(watcher, no_data_elsewhere):
    (no_data_elsewhere / ".lock").mkdir(parents=True)
    with pytest.raises(DataUnavailableError, match=r"cannot write .*cache"):
        Fetcher(watcher.progress, print).fetch(["rewrite"])


@pytest.mark.parametrize(
    ("members", "size", "reason"),
    [
        ({"Release/other": b"x"}, 3, "does not hold Release/test.json"),
        ({"Release/test.json": b"[123]"}, 3, "larger than the expected 3 bytes"),
        ({"Release/test.json": b"[2]"}, 3, "not the published one"),
        (None, 3, "cannot be unpacked"),
    ],
)
def test_bad_archives(tmp_path, members, size, reason):
    path = tmp_path / "Release.zip"
    path.write_bytes(b"PK nonsense" if members is None else packed(members))
    archive = Archive("toy/Release.zip", "http://x/Release.zip", "", "Release")
    with pytest.raises(DataUnavailableError, match=reason):
        extract(path, archive, SourceFile("toy/test.json", "", sha256(b"[1]"), size, archive), tmp_path)
    assert tree(tmp_path) == {"Release.zip"}


def test_a_damaged_member_is_refused(tmp_path):
    content = bytearray(packed({"Release/test.json": os.urandom(5000)}))
    content[1000] ^= 0xFF
    path = tmp_path / "Release.zip"
    path.write_bytes(content)
    archive = Archive("toy/Release.zip", "http://x/Release.zip", "", "Release")
    with pytest.raises(DataUnavailableError, match="cannot be unpacked"):
        extract(path, archive, SourceFile("toy/test.json", "", None, None, archive), tmp_path)
    assert tree(tmp_path) == {"Release.zip"}


AT_ONCE = """
import contextlib, sys
from urewrite.corpora import sources
from urewrite.corpora.fetch import Fetcher
from urewrite.corpora.sources import Corpus, SourceFile
url, digest, size = sys.argv[1:]
sources.SOURCES = (Corpus("toy", "en", "", "", "", (SourceFile("toy/f", url, digest, int(size)),)),)
progress = lambda description, total: contextlib.nullcontext(lambda amount: None)
print(Fetcher(progress, lambda message: None).fetch(["toy"])[0].status)
"""


def test_processes_that_fetch_at_once_do_not_disturb_each_other(server, no_data_elsewhere):
    server.serve("/f", CONTENT, drip=0.0005)
    command = [sys.executable, "-c", AT_ONCE, f"{server.url}/f", sha256(CONTENT), str(len(CONTENT))]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    statuses = sorted(process.communicate(timeout=60)[0].strip() for process in processes)
    assert statuses == ["fetched", "present", "present"]
    assert (no_data_elsewhere / "toy" / "f").read_bytes() == CONTENT
    assert len(server.requests) == 1


def test_the_published_sources_are_complete():
    paths = [file.path for corpus in sources.SOURCES for file in corpus.files]
    assert len(set(paths)) == len(paths)
    for corpus in sources.SOURCES:
        assert corpus.licence
        assert corpus.citation
        for file in corpus.files:
            assert file.path.startswith(f"{corpus.name}/")
            assert file.url.startswith("https://")
            assert file.archive is not None or (file.sha256 and file.size)


def test_the_real_files_have_the_published_sums(corpora_dir):
    for corpus in sources.SOURCES:
        for file in corpus.files:
            found = corpora_dir / file.path
            if file.sha256 is not None:
                assert found.stat().st_size == file.size
                assert Checksum("sha256", file.sha256).fits(found)
