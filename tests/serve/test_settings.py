"""Flags over environment over file; every mistake is named, no key is shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from urewrite.errors import BadInputError
from urewrite.serve.settings import ServeSettings, flag_of, load_settings

KEY = "k" * 15 + "1"


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "serve.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_flags_override_the_environment_and_that_the_file(file):
    path = file("port: 1\nworkers: 2\nmax_turns: 3\n")
    loaded = load_settings({"config": path, "port": 7}, {"UREWRITE_PORT": "5", "UREWRITE_WORKERS": "6"})
    assert (loaded.settings.port, loaded.settings.workers, loaded.settings.max_turns) == (7, 6, 3)
    assert loaded.origins == {"port": "--port", "workers": "UREWRITE_WORKERS", "max_turns": str(path)}


def test_the_file_may_be_named_by_the_environment(file):
    assert load_settings({}, {"UREWRITE_CONFIG": str(file("port: 9"))}).settings.port == 9


def test_lists_are_separated_by_commas_in_the_environment():
    settings = load_settings({}, {"UREWRITE_CORS_ORIGINS": "https://a.example, http://b.example:8080"}).settings
    assert settings.cors_origins == ("https://a.example", "http://b.example:8080")


def test_flags_not_given_change_nothing():
    flags = dict.fromkeys(ServeSettings.model_fields) | {"cors_origins": []}
    assert load_settings(flags, {"UREWRITE_CORS_ORIGINS": "*"}).settings.cors_origins == ("*",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port: 70000", "field 'port'"),
        ("ports: 1", "there is no such setting"),
        ("- a", "expected settings"),
        ("port: [", "is not YAML"),
        ("workers: many", "field 'workers'"),
        ("threads: 0", "field 'threads'"),
        ("cors_origins: [example.org]", "expected an origin"),
        ("trusted_proxies: [proxy]", "proxy"),
        ("max_waiting_dialogues: 1", "max_batch_items must not be above"),
        ("stop_seconds: 1", "stop_seconds must be at least"),
        ("request_seconds: .nan", "field 'request_seconds'"),
        ("log_level: loud", "field 'log_level'"),
        ("api_key_file: /nowhere", "cannot be read"),
    ],
)
def test_mistakes_are_named(file, text, said):
    with pytest.raises(BadInputError, match=said):
        load_settings({"config": file(text)}, {})


def test_keys_are_never_shown(file, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(f"# ours\n\n{KEY}2\n", encoding="utf-8")
    loaded = load_settings({"api_key_file": keys}, {"UREWRITE_API_KEYS": f"{KEY},{KEY}3"})
    assert loaded.settings.keys() == (KEY, f"{KEY}3", f"{KEY}2")
    assert "api_keys = 2 keys (UREWRITE_API_KEYS)" in loaded.lines()
    assert KEY not in "\n".join(loaded.lines()) + repr(loaded)
    for wrong in ("short", "ключ" * 8, f"{KEY} {KEY}"):
        for source in ({"UREWRITE_API_KEYS": wrong}, {"UREWRITE_CONFIG": str(file(f"api_keys: ['{wrong}'"))}):
            with pytest.raises(BadInputError) as caught:
                load_settings({}, source)
            assert wrong not in str(caught.value)
        keys.write_text(wrong, encoding="utf-8")
        with pytest.raises(BadInputError, match="line 1") as caught:
            load_settings({"api_key_file": keys}, {})
        assert wrong not in str(caught.value)


def urewrite(*arguments, **environment):
    command = [sys.executable, "-m", "urewrite", "serve", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200", **environment}, check=False
    )


def test_every_setting_has_a_flag_and_a_variable():
    text = urewrite("--help").stdout
    assert "Example:" in text
    for name in ServeSettings.model_fields:
        assert name == "api_keys" or f"{flag_of(name)} " in text
        assert f"[UREWRITE_{name.upper()}]" in text or name == "api_keys"


def test_mistakes_on_the_command_line_are_one_line(tmp_path):
    result = urewrite("--model", tmp_path / "nothing")
    assert result.returncode == 4
    assert result.stderr.splitlines()[-1].startswith("urewrite: error: there is no model")
    assert "model = " in result.stderr
    result = urewrite(UREWRITE_PORT="many")
    assert result.returncode == 3
    assert "UREWRITE_PORT" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert urewrite("--ports", "1").returncode == 2


def test_without_the_extra_one_line_says_so(tmp_path):
    (tmp_path / "fastapi.py").write_text("raise ImportError('No module named fastapi')", encoding="utf-8")
    (tmp_path / "uvicorn.py").write_text("raise ImportError('No module named uvicorn')", encoding="utf-8")
    result = urewrite("--help", PYTHONPATH=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith("urewrite: error: serving needs the extra 'serve'")
    assert len(result.stderr.splitlines()) == 1


def test_other_commands_do_not_load_it():
    code = (
        "import sys; from urewrite.cli.main import build_app; build_app();"
        "print({'fastapi', 'uvicorn', 'yaml', 'onnxruntime'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_the_documentation_lists_every_setting_as_it_is():
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    for name, field in ServeSettings.model_fields.items():
        default = "" if field.default in (None, ()) else f"`{field.default}`"
        flag = "" if name == "api_keys" else f"`{flag_of(name)}`"
        assert f"| `{name}` | {flag} | {default} | {field.description} |".lower() in page.lower()
