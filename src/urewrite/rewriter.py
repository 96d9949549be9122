"""What people use: a rewriter, from a bundled model, a folder or the hub."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from threading import Lock
from typing import NoReturn

from urewrite.bundle import (
    CHECKSUMS,
    FILES,
    ModelConfig,
    read_config,
    read_preparer,
    verify_checksums,
    write_checksums,
)
from urewrite.decide import Mode, Wish, decide, protected, without_network
from urewrite.dialogue import Dialogue, HistoryItem, refuse_no_list
from urewrite.edits.apply import apply_edits
from urewrite.edits.grid import Axes, ConnectionWords
from urewrite.errors import BadInputError
from urewrite.files import replacing, same_place
from urewrite.language import Language, language_of
from urewrite.pipeline import BATCH_SIZE, Judged, Pipeline
from urewrite.pretrained import graph_of, resolve
from urewrite.rewrite import Rewrite
from urewrite.session import GraphRun

BY_LANGUAGE: Mapping[str, Mapping[Language, str]] = {
    "auto": {"en": "en", "zh": "zh"},
    "auto-fast": {"en": "en-fast", "zh": "zh-fast"},
}
"""Names that stand for a model of each language; the dialogue decides."""

_logger = logging.getLogger("urewrite")


class Rewriter:
    """Rewrites follow-up utterances so that they stand on their own.

    Nothing is remembered between calls, and many threads may share one. A failure inside never loses the utterance:
    it comes back unchanged with the reason `error`, and the log of `urewrite` holds the traceback.
    """

    def __init__(self, folders: Mapping[Language | None, Path], *, threads: int | None = None) -> None:
        """Prefer `from_pretrained`. A folder for every language, or one under None for all."""
        if threads is not None:
            _check_count(threads, "threads")
        self._folders = dict(folders)
        self._threads = threads
        self._loaded: dict[Language | None, Pipeline] = {}
        self._lock = Lock()

    @classmethod
    def from_pretrained(cls, model: str | Path = "auto", *, threads: int | None = None) -> Rewriter:
        """Load a model: the name of a bundled one, a folder, or a name on the hub (`owner/name`).

        `auto` (and `auto-fast`, smaller and quicker) takes the English or the Chinese model as each dialogue needs.
        `threads` limits the cores a call takes; by default all are.
        """
        chosen = BY_LANGUAGE.get(str(model))
        if chosen is not None:
            return cls({language: resolve(name) for language, name in chosen.items()}, threads=threads)
        rewriter = cls({None: resolve(model)}, threads=threads)
        rewriter._pipeline(None)  # a folder that is none is said at once
        return rewriter

    def __reduce__(self) -> NoReturn:
        """A loaded model is no message: another process loads its own."""
        raise TypeError("a Rewriter cannot be pickled; load one in each process")

    @classmethod
    def of(cls, pipeline: Pipeline) -> Rewriter:
        """A rewriter around a model that is already loaded, such as one in training."""
        rewriter = cls({None: Path()})
        rewriter._loaded[None] = pipeline
        return rewriter

    def rewrite(
        self,
        history: Sequence[HistoryItem],
        utterance: str,
        *,
        threshold: float | None = None,
        mode: Mode = "auto",
        protect: Sequence[str] = (),
        lang: Language | None = None,
        keep_grid: bool = True,
    ) -> Rewrite:
        """Rewrite an utterance that follows a history of strings, (role, text) pairs or chat messages.

        `threshold` is the least score a region of the grid needs to become an edit, in place of the model's own;
        `mode` "always" makes every edit that is found, and asks the model of greetings and thanks too, "never" gives
        the utterance back; words of `protect` are never edited away; `lang` chooses the model where there is one for
        each language, in place of the script. A rewriter of a single model always uses that; if it was not made for
        `lang`, the notes of the result say so.

        Input that cannot be used is a `BadInputError` that names it.
        """
        wish = _checked(mode, threshold, protect, lang, keep_grid)
        result = self._rewrite_one(Dialogue.of(history, utterance), wish, lang)
        return _with_note(result, self._language_note(lang))

    def rewrite_batch(
        self,
        dialogues: Iterable[Dialogue | tuple[Sequence[HistoryItem], str]],
        *,
        batch_size: int = BATCH_SIZE,
        threshold: float | None = None,
        mode: Mode = "auto",
        protect: Sequence[str] = (),
        lang: Language | None = None,
        keep_grid: bool = False,
        follow: Callable[[int], object] | None = None,
    ) -> list[Rewrite]:
        """Rewrite many dialogues, given as `Dialogue` or (history, utterance), in their order.

        Those of like length are computed together. `follow` is told after each how many more are done. The other
        options are those of `rewrite`.
        """
        wish = _checked(mode, threshold, protect, lang, keep_grid)
        _check_count(batch_size, "batch_size")
        refuse_no_list(dialogues, "dialogues", field="dialogues")
        note = self._language_note(lang)
        given = [_dialogue(item, position) for position, item in enumerate(dialogues)]
        results: dict[int, Rewrite] = {}

        def done(position: int, result: Rewrite) -> None:
            results[position] = _with_note(result, note)
            if follow is not None:
                follow(1)

        waiting: dict[Language | None, list[int]] = {}
        for position, dialogue in enumerate(given):
            waiting.setdefault(self._language(dialogue, lang), []).append(position)
        for language, positions in waiting.items():
            self._rewrite_all(given, positions, language, wish, batch_size, done)
        return [results[position] for position in range(len(given))]

    def connection_words(self, lang: Language | None = None) -> ConnectionWords:
        """The words a model may insert although the dialogue lacks them."""
        return self.config(lang).connection_words

    def config(self, lang: Language | None = None) -> ModelConfig:
        """What the model (of a language) says of itself."""
        _check_language(lang)
        key = None if None in self._folders else (lang or "en")
        return self._pipeline(key).config

    def save_pretrained(self, folder: str | Path) -> None:
        """Copy the model into a folder that `from_pretrained` reads, with checksums."""
        if len(self._folders) != 1 or self._folders == {None: Path()}:
            raise BadInputError("only a rewriter of one model that was loaded from a folder can be saved")
        source, target = next(iter(self._folders.values())), Path(folder)
        if same_place(source, target):
            raise BadInputError(f"the model already is in {target}", field="folder")
        verify_checksums(source)  # it may have changed since it was loaded
        target.mkdir(parents=True, exist_ok=True)
        (target / CHECKSUMS).unlink(missing_ok=True)  # those of a model that was there before
        for name in FILES[:-1]:
            if (source / name).is_file():
                with replacing(target / name) as written:
                    shutil.copyfile(source / name, written)
            else:
                (target / name).unlink(missing_ok=True)
        write_checksums(target)

    def _rewrite_one(self, dialogue: Dialogue, wish: Wish, lang: Language | None) -> Rewrite:
        pipeline = self._pipeline(self._language(dialogue, lang))  # a model that cannot be loaded is not hidden
        try:
            axes = pipeline.lay_out(dialogue)
            settled = without_network(pipeline.config, axes, wish)
            if settled is not None:
                return settled
            return decide(pipeline.config, Judged(axes, pipeline.judge(axes)), wish)
        except Exception:  # whatever it is, the caller's utterance must not be lost
            return _failed(dialogue)

    def _rewrite_all(
        self,
        dialogues: Sequence[Dialogue],
        positions: Sequence[int],
        language: Language | None,
        wish: Wish,
        batch_size: int,
        done: Callable[[int, Rewrite], None],
    ) -> None:
        """Together; what fails together is tried one by one, so that one bad dialogue spoils no other."""
        open_ones: list[tuple[int, Axes]] = []
        left = set(positions)
        pipeline = self._pipeline(language)
        try:
            for position in positions:
                axes = pipeline.lay_out(dialogues[position])
                settled = without_network(pipeline.config, axes, wish)
                if settled is None:
                    open_ones.append((position, axes))
                else:
                    left.discard(position)
                    done(position, settled)
            for number, likely in pipeline.judge_all([axes for _, axes in open_ones], batch_size):
                position, axes = open_ones[number]
                result = decide(pipeline.config, Judged(axes, likely), wish)
                left.discard(position)
                done(position, result)
        except Exception:
            _logger.warning("a batch failed; its dialogues are rewritten one by one", exc_info=True)
            for position in sorted(left):
                done(position, self._rewrite_one(dialogues[position], wish, language))

    def _language(self, dialogue: Dialogue, lang: Language | None) -> Language | None:
        if None in self._folders:
            return None
        return lang or language_of(dialogue)

    def _language_note(self, lang: Language | None) -> str | None:
        return language_note(self.config(), lang) if None in self._folders else None

    def _pipeline(self, language: Language | None) -> Pipeline:
        with self._lock:
            if language not in self._loaded:
                self._loaded[language] = load_pipeline(self._folders[language], threads=self._threads)
            return self._loaded[language]


def load_pipeline(folder: Path, *, threads: int | None = None) -> Pipeline:
    """The model of a folder, its checksums verified, ready to judge dialogues."""
    verify_checksums(folder)
    config = read_config(folder)
    return Pipeline(config, read_preparer(folder, config), GraphRun(graph_of(folder), threads=threads))


def language_note(config: ModelConfig, lang: Language | None) -> str | None:
    """What to tell who asks a single model for a language; None where it was made for that, or does not say."""
    if lang is None or not config.languages or lang in config.languages:
        return None
    return f"the model {config.name} is for {' and '.join(config.languages)}; asking it for {lang} changes nothing"


def _with_note(result: Rewrite, note: str | None) -> Rewrite:
    return result if note is None else replace(result, notes=(*result.notes, note))


def _failed(dialogue: Dialogue) -> Rewrite:
    _logger.exception("an utterance was not rewritten and is given back as it is")
    return replace(
        apply_edits(dialogue, ()),
        reason="error",
        turns_used=0,
        notes=(*dialogue.skipped, "something failed inside; the log says what"),
    )


def _dialogue(item: object, position: int) -> Dialogue:
    if isinstance(item, Dialogue):
        return item
    try:
        if isinstance(item, (tuple, list)) and len(item) == 2:
            return Dialogue.of(item[0], item[1])
        raise BadInputError("expected a Dialogue or a pair of history and utterance")
    except BadInputError as error:
        field = f"dialogues[{position}]" + (f".{error.field}" if error.field else "")
        raise BadInputError(error.reason, field=field) from None


def _is_number(value: object, kind: type = Real) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _check_count(value: int, field: str) -> None:
    if not _is_number(value, Integral) or value < 1:
        raise BadInputError(f"expected a whole number of at least 1, found {value!r:.80}", field=field)


def _check_language(lang: object) -> None:
    if lang not in (None, "en", "zh"):
        raise BadInputError(f"expected en or zh, found {lang!r:.80}", field="lang")


def _checked(mode: Mode, threshold: float | None, protect: Sequence[str], lang: str | None, keep_grid: bool) -> Wish:
    if mode not in ("auto", "always", "never"):
        raise BadInputError(f"expected auto, always or never, found {mode!r}", field="mode")
    if threshold is not None and not (_is_number(threshold) and 0 <= threshold <= 1):
        raise BadInputError(f"expected a number from 0 to 1, found {threshold!r:.80}", field="threshold")
    _check_language(lang)
    return Wish(mode, threshold, protected(protect), keep_grid)
