from __future__ import annotations

import importlib
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from edits.dialogues import reachable_examples
from urewrite.cli.main import build_app
from urewrite.decide import gold
from urewrite.dialogue import Dialogue, Example
from urewrite.edits.grid import ConnectionWords
from urewrite.edits.supervise import supervise
from urewrite.picture import LONGEST_LABEL, LONGEST_TEXT, grid_svg, label
from urewrite.rewrite import GOLD, GridView, Origin, Piece, Region, Rewrite

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=12)  # halves of surrogate pairs included


def drawn(history, utterance, rewrite, **words) -> Rewrite:
    return gold(supervise(Example(Dialogue.of(history, utterance), rewrite), ConnectionWords(**words)))


def plain(text: str, grid: GridView | None = None, **more) -> Rewrite:
    return Rewrite(text, text, (), (Piece(0, len(text), Origin.UTTERANCE, 0, len(text)),), grid=grid, **more)


def view(rows, columns, *regions: Region, turns=None, likely=0.9) -> GridView:
    probabilities = np.zeros((3, len(rows), len(columns)), dtype=np.float32)
    for region in regions:
        box = slice(region.top, region.bottom), slice(region.left, region.right)
        probabilities[1 if region.op == "substitute" else 2][box] = likely
    return GridView(tuple(rows), tuple(columns), tuple(turns or [0] * len(rows)), probabilities, regions)


class Picture:
    """What is in an SVG, by class."""

    def __init__(self, shown: Rewrite | str) -> None:
        self.source = shown if isinstance(shown, str) else grid_svg(shown)
        self.source.encode("utf-8")
        self.root = ElementTree.fromstring(self.source)

    def elements(self, tag, *kinds):
        """Those that are not of the legend."""
        legend = {id(part) for group in self.root.iterfind("{*}g") for part in group.iter()}
        return [
            found
            for found in self.root.iterfind(f".//{{*}}{tag}")
            if set(kinds) <= set(found.get("class", "").split()) and id(found) not in legend
        ]

    def words(self, kind):
        return ["".join(found.itertext()) for found in self.elements("text", kind)]

    def said(self):
        """All words but those of numbers and of edits that were only thought of, which hang on a hair."""
        made = [box.findtext("{*}title") for box in self.elements("rect", "box", "made")]
        shown = [self.words(kind) for kind in ("row", "column", "utterance", "rewrite", "small")]
        return [re.sub(r"(,|;) (score|confidence) [\d.]+", "", text) for texts in (*shown, made) for text in texts]

    def regions(self):
        """Boxes as (edit type, whether made, top, bottom, left, right), in positions of rows and columns."""
        lines = self.elements("path", "lines")[0].get("d").removeprefix("M").split("M")
        rows = [float(line.split()[1].split("H")[0]) for line in lines if "H" in line]
        columns = [float(line.split()[0]) for line in lines if "V" in line]
        found = set()
        for box in self.elements("rect", "box"):
            x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
            _, op, made = box.get("class").split()
            edges = (near(rows, y), near(rows, y + height), near(columns, x), near(columns, x + width))
            found.add((op, made == "made", *edges))
        return found


def near(edges, place):
    position = min(range(len(edges)), key=lambda index: abs(edges[index] - place))
    assert abs(edges[position] - place) < 0.3
    return position


PAPER = drawn(["北京今天天气如何", "北京今天是阴天"], "为什么总是这样", "北京为什么总是阴天")
JOINED = drawn(
    ["Frank Herbert", "When was Dune published?", "Dune was published in 1965."],
    "Did he write other books?",
    "Did Frank Herbert write other books besides Dune?",
    leading=("of", "besides"),
)


def test_the_example_of_the_paper():
    picture = Picture(PAPER)
    assert picture.words("row") == [*"北京今天天气如何", "[S]", *"北京今天是阴天"]
    assert picture.words("column") == [*"为什么总是这样", "[E]"]
    assert picture.regions() == {("insert", True, 9, 11, 0, 1), ("substitute", True, 14, 16, 5, 7)}
    assert picture.words("utterance")[-1] == "为什么总是这样"
    assert picture.words("rewrite")[-1] == "北京为什么总是阴天"
    edited = [(span.get("class"), span.text) for span in picture.root.iterfind(".//{*}tspan")]
    assert edited == [("insert", "北京"), ("substitute", "阴天")]


def test_turns_separators_and_connection_words_are_told_apart():
    picture = Picture(JOINED)
    assert picture.words("small")[1:5] == ["connection", "turn 1", "turn 2", "turn 3"]
    assert len(picture.elements("rect", "separator")) == picture.words("row").count("[S]") == 3
    assert len(picture.elements("path", "turn")) == 4
    dim = [found.text for found in picture.elements("text", "row", "dim")]
    assert dim == ["of", "besides", "[S]", "[S]", "[S]"]


def test_a_word_that_looks_like_a_separator_is_none():
    picture = Picture(plain("why", view(["[S]", "[S]"], ["why", "[E]"], turns=[0, None])))
    assert len(picture.elements("rect", "separator")) == 1


def test_it_says_who_made_the_grid():
    assert Picture(PAPER).words("small")[0] == "gold grid, derived from the rewrite"
    named = replace(PAPER, model="zh-fast")
    assert Picture(named).words("small")[0] == "grid predicted by the model zh-fast"
    assert Picture(replace(PAPER, model=None)).words("small")[0] == "grid"


@given(reachable_examples())
def test_every_edit_has_its_box_and_every_word_its_place(reachable):
    supervision = supervise(reachable.example)
    result = gold(supervision)
    picture = Picture(result)
    assert picture.words("row") == [label(word) for word in result.grid.rows]
    assert picture.words("column") == [label(word) for word in result.grid.columns]
    assert picture.regions() == {
        (region.op, True, region.top, region.bottom, region.left, region.right) for region in result.grid.regions
    }
    axes = supervision.axes
    for edit in result.edits:
        (source,) = (source for source in axes.sources if source.turn == edit.source_turn)
        row = source.first_row + source.tokens.starts.index(edit.source_start)
        assert any(op == edit.op and top <= row < bottom for op, _, top, bottom, _, _ in picture.regions())
    cells = {
        cell
        for region in result.grid.regions  # which may overlap
        for cell in product(range(region.top, region.bottom), range(region.left, region.right))
    }
    assert len(picture.elements("text", "letter")) == len(cells)


@given(
    st.lists(ANY_TEXT, max_size=4),
    st.lists(ANY_TEXT, min_size=1, max_size=4),
    ANY_TEXT.filter(bool),
    ANY_TEXT,
)
@example(["\x00", "\ud800", "\ufffe", "]]>"], ["<b>&amp;</b>", "\u202e"], "\x1b[31m\udfff <script>", "&")
def test_whatever_the_words_are_it_is_xml(rows, columns, text, model):
    region = Region("insert", 0, len(rows), 0, 1, 0.5, bool(len(rows) % 2))
    grid = view(rows, columns, *[region] * bool(rows))
    picture = Picture(plain(text, grid, model=model, reason="rewritten", confidence=0.5))
    assert picture.words("row") == [label(row) for row in rows]
    assert picture.words("column") == [label(column) for column in columns]
    assert len(picture.regions()) == bool(rows)


def test_made_and_dropped_regions_differ_in_box_and_letter():
    grid = view(
        ["a", "b", "c"],
        ["why", "[E]"],
        Region("substitute", 0, 2, 0, 1, 0.9, True),
        Region("insert", 2, 3, 1, 2, 0.4, False),
    )
    picture = Picture(plain("why", grid))
    assert [found.text for found in picture.elements("text", "letter")] == ["i", "S", "S"]
    assert picture.regions() == {("substitute", True, 0, 2, 0, 1), ("insert", False, 2, 3, 1, 2)}
    assert len(picture.elements("rect", "box", "dropped")) == 1
    assert ".dropped{stroke-dasharray" in picture.source
    told = [box.findtext("{*}title") for box in picture.elements("rect", "box")]
    assert told == ["c before [E], score 0.40, not made", "a b in place of why, score 0.90"]


def test_the_likelier_the_stronger():
    grid = view(["a", "b", "c", "d"], ["why", "[E]"])
    grid.probabilities[1, :, 0] = 0.3, 0.8, 0.001, np.nan
    grid.probabilities[2, 0, 1] = 0.6
    picture = Picture(plain("why", grid))
    shades = [float(cell.get("fill-opacity")) for cell in picture.elements("rect", "cell", "substitute")]
    assert shades == [0.3, 0.8]
    assert [cell.get("fill-opacity") for cell in picture.elements("rect", "cell", "insert")] == ["0.60"]


def test_of_regions_that_overlap_the_one_that_was_made_has_the_letters():
    grid = view(
        ["a", "b"], ["x", "y"], Region("insert", 0, 1, 0, 2, 0.9, True), Region("substitute", 0, 2, 0, 2, 0.4, False)
    )
    assert sorted(found.text for found in Picture(plain("x y", grid)).elements("text", "letter")) == [
        "I",
        "I",
        "s",
        "s",
    ]


def test_a_grid_without_rows():
    picture = Picture(plain("Hello there", view([], ["Hello", "there", "[E]"]), reason="no_history"))
    assert picture.words("column") == ["Hello", "there", "[E]"]
    assert picture.words("row") == []
    assert picture.words("rewrite")[-1] == "Hello there"


def test_a_result_without_a_grid_shows_its_texts():
    picture = Picture(plain("Hello there", reason="never"))
    assert picture.words("small")[0] == "no grid"
    assert picture.words("rewrite")[-1] == "Hello there"
    assert "rewriting is switched off" in picture.words("small")


def test_long_words_are_cut():
    assert label("x" * 100_000) == "x" * (LONGEST_LABEL - 1) + "…"
    assert label("字" * 30).endswith("字…")
    assert label("a" + "\u0300" * 100_000).startswith("a\u0300")
    assert len(label("a" + "\u0300" * 100_000)) < 100
    for whole in ("👨‍👩‍👧‍👦", "x" * LONGEST_LABEL, "e\u0301" * LONGEST_LABEL):
        assert label(whole) == whole
    size = len(Picture(plain("x", view(["x" * 100_000], ["y" * 100_000, "[E]"]))).source)
    assert size < 10_000


@pytest.mark.parametrize("text", ["word " * 60, "字" * 300, "x" * 900, "e\u0301" * 300, "👨‍👩‍👧‍👦" * 60])
def test_long_texts_are_wrapped_within_the_picture(text):
    picture = Picture(plain(text, view(["a"], ["why", "[E]"])))
    lines = picture.words("utterance")
    assert len(lines) > 1
    assert "".join(lines) == text
    assert not any(line.startswith(("\u0301", "\u200d")) or line.endswith("\u200d") for line in lines)
    assert float(picture.root.get("width")) <= 760
    if " " in text:
        assert all(line.endswith("word ") for line in lines)


def test_an_endless_text_ends_in_an_ellipsis():
    text = "why " * 100_000
    picture = Picture(plain(text))
    assert "".join(picture.words("utterance")) == text[:LONGEST_TEXT] + "…"
    assert len(picture.source) < 20_000


def test_it_is_accessible_and_stands_alone():
    picture = Picture(JOINED)
    assert picture.root.get("role") == "img"
    assert [child.tag.split("}")[1] for child in picture.root][:2] == ["title", "desc"]
    title, described = (picture.root.findtext(f"{{*}}{name}") for name in ("title", "desc"))
    assert title == "Did he write other books? → Did Frank Herbert write other books besides Dune?"
    assert "Frank Herbert in place of he" in described
    assert "besides before ?" in described
    assert "prefers-color-scheme:dark" in picture.source
    for outside in ("href", "url(", "@import", "@font-face", "<script", "http://www.w3.org/1999"):
        assert outside not in picture.source


def test_what_nothing_was_edited_of_says_so():
    described = Picture(plain("Hello", view(["a"], ["Hello", "[E]"]))).root.findtext("{*}desc")
    assert described.endswith("Nothing is edited.")


def test_the_api_and_the_command_draw_the_same(tmp_path):
    arguments = ["-H", "北京今天天气如何", "-H", "北京今天是阴天", "为什么总是这样", "北京为什么总是阴天"]
    file = tmp_path / "new folder" / "grid.svg"
    result = CliRunner().invoke(build_app(), ["edits", *arguments, "--svg", str(file)])
    assert result.exit_code == 0
    assert file.read_text(encoding="utf-8") == PAPER.to_svg() == grid_svg(PAPER)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    result = CliRunner().invoke(build_app(), ["edits", "a", "a", "--svg", str(tmp_path / "file" / "grid.svg")])
    assert result.exit_code != 0
    assert "cannot write" in str(result.exception)


def test_the_pictures_of_the_docs_are_those_of_today(monkeypatch):
    """If this fails after a model has changed, `python benchmarks/grid_pictures.py` draws them anew."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    pictures = importlib.import_module("benchmarks.grid_pictures")
    found = pictures.drawn()
    assert set(found) == {path.name for path in pictures.IMAGES.glob("grid-*.svg")}
    for name, result in found.items():
        kept = (pictures.IMAGES / name).read_text(encoding="utf-8")
        assert Picture(kept).said() == Picture(result).said(), name
        if result.model == GOLD:
            assert kept == grid_svg(result), name
