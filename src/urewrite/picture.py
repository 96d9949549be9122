"""A result as a picture: its grid with all words, how likely each edit is, which were made, and what came of them.

An SVG that needs nothing else: no script, no font to fetch. It follows the colour scheme of whoever looks at it, edit
types differ in letters as well as in colours, and whatever the texts hold, the XML stays well formed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, groupby, product

from urewrite.edits.grid import SEPARATOR
from urewrite.explain import REASONS, joined
from urewrite.rewrite import GOLD, GridView, Origin, Region, Rewrite

LONGEST_LABEL = 18
"""Narrow characters that a word beside the grid may take; what is longer ends in an ellipsis."""

LONGEST_TEXT = 2_000
"""Characters of an utterance that are shown; nobody reads more from a picture."""

_FONT, _SMALL = 14, 11
_NARROW, _WIDE = 0.625, 1.0  # of the size of a monospaced font, the second for CJK; in eighths, which add up exactly
_MARGIN, _GAP, _LINE = 16, 8, 20
_CELL = 24
_CAPTION = _MARGIN + _SMALL  # base lines
_HEADER = _CAPTION + _LINE + _GAP // 2
_INDENT = _MARGIN + 10 * _NARROW * _SMALL  # of the texts below the grid, beside what they are
_LEAST_WIDTH, _TEXT_WIDTH = 480, 760  # of the picture; the second if the texts below the grid need it
_FAINTEST = 0.02
_DARK_FROM = 0.65  # above it the fill is bright enough for dark letters, whatever is behind it
_LONGEST_NAME = 40
_MARKS = 4  # characters for each that is to be seen; words with more marks upon their letters are cut
_JOINERS = "\u200c\u200d"
_LETTERS = {"substitute": "S", "insert": "I"}

# Blue and orange of Okabe and Ito, which all kinds of colour vision tell apart.
_STYLE = """
.urewrite-grid text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328}
.urewrite-grid .small{font-size:11px}
.urewrite-grid .dim{fill:#59636e}
.urewrite-grid .paper{fill:#ffffff}
.urewrite-grid .lines{stroke:#d1d9e0;fill:none}
.urewrite-grid .separator{fill:#eff2f5}
.urewrite-grid .turn{stroke:#818b98;stroke-width:2}
.urewrite-grid .cell.substitute{fill:#56b4e9}
.urewrite-grid .cell.insert{fill:#e69f00}
.urewrite-grid .box{fill:none;stroke-width:2.5}
.urewrite-grid .box.substitute{stroke:#005a8c}
.urewrite-grid .box.insert{stroke:#9a5b00}
.urewrite-grid .dropped{stroke-dasharray:4 3}
.urewrite-grid .letter{font-weight:bold}
.urewrite-grid tspan{font-weight:bold;text-decoration:underline}
.urewrite-grid tspan.substitute{fill:#005a8c}
.urewrite-grid tspan.insert{fill:#8a5200}
@media (prefers-color-scheme:dark){
.urewrite-grid text{fill:#e6edf3}
.urewrite-grid .dim{fill:#9198a1}
.urewrite-grid .paper{fill:#14181d}
.urewrite-grid .lines{stroke:#343b43}
.urewrite-grid .separator{fill:#20262d}
.urewrite-grid .turn{stroke:#9198a1}
.urewrite-grid .box.substitute{stroke:#a9dbf7}
.urewrite-grid .box.insert{stroke:#ffd166}
.urewrite-grid .letter.dark{fill:#101418}
.urewrite-grid tspan.substitute{fill:#79c7f2}
.urewrite-grid tspan.insert{fill:#f5b53d}
}
"""


def grid_svg(rewrite: Rewrite) -> str:
    """The grid of a result as a whole SVG document, with the utterance and its rewrite below.

    Rows are the words before the utterance, columns its own. The likelier a cell is edited, the stronger its colour; a
    box is a region of the grid, dashed where no edit was made of it. A result that has no grid gives its texts alone.
    """
    layout = _Layout.of(rewrite)
    body = [_line(_MARGIN, _CAPTION, _caption(rewrite), "small dim")]
    if rewrite.grid is not None:
        body += [*_axes(rewrite.grid, layout), *_cells(rewrite.grid, layout), *_boxes(rewrite.grid, layout)]
    below, height = _below(rewrite, layout)
    size = f'width="{_number(layout.width)}" height="{_number(height)}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="urewrite-grid" {size}'
            f' viewBox="0 0 {_number(layout.width)} {_number(height)}">',
            f"<title>{_escaped(_short(rewrite.utterance) + ' → ' + _short(rewrite.text))}</title>",
            f"<desc>{_escaped(' '.join(_sentences(rewrite)))}</desc>",
            f"<style>{_STYLE}</style>",
            f'<rect class="paper" {size}/>',
            *body,
            *below,
            "</svg>\n",
        ]
    )


def label(word: str, longest: int = LONGEST_LABEL) -> str:
    """A word as it stands beside the grid: nothing in it that is no character to see, and cut if it is long."""
    shown = _visible(word[: _MARKS * longest])
    if len(shown) == len(word) and _width(shown) <= longest * _NARROW:
        return shown
    widths = accumulate(map(_width, shown))
    return "".join(one for one, end in zip(shown, widths, strict=True) if end <= (longest - 1) * _NARROW) + "…"


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where things are: `rows` and `columns` hold the edges of the cells, one more than there are cells.

    `bar` is where the turns are marked, `labels` where the words of the rows end.
    """

    bar: float
    labels: float
    rows: tuple[float, ...]
    columns: tuple[float, ...]
    width: float

    @classmethod
    def of(cls, rewrite: Rewrite) -> _Layout:
        """Columns as wide as their words, so that these can be read without turning one's head."""
        texts = max(_width(_short(text)) for text in (rewrite.utterance, rewrite.text)) * _FONT
        width = min(max(_LEAST_WIDTH, _INDENT + texts + _GAP + _MARGIN), _TEXT_WIDTH)
        grid = rewrite.grid
        if grid is None:
            return cls(_MARGIN, _MARGIN, (_CAPTION,), (_MARGIN,), width)
        bar = _MARGIN + max((_width(name) * _SMALL for name, _, _ in _parts(grid)), default=0) + _GAP
        labels = bar + _GAP + max((_width(label(word)) * _FONT for word in grid.rows), default=0)
        widths = [max(_CELL, _width(label(word)) * _FONT + 1.5 * _GAP) for word in grid.columns]
        columns = tuple(accumulate(widths, initial=labels + _GAP))
        rows = tuple(accumulate([_CELL] * len(grid.rows), initial=_HEADER + _GAP))
        return cls(bar, labels, rows, columns, max(columns[-1] + _MARGIN, width))


def _axes(grid: GridView, layout: _Layout) -> Iterator[str]:
    """Words across and down, the turns they are of, and the lines between the cells."""
    top, bottom, left, right = layout.rows[0], layout.rows[-1], layout.columns[0], layout.columns[-1]
    for name, first, last in _parts(grid):
        if not name:
            yield _box("separator", left, layout.rows[first], right, layout.rows[last])
            continue
        yield _line(_MARGIN, _middle(layout.rows, first, _SMALL), name, "small dim")
        start, end = layout.rows[first] + 2, layout.rows[last] - 2
        yield f'<path class="turn" d="M{_number(layout.bar)} {_number(start)}V{_number(end)}"/>'
    across = "".join(f"M{_number(left)} {_number(y)}H{_number(right)}" for y in layout.rows)
    down = "".join(f"M{_number(x)} {_number(top)}V{_number(bottom)}" for x in layout.columns)
    yield f'<path class="lines" d="{across}{down}"/>'
    for column, word in enumerate(grid.columns):
        kind = "column dim" if column == len(grid.columns) - 1 else "column"
        yield _line(_centre(layout.columns, column), _HEADER, label(word), kind, "middle")
    for row, word in enumerate(grid.rows):
        kind = "row" if grid.row_turns[row] is not None else "row dim"
        yield _line(layout.labels, _middle(layout.rows, row, _FONT), label(word), kind, "end")


def _cells(grid: GridView, layout: _Layout) -> Iterator[str]:
    """A shade for every cell that may be edited; where both edit types are likely, one upon the other."""
    for name, likely in zip(_LETTERS, grid.probabilities[1:], strict=True):
        for row, column in zip(*(found.tolist() for found in (likely >= _FAINTEST).nonzero()), strict=True):
            edges = layout.columns[column], layout.rows[row], layout.columns[column + 1], layout.rows[row + 1]
            yield _box(f"cell {name}", *edges, f' fill-opacity="{min(float(likely[row, column]), 1):.2f}"')


def _boxes(grid: GridView, layout: _Layout) -> Iterator[str]:
    """A box around every region, and a letter in each of its cells; those of edits come last and so on top."""
    regions = sorted(grid.regions, key=lambda region: region.made)
    inside: dict[tuple[int, int], Region] = {}
    for region in regions:
        inside |= dict.fromkeys(product(range(region.top, region.bottom), range(region.left, region.right)), region)
    for (row, column), region in inside.items():
        letter = _LETTERS[region.op]
        likely = grid.probabilities[1 if region.op == "substitute" else 2]
        kind = "letter dark" if likely[row, column] >= _DARK_FROM else "letter"
        x, y = _centre(layout.columns, column), _middle(layout.rows, row, _FONT)
        yield _line(x, y, letter if region.made else letter.lower(), kind, "middle")
    for region in regions:
        edges = layout.columns[region.left], layout.rows[region.top], layout.columns[region.right]
        kind = f"box {region.op} {'made' if region.made else 'dropped'}"
        told = f"<title>{_escaped(_region_sentence(grid, region))}</title>"
        yield _box(kind, *edges, layout.rows[region.bottom], inside=told)


def _below(rewrite: Rewrite, layout: _Layout) -> tuple[list[str], float]:
    """Utterance, rewrite, why it is so, and the legend; and how high the whole picture is."""
    y = layout.rows[-1] + _GAP
    lines: list[str] = []
    room = (layout.width - _INDENT - _MARGIN) / _FONT
    for name, runs in (("utterance", [(rewrite.utterance, "")]), ("rewrite", _runs(rewrite))):
        for number, line in enumerate(_wrapped(_shortened(runs), room)):
            y += _LINE
            if number == 0:
                lines.append(_line(_MARGIN, y, name, "small dim"))
            spans = "".join(
                f'<tspan class="{kind}">{_escaped(text)}</tspan>' if kind else _escaped(text) for text, kind in line
            )
            lines.append(
                f'<text class="{name}" x="{_number(_INDENT)}" y="{_number(y)}" xml:space="preserve">{spans}</text>'
            )
    if rewrite.reason is not None:
        y += _LINE
        sure = "" if rewrite.confidence is None else f"; confidence {rewrite.confidence:.2f}"
        lines.append(_line(_MARGIN, y, f"{REASONS[rewrite.reason]}{sure}", "small dim"))
    if rewrite.grid is not None and rewrite.grid.rows:
        y += _LINE + _GAP
        lines += _legend(_MARGIN, y, dropped=any(not region.made for region in rewrite.grid.regions))
    return lines, y + _MARGIN


def _legend(x: float, y: float, *, dropped: bool) -> Iterator[str]:
    """What colours, letters and boxes mean."""
    entries = [("substitute", "made", "S substitute"), ("insert", "made", "I insert before")]
    if dropped:
        entries.append(("substitute", "dropped", "s, i found, not made"))
    yield '<g class="legend">'
    for op, made, meaning in entries:
        edges = x, y - _SMALL, x + _FONT, y + 3
        if made == "made":
            yield _box(f"cell {op}", *edges)
        yield _box(f"box {op} {made}", *edges)
        yield _line(x + _FONT + _GAP, y, meaning, "small dim")
        x += _FONT + 3 * _GAP + _width(meaning) * _SMALL
    yield "</g>"


def _parts(grid: GridView) -> list[tuple[str, int, int]]:
    """The runs of rows with one origin: its name, first and last row; a separator has no name."""
    parts: list[tuple[str, int, int]] = []
    for (turn, separates), run in groupby(
        range(len(grid.rows)), lambda row: (grid.row_turns[row], _separates(grid, row))
    ):
        rows = list(run)
        name = "" if separates else "connection" if turn is None else f"turn {turn + 1}"
        parts.append((name, rows[0], rows[-1] + 1))
    return parts


def _separates(grid: GridView, row: int) -> bool:
    return grid.row_turns[row] is None and grid.rows[row] == SEPARATOR


def _caption(rewrite: Rewrite) -> str:
    if rewrite.grid is None:
        return "no grid"
    if rewrite.model == GOLD:
        return "gold grid, derived from the rewrite"
    return "grid" if rewrite.model is None else f"grid predicted by the model {label(rewrite.model, _LONGEST_NAME)}"


def _sentences(rewrite: Rewrite) -> Iterator[str]:
    """The picture in words, for who cannot see it."""
    yield f"{_caption(rewrite)}."
    grid = rewrite.grid
    if grid is None:
        return
    yield f"{len(grid.rows):,} rows for the dialogue, {len(grid.columns):,} columns for the utterance."
    if not any(region.made for region in grid.regions):
        yield "Nothing is edited."
    for region in grid.regions:
        yield f"{_region_sentence(grid, region)}."


def _region_sentence(grid: GridView, region: Region) -> str:
    copied = joined([label(word) for word in grid.rows[region.top : region.bottom]])
    place = joined([label(word) for word in grid.columns[region.left : region.right]])
    verb = "in place of" if region.op == "substitute" else "before"
    return f"{copied} {verb} {place}, score {region.score:.2f}" + ("" if region.made else ", not made")


def _runs(rewrite: Rewrite) -> list[tuple[str, str]]:
    """The text in pieces, each with the edit type that brought it, if one did."""
    runs: list[tuple[str, str]] = []
    edits = iter(rewrite.edits)
    for piece in rewrite.pieces:
        copied = piece.origin in (Origin.HISTORY, Origin.CONNECTION)  # one such piece for each edit, in their order
        runs.append((rewrite.text[piece.start : piece.end], next(edits).op if copied else ""))
    return runs


def _shortened(runs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same, as far as it is shown."""
    room = LONGEST_TEXT
    shown: list[tuple[str, str]] = []
    for text, kind in runs:
        shown.append((_visible(text[:room]), kind))
        room -= len(text)
        if room < 0:
            return [*shown, ("…", "")]
    return shown


def _wrapped(runs: Sequence[tuple[str, str]], room: float) -> Iterator[list[tuple[str, str]]]:
    """Lines no wider than `room`, broken after a blank or between wide characters where there is such a place."""
    characters = [(character, kind) for text, kind in runs for character in text]
    start = 0
    while start < len(characters):
        end, used, chance = start, 0.0, start
        while end < len(characters) and (used + (wide := _width(characters[end][0])) <= room or end == start):
            used += wide
            end += 1
            if end < len(characters) and _may_break(characters[end - 1][0], characters[end][0]):
                chance = end
        if end < len(characters) and chance > start:
            end = chance
        yield [
            ("".join(character for character, _ in run), kind)
            for kind, run in groupby(characters[start:end], key=lambda one: one[1])
        ]
        start = end


def _may_break(before: str, after: str) -> bool:
    if not _width(after) or before in _JOINERS:  # a mark on the character before it
        return False
    return before == " " or (_width(before) > _NARROW and _width(after) > _NARROW)


def _visible(text: str) -> str:
    """White space as blanks, and a replacement for what is no character to see, which XML may not even hold."""
    return "".join(
        " "
        if character.isspace()
        else character
        if character.isprintable() or character in _JOINERS
        else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def _short(text: str) -> str:
    return _visible(text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…")


def _width(text: str) -> float:
    """How wide a text is in a monospaced font, as a multiple of its size."""
    return sum(
        0.0
        if unicodedata.category(character) in ("Mn", "Me", "Cf")
        else _WIDE
        if unicodedata.east_asian_width(character) in "WF"
        else _NARROW
        for character in text
    )


def _centre(edges: Sequence[float], position: int) -> float:
    return (edges[position] + edges[position + 1]) / 2


def _middle(edges: Sequence[float], position: int, size: float) -> float:
    """The base line of text that stands in the middle of a row."""
    return _centre(edges, position) + 0.36 * size


def _line(x: float, y: float, text: str, kind: str, anchor: str = "") -> str:
    aligned = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}"{aligned}>{_escaped(text)}</text>'


def _box(kind: str, left: float, top: float, right: float, bottom: float, more: str = "", inside: str = "") -> str:
    edges = f'x="{_number(left)}" y="{_number(top)}" width="{_number(right - left)}" height="{_number(bottom - top)}"'
    return f'<rect class="{kind}" {edges}{more}' + (f">{inside}</rect>" if inside else "/>")


def _escaped(text: str) -> str:
    return escape(_visible(text), quote=False)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
