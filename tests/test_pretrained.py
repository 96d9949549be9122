"""Where models are found: names, folders, and a hub that really serves over HTTP."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from urewrite.errors import DataUnavailableError
from urewrite.pretrained import MODELS, bundled, graph_of, resolve, to_learn_from

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_folder_is_itself_and_what_is_nowhere_is_said(tmp_path):
    assert resolve(tmp_path) == tmp_path
    assert resolve(str(tmp_path)) == tmp_path
    for name in ("nonsense", "./owner/name", str(tmp_path / "missing"), "a/b/c"):
        with pytest.raises(DataUnavailableError, match="there is no model"):
            resolve(name)
    with pytest.raises(DataUnavailableError, match=r"holds no model\.onnx"):
        graph_of(tmp_path)


def test_what_is_learned_from_is_bundled_or_a_path(tmp_path, monkeypatch):
    assert [to_learn_from(name) for name in bundled()] == [MODELS / name for name in bundled()]
    monkeypatch.setenv("HOME", str(tmp_path))
    assert to_learn_from("~/mine") == tmp_path / "mine"
    assert to_learn_from("owner/name") == Path("owner/name")  # of the hub only what runs is fetched, not what trains


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a download asks for."""

    folder: Path

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, with_body):
        if self.path.startswith("/api/models/owner/toy/revision/"):
            names = [{"rfilename": path.name} for path in sorted(self.folder.iterdir())]
            document = {"id": "owner/toy", "sha": COMMIT, "siblings": names, "private": False, "tags": []}
            content = json.dumps(document).encode()
        elif self.path.startswith(f"/api/models/owner/toy/tree/{COMMIT}"):
            files = [(path.name, path.read_bytes()) for path in sorted(self.folder.iterdir())]
            entries = [
                {"type": "file", "path": name, "size": len(held), "oid": hashlib.sha1(held).hexdigest()}
                for name, held in files
            ]
            content = json.dumps(entries).encode()
        elif self.path.startswith(f"/owner/toy/resolve/{COMMIT}/"):
            content = (self.folder / self.path.rpartition("/")[2]).read_bytes()
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def log_message(self, *_):
        """Quietly."""


@pytest.fixture
def hub(toy_bundle):
    Hub.folder = toy_bundle
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def fetched(model, hub, home, **environment):
    """A process of its own: the library reads where the hub is when it is imported."""
    code = (
        "import sys; from urewrite import Rewriter\n"
        "history = ['well now , do you know Oslo ?', 'Sure .']\n"
        "print(Rewriter.from_pretrained(sys.argv[1]).rewrite(history, 'where is it now ?'))"
    )
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, model],
        env={**kept, "HF_ENDPOINT": hub, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_model_comes_from_the_hub_and_is_kept(hub, tmp_path):
    first = fetched("owner/toy", hub, tmp_path)
    assert first.stdout == "where is Oslo now ?\n", first.stderr
    assert not list(tmp_path.glob("**/model.safetensors"))
    again = fetched("owner/toy", "http://127.0.0.1:9", tmp_path, HF_HUB_OFFLINE="1")
    assert again.stdout == "where is Oslo now ?\n", again.stderr


def test_what_the_hub_does_not_have_is_said(hub, tmp_path):
    result = fetched("owner/other", hub, tmp_path)
    assert "owner/other cannot be fetched from the hub" in result.stderr


def test_what_the_hub_has_no_checksums_of_is_refused(hub, toy_bundle, tmp_path):
    Hub.folder = tmp_path / "bare"
    shutil.copytree(toy_bundle, Hub.folder)
    (Hub.folder / "SHA256SUMS").unlink()
    result = fetched("owner/toy", hub, tmp_path / "home")
    assert "owner/toy on the hub holds no SHA256SUMS" in result.stderr
