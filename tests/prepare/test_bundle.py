from __future__ import annotations

import json

import pytest

from urewrite.bundle import ModelConfig, read_config, read_preparer, write_model
from urewrite.dialogue import Dialogue
from urewrite.edits.grid import ConnectionWords, lay_out
from urewrite.errors import BadInputError, DataUnavailableError
from urewrite.prepare import Vocabulary

CONFIG = ModelConfig("x", ConnectionWords(("of",), ("'s", "的")), 300, {"width": 8}, trained_on=("a: 1 example",))
VOCABULARY = Vocabulary.of([lay_out(Dialogue.of(["a 北"], "b"))])


@pytest.fixture
def folder(tmp_path):
    write_model(tmp_path / "model", CONFIG, VOCABULARY)
    return tmp_path / "model"


def rewritten(folder, **changes):
    """Change keys of the configuration; None takes one out."""
    document = json.loads((folder / "config.json").read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in document.items() if value is not None or key not in changes}
    (folder / "config.json").write_text(json.dumps(kept), encoding="utf-8")
    return folder


def test_what_was_written_is_read_again(folder):
    assert read_config(folder) == CONFIG
    assert read_preparer(folder, CONFIG).words == VOCABULARY.words
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "vocabulary.json"]


def test_a_folder_that_is_no_model_is_named(tmp_path, folder):
    with pytest.raises(DataUnavailableError, match=rf"{tmp_path} is no model folder: it holds no config\.json"):
        read_config(tmp_path)
    (folder / "vocabulary.json").unlink()
    with pytest.raises(DataUnavailableError, match=r"it holds no vocabulary\.json"):
        read_preparer(folder, CONFIG)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
def test_what_is_not_json_is_said(folder, content):
    (folder / "config.json").write_bytes(content)
    with pytest.raises(BadInputError, match=r"config\.json: is not JSON"):
        read_config(folder)


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_another_format_is_refused(folder, version):
    with pytest.raises(BadInputError, match="expected 1, found") as caught:
        read_config(rewritten(folder, format=version))
    assert caught.value.field == "format"


@pytest.mark.parametrize("text", ["[]", "1", "null"])
def test_json_that_is_no_object_is_refused(folder, text):
    (folder / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError, match=r"config\.json"):
        read_config(folder)


@pytest.mark.parametrize("key", ["name", "connection_words", "most_rows", "network", "pieces", "trained_on"])
def test_a_missing_key_is_named(folder, key):
    with pytest.raises(BadInputError, match=rf"config\.json: is not the configuration of a model: .*{key}"):
        read_config(rewritten(folder, **{key: None}))


@pytest.mark.parametrize(
    "changes", [{"nonsense": 1}, {"connection_words": ["of"]}, {"pieces": {"start": 1}}, {"trained_on": 3}]
)
def test_keys_of_another_form_are_refused(folder, changes):
    with pytest.raises(BadInputError, match="is not the configuration of a model"):
        read_config(rewritten(folder, **changes))
