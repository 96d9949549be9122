"""`urewrite demo`: talk, and see each turn as it would stand on its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from urewrite.cli.output import print_bytes, shows_colour
from urewrite.cli.rewriting import (
    Asked,
    LanguageChoice,
    LanguageOption,
    ModeChoice,
    ModelOption,
    ModeOption,
    ProtectOption,
    ThreadsOption,
    ThresholdOption,
    asked,
    load_rewriter,
    say_language_note,
)
from urewrite.explain import marked, rendered

if TYPE_CHECKING:
    from urewrite.rewrite import Rewrite
    from urewrite.rewriter import Rewriter

_HELP = """\
Type what is said. Each turn is rewritten in the light of those before.
> TEXT     an answer: a turn that is only listened to
/explain   how the last rewrite came about
/reset     forget the conversation
/quit      leave (or Ctrl-D)
"""


def demo(
    model: ModelOption = "auto",
    language: LanguageOption = LanguageChoice.auto,
    threshold: ThresholdOption = None,
    mode: ModeOption = ModeChoice.auto,
    protect: ProtectOption = None,
    threads: ThreadsOption = None,
) -> None:
    """Talk, and see each turn rewritten in the light of those before.

    A line that begins with > is an answer, which is only listened to; /explain, /reset, /quit. Lines of a pipe are
    answered one by one, without prompts.

    Example: urewrite demo --lang en
    """
    wish = asked(threshold, mode, protect, language)
    rewriter = load_rewriter(model, threads=threads, languages=[wish["lang"]])
    say_language_note(rewriter, language)
    talk = _Talk(rewriter, wish)
    watched = sys.stdin.isatty()
    if watched:
        sys.stdout.write(_HELP)
    for line in _typed() if watched else _piped():
        if not talk.hear(line):
            break


class _Talk:
    """A conversation so far."""

    def __init__(self, rewriter: Rewriter, wish: Asked) -> None:
        self._rewriter = rewriter
        self._wish = wish
        self._history: list[str] = []
        self._last: Rewrite | None = None
        self._colour = shows_colour()

    def hear(self, line: str) -> bool:
        """Take in a line and answer it; false when it ends the conversation."""
        said = line.strip()
        if said == "/quit":
            return False
        if said == "/reset":
            self._history, self._last = [], None
        elif said == "/explain":
            self._show("nothing was rewritten yet" if self._last is None else self._last.explain(colour=self._colour))
        elif said.startswith("/"):
            self._show(_HELP.rstrip("\n"))
        elif said.startswith(">"):
            self._history.append(said.removeprefix(">").lstrip())
        elif said:
            self._last = self._rewriter.rewrite(self._history, line, **self._wish)
            self._history.append(line)
            self._show(rendered([marked(self._last)], colour=True) if self._colour else self._last.text)
        return True

    def _show(self, text: str) -> None:
        print_bytes(text.encode("utf-8", "surrogateescape") + b"\n")


def _typed() -> Iterator[str]:
    """Lines of a person, who can edit them where the terminal lets one."""
    with suppress(ImportError):
        import readline  # noqa: F401 - that `input` finds it is enough
    with suppress(EOFError):
        while True:
            yield input("you> ")
    sys.stdout.write("\n")


def _piped() -> Iterator[str]:
    """Lines of a program, as soon as they come; bytes that are not UTF-8 are kept."""
    for raw in sys.stdin.buffer:
        yield raw.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")
