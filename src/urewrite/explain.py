"""A result for people at a terminal: the text with its edits marked, each edit in words, and the grid.

Whatever the texts hold, nothing of it steers the terminal: characters that are not printable are replaced or escaped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

from urewrite.rewrite import GridView, Origin, Reason, Region, Rewrite

if TYPE_CHECKING:  # slow to load, and nobody who only wants the text needs them
    import numpy as np
    from numpy.typing import NDArray
    from rich.text import Text

    Weights: TypeAlias = NDArray[np.floating]

ROWS_SHOWN = 40
"""Lines a grid may take."""

WIDTH_SHOWN = 120
"""Character cells its columns may take; nobody can read a grid whose lines are wrapped."""

_WORD_WIDTH = 20
_NEAR = 2
_NOTICEABLE = 0.2
_DROPPED_SHOWN = 5
_SHADES = " ░▒▓█"
_STYLES = {"substitute": "bold magenta", "insert": "bold green"}
_DROPPED_STYLE = "yellow"
REASONS: dict[Reason, str] = {
    "rewritten": "edits were made",
    "self_contained": "it stands on its own",
    "low_confidence": "edits were found, but none is sure enough",
    "no_history": "there is nothing to copy from",
    "never": "rewriting is switched off",
    "error": "something failed inside, and the utterance is given back as it is",
}


def explain(rewrite: Rewrite, *, colour: bool = True) -> str:
    """Several lines without the last line end; with `colour` by ANSI codes, else edits stand in brackets."""
    return rendered(_lines(rewrite, brackets=not colour), colour=colour)


def printable(text: str) -> str:
    """Without control characters, direction marks and the like, which could steer the terminal."""
    return "".join(
        character if character.isprintable() or character == "\u3000" else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def rendered(lines: Iterable[Text], *, colour: bool) -> str:
    """Lines as a terminal takes them, none of them wrapped."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
        soft_wrap=True,
        highlight=False,
    )
    for line in lines:
        console.print(line)
    return out.getvalue().removesuffix("\n")


def marked(rewrite: Rewrite, *, brackets: bool = False) -> Text:
    """The text with what was substituted and inserted in colour, and in brackets where colours will not show."""
    from rich.text import Text

    text = Text()
    edits = iter(rewrite.edits)
    for piece in rewrite.pieces:
        shown = printable(rewrite.text[piece.start : piece.end])
        if piece.origin in (Origin.UTTERANCE, Origin.SEPARATOR):
            text.append(shown)
        else:  # one such piece for each edit, in their order
            text.append(f"[{shown}]" if brackets else shown, style=_STYLES[next(edits).op])
    return text


def edit_lines(rewrite: Rewrite, *, scores: bool = False) -> Iterator[Text]:
    """Each edit in words: what gives way to what, from where, and how sure it is."""
    from rich.text import Text

    for edit in rewrite.edits:
        source = "connection word" if edit.source_turn is None else f"turn {edit.source_turn + 1}"
        where = f"[{edit.source_start}:{edit.source_end}]" if edit.source_turn is not None else ""
        removed = rewrite.utterance[edit.start : edit.end]
        verb = f"{removed!r} gives way to" if edit.op == "substitute" else f"at {edit.start} comes in"
        score = f", score {edit.score:.2f}" if scores else ""
        yield Text(f"{edit.op:<11}{verb} {edit.text!r} from {source}{where}{score}")


def grid_lines(
    rows: Sequence[str],
    columns: Sequence[str],
    weights: Weights,
    cell: Callable[[int, int], Text],
    turns: Sequence[int | None] | None = None,
) -> Iterator[Text]:
    """A grid with its words; a large one is cut down to where `weights` (rows, columns) are, and says so.

    `cell` draws a cell, always as wide. With `turns` the first shown row of each turn has its number.
    """
    from rich.cells import cell_len
    from rich.text import Text

    row_words, column_words = [_word(word) for word in rows], [_word(word) for word in columns]
    least = cell_len(cell(0, 0).plain) if rows and columns else 1
    widths = [max(cell_len(word), least) for word in column_words]
    down = _chosen(weights.max(axis=1, initial=0), [1] * len(rows), ROWS_SHOWN)
    across = _chosen(weights.max(axis=0, initial=0), [width + 2 for width in widths], WIDTH_SHOWN)
    if not down or not across:
        yield Text(f"the grid of {len(rows):,} rows and {len(columns):,} columns holds no edit", style="dim")
        return
    gutter = _gutter(turns, down)
    margin = max(cell_len(row_words[row]) for row in down)
    header = Text(" " * (cell_len(gutter[down[0]]) + margin))
    for column in _with_gaps(across, len(columns)):
        header.append("  ")
        header.append("…" if column is None else _padded(column_words[column], widths[column]))
    header.rstrip()
    yield header
    for row in _with_gaps(down, len(rows)):
        if row is None:
            yield Text("...", style="dim")
            continue
        line = Text().append(gutter[row], style="dim").append(_padded(row_words[row], margin))
        for column in _with_gaps(across, len(columns)):
            line.append("  ")
            if column is None:
                line.append("…", style="dim")
            else:
                line.append_text(cell(row, column))
                line.append(" " * (widths[column] - least))
        line.rstrip()
        yield line
    cut = [
        f"{count - len(shown):,} of {count:,} {name}"
        for name, count, shown in (("rows", len(rows), down), ("columns", len(columns), across))
        if len(shown) < count
    ]
    if cut:
        yield Text(f"not shown: {' and '.join(cut)}", style="dim")


def joined(words: Sequence[str]) -> str:
    """Words of a grid as they may have stood in the text, which a grid does not keep: CJK without blanks."""
    text = ""
    for word in words:
        apart = text and not {unicodedata.east_asian_width(end) for end in (text[-1], word[:1] or " ")} & {"W", "F"}
        text += f" {word}" if apart else word
    return text


def _lines(rewrite: Rewrite, *, brackets: bool) -> Iterator[Text]:
    from rich.text import Text

    yield Text(f"{'rewrite':<11}") + marked(rewrite, brackets=brackets)
    yield from edit_lines(rewrite, scores=True)
    if rewrite.grid is not None:
        yield from _dropped_lines(rewrite.grid)
    if rewrite.reason is not None:
        yield Text(f"{'reason':<11}{rewrite.reason}: {REASONS[rewrite.reason]}")
    if rewrite.confidence is not None:
        yield Text(f"{'confidence':<11}{rewrite.confidence:.2f}")
    for note in rewrite.notes:
        yield Text(f"{'note':<11}{printable(note)}")
    if rewrite.grid is not None:
        yield from _view_lines(rewrite.grid)


def _dropped_lines(grid: GridView) -> Iterator[Text]:
    from rich.text import Text

    dropped = sorted((region for region in grid.regions if not region.made), key=lambda region: -region.score)
    for region in dropped[:_DROPPED_SHOWN]:
        copied = joined(grid.rows[region.top : region.bottom])
        place = joined(grid.columns[region.left : region.right])
        verb = "in place of" if region.op == "substitute" else "before"
        yield Text(f"{'dropped':<11}{copied!r} {verb} {place!r}, score {region.score:.2f}")
    if len(dropped) > _DROPPED_SHOWN:
        yield Text(f"{'dropped':<11}{len(dropped) - _DROPPED_SHOWN:,} more")


def _view_lines(grid: GridView) -> Iterator[Text]:
    """The grid of a model: a letter for the region a cell is in, and a shade for how likely the cell is edited."""
    import numpy as np
    from rich.text import Text

    likely = np.clip(np.nan_to_num(1 - grid.probabilities[0]), 0, 1)
    inside: dict[tuple[int, int], Region] = {}
    weights = likely.copy()
    for region in sorted(grid.regions, key=lambda region: region.made):  # where two overlap, the one that was made
        for cell in product(range(region.top, region.bottom), range(region.left, region.right)):
            inside[cell] = region
            weights[cell] = 3 if region.made else 2

    def draw(row: int, column: int) -> Text:
        shade = _SHADES[min(int(likely[row, column] * len(_SHADES)), len(_SHADES) - 1)]
        region = inside.get((row, column))
        if region is None:
            return Text(f"·{shade}", style="dim")
        letter = region.op[0]
        if region.made:
            return Text(f"{letter.upper()}{shade}", style=_STYLES[region.op])
        return Text(f"{letter}{shade}", style=_DROPPED_STYLE)

    yield Text("")
    yield from grid_lines(grid.rows, grid.columns, weights, draw, grid.row_turns)
    if weights.max(initial=0) >= _NOTICEABLE:
        yield Text("S substitutes, I inserts; s, i: dropped; the darker, the likelier an edit", style="dim")


def _chosen(weights: Weights, sizes: Sequence[int], room: int) -> list[int]:
    """All positions if they fit; else the weightiest with their neighbours, as many as fit, in order."""
    import numpy as np

    if sum(sizes) <= room:
        return list(range(len(sizes)))
    taken: set[int] = set()
    for position in np.argsort(-weights, kind="stable").tolist():
        if weights[position] < _NOTICEABLE:
            break
        for near in sorted(range(position - _NEAR, position + _NEAR + 1), key=lambda near: abs(near - position)):
            if near in taken or not 0 <= near < len(sizes):
                continue
            if sizes[near] > room:
                return sorted(taken)
            taken.add(near)
            room -= sizes[near]
    return sorted(taken)


def _with_gaps(shown: Sequence[int], count: int) -> Iterator[int | None]:
    """Positions in order, None where some are left out."""
    expected = 0
    for position in shown:
        if position != expected:
            yield None
        yield position
        expected = position + 1
    if expected != count:
        yield None


def _gutter(turns: Sequence[int | None] | None, shown: Sequence[int]) -> dict[int, str]:
    """What stands before each shown row: the number of its turn, once."""
    if turns is None:
        return dict.fromkeys(shown, "")
    numbers: dict[int, str] = {}
    before: int | None = None
    for row in shown:
        turn = turns[row]
        numbers[row] = "" if turn is None or turn == before else str(turn + 1)
        before = turn
    width = max(map(len, numbers.values()), default=0) + 1
    return {row: f"{number:<{width}}" for row, number in numbers.items()}


def _word(word: str) -> str:
    from rich.text import Text

    shown = Text(printable(word))
    shown.truncate(_WORD_WIDTH, overflow="ellipsis")
    return shown.plain


def _padded(word: str, width: int) -> str:
    from rich.cells import cell_len

    return word + " " * (width - cell_len(word))
