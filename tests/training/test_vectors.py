from __future__ import annotations

import gzip

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="not provided: torch, which the extra train brings")

from urewrite.errors import BadInputError, DataUnavailableError  # noqa: E402
from urewrite.prepare import Vocabulary  # noqa: E402
from urewrite.training.vectors import lexicon_from_vectors, start_from_vectors  # noqa: E402

VOCABULARY = Vocabulary(["[PAD]", "[UNK]", "[S]", "[E]", "the", "北", "rare", "of"])
VECTORS = {"of": [4.0, -2.0, 1.0], "other": [9.0, 9.0, 9.0], "北": [0.5, 0.0, -3.0], "the": [-1.0, 2.0, 0.25]}
TEXT = "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in VECTORS.items())


def embedding(width=5):
    torch.manual_seed(0)
    return torch.nn.Embedding(len(VOCABULARY), width, padding_idx=0)


def written(folder, form):
    """The same vectors in each of the forms."""
    path = folder / "vectors.txt"
    if form == "text":
        path.write_text(TEXT, encoding="utf-8")
    elif form == "with a head":
        path.write_text(f"{len(VECTORS)} 3\n{TEXT}", encoding="utf-8")
    elif form == "packed":
        path = folder / "vectors.txt.gz"
        path.write_bytes(gzip.compress(TEXT.encode()))
    else:
        path = folder
        (folder / "words.txt").write_text("\n".join(VECTORS) + "\n", encoding="utf-8")
        np.save(folder / "vectors.npy", np.array(list(VECTORS.values()), dtype=np.float16))
    return path


@pytest.mark.parametrize("form", ["text", "with a head", "packed", "folder"])
def test_known_words_start_from_their_vectors_and_others_at_random(tmp_path, form):
    made, before = embedding(), embedding().weight[0]
    assert start_from_vectors(made, VOCABULARY, written(tmp_path, form)) == 3
    found = {word: made.weight[VOCABULARY.ids([word])[0]].detach() for word in VOCABULARY.words}
    factor = found["of"][0] / VECTORS["of"][0]
    assert factor > 0
    for word in ("of", "北", "the"):
        assert torch.allclose(found[word][:3], factor * torch.tensor(VECTORS[word]), atol=1e-5)
        assert found[word][3:].all()
    assert found["rare"].all()
    assert not torch.allclose(found["rare"], found["[UNK]"])
    assert torch.equal(found["[PAD]"], before)


@pytest.mark.parametrize("scale", [0.01, 1, 100])
def test_vectors_of_any_origin_start_with_one_spread(tmp_path, scale):
    lines = [f"{word} {' '.join(str(scale * value) for value in vector)}\n" for word, vector in VECTORS.items()]
    (tmp_path / "vectors.txt").write_text("".join(lines), encoding="utf-8")
    made = embedding(3)
    start_from_vectors(made, VOCABULARY, tmp_path / "vectors.txt")
    assert made.weight[[4, 5, 7]].std(correction=0).item() == pytest.approx(0.3, abs=1e-4)


def test_the_first_of_two_vectors_counts(tmp_path):
    (tmp_path / "vectors.txt").write_text("of 1 2\nthe 3 -4\nof 7 7\n", encoding="utf-8")
    made = embedding(2)
    assert start_from_vectors(made, VOCABULARY, tmp_path / "vectors.txt") == 2
    assert made.weight[7, 1].item() == pytest.approx(2 * made.weight[7, 0].item())


def test_without_a_known_word_nothing_changes(tmp_path):
    (tmp_path / "vectors.txt").write_text("zzz 1 2\n", encoding="utf-8")
    made = embedding()
    assert start_from_vectors(made, VOCABULARY, tmp_path / "vectors.txt") == 0
    assert torch.equal(made.weight, embedding().weight)


@pytest.mark.parametrize("form", ["text", "packed", "folder"])
def test_too_many_dimensions_are_an_error_that_names_the_file(tmp_path, form):
    path = written(tmp_path, form)
    with pytest.raises(BadInputError, match=r"3 dimensions, network\.embedding only 2") as caught:
        start_from_vectors(embedding(2), VOCABULARY, path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("line", ["the 1 x 3", "the 1 2", "1 2", "the"])
def test_a_bad_line_is_named(tmp_path, line):
    (tmp_path / "vectors.txt").write_text(f"of 1 2 3\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInputError) as caught:
        start_from_vectors(embedding(), VOCABULARY, tmp_path / "vectors.txt")
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "vectors.txt"), 2)


def test_blanks_at_the_end_of_lines_and_in_words_are_no_fault(tmp_path):
    """fastText writes the first, the largest GloVe the second."""
    (tmp_path / "vectors.txt").write_text("of 1 2 3 \n. . . 4 5 6\nat a@b.c 1 1 1\nthe 3 2 1 \n", encoding="utf-8")
    assert start_from_vectors(embedding(), VOCABULARY, tmp_path / "vectors.txt") == 2


@pytest.mark.parametrize(
    ("name", "content", "line", "said"),
    [
        ("vectors.txt", b"of 1 2 3\nth\xe9 1 2 3\n", 2, "byte 3 .0xe9. is not valid UTF-8"),
        ("vectors.txt.gz", gzip.compress(TEXT.encode(), mtime=0)[:-12], 4, "cannot be read further"),
        ("vectors.txt.gz", TEXT.encode(), 1, "cannot be read further: Not a gzipped file"),
    ],
    ids=["another encoding", "cut off", "not packed"],
)
def test_what_is_cut_off_or_no_text_is_named(tmp_path, name, content, line, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=said) as caught:
        start_from_vectors(embedding(), VOCABULARY, path)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_lines_may_end_as_on_windows(tmp_path):
    (tmp_path / "vectors.txt").write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert start_from_vectors(embedding(), VOCABULARY, tmp_path / "vectors.txt") == 3


@pytest.mark.parametrize("name", ["missing.txt", ""])
def test_missing_vectors_are_named(tmp_path, name):
    with pytest.raises(DataUnavailableError, match=str(tmp_path / name)):
        start_from_vectors(embedding(), VOCABULARY, tmp_path / name)


def test_a_folder_of_other_arrays_is_refused(tmp_path):
    (tmp_path / "words.txt").write_text("the\nof", encoding="utf-8")
    np.save(tmp_path / "vectors.npy", np.array([{}, {}]), allow_pickle=True)
    with pytest.raises(DataUnavailableError, match=str(tmp_path)):
        start_from_vectors(embedding(), VOCABULARY, tmp_path)


@pytest.mark.parametrize("form", ["text", "folder"])
def test_terms_are_the_first_words_of_a_script_without_blanks(tmp_path, form, monkeypatch):
    listed = ["</s>", "，", "的", "iphone", "东京", "太长的一个词", "é", "京a", "カメラ", "北", "上海"]
    vectors = {word: [float(number), 1.0] for number, word in enumerate(listed)}
    monkeypatch.setitem(globals(), "VECTORS", vectors)
    monkeypatch.setitem(globals(), "TEXT", "".join(f"{word} {x} {y}\n" for word, (x, y) in vectors.items()))
    source = written(tmp_path, form)
    lexicon, table = lexicon_from_vectors(source, 4, 3)
    assert lexicon.terms == ("的", "东京", "カメラ", "北")
    assert table.shape == (5, 3)
    assert not table[0].any()
    factor = table[1, 0] / vectors["的"][0]
    assert torch.allclose(table[1:, :2], factor * torch.tensor([vectors[term] for term in lexicon.terms]))
    assert table[1:, :2].std(correction=0) == pytest.approx(0.3, abs=1e-4)
    with pytest.raises(BadInputError, match=r"network\.lexicon.*5 terms, not 6"):
        lexicon_from_vectors(source, 6, 3)
    with pytest.raises(BadInputError, match=r"2 dimensions, network\.embedding only 1"):
        lexicon_from_vectors(source, 2, 1)
