"""Many dialogues from file to file, as JSON lines, in memory that does not grow with the file."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from urewrite import __version__
from urewrite.chunks import Chunk, LineSource
from urewrite.corpora.lines import parse_json_line
from urewrite.decide import Mode
from urewrite.dialogue import Dialogue
from urewrite.errors import BadInputError
from urewrite.files import decode_line, same_place
from urewrite.language import Language
from urewrite.pipeline import BATCH_SIZE
from urewrite.resumable import packed, part_files
from urewrite.rewrite import Rewrite
from urewrite.rewriter import Rewriter

DETAILS = "details"

Follow = Callable[[int, float], None]
"""Told again and again how many more dialogues are rewritten, and how many more bytes of the input file are done."""


def _unwatched(dialogues: int, read: float) -> None:
    """For who does not follow."""


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """What is asked of a model for every line, and what is written for it.

    The rewritten text goes under `key`; with `details` the whole result goes under `details`.
    """

    details: bool = False
    key: str = "rewrite"
    batch_size: int = BATCH_SIZE
    threshold: float | None = None
    mode: Mode = "auto"
    protect: tuple[str, ...] = ()
    lang: Language | None = None


@dataclass(slots=True)
class Tally:
    """How far a batch is: lines and bytes of the input, and what became of the lines.

    `failed` counts results with the reason `error`; `replaced` records that held one of the new keys before.
    """

    lines: int = 0
    offset: int = 0
    written: int = 0
    changed: int = 0
    failed: int = 0
    rejected: int = 0
    replaced: int = 0


class Sink(Protocol):
    """Where the output (0) and the rejects (1) go."""

    def write(self, number: int, content: bytes) -> None:
        """Append to one of them."""

    def commit(self, progress: Mapping[str, int]) -> None:
        """Everything so far belongs together."""


@dataclass(frozen=True, slots=True)
class StreamSink:
    """Streams, which keep nothing to go on from. Rejects without a file of their own go to stderr."""

    output: BinaryIO
    rejects: BinaryIO = field(default_factory=lambda: sys.stderr.buffer)
    rejects_path: Path = Path("-")

    def write(self, number: int, content: bytes) -> None:
        """Append to one of them."""
        if number == 0:
            self.output.write(content)
        elif content:
            self.rejects.write(packed(self.rejects_path, content))

    def commit(self, progress: Mapping[str, int]) -> None:  # noqa: ARG002 - nothing is noted
        """Let the readers have it."""
        self.output.flush()
        self.rejects.flush()


@dataclass(frozen=True, slots=True)
class Batch:
    """Rewrites every line of an input. Lines that cannot be used are rejects, with number, reason and raw line."""

    rewriter: Rewriter
    settings: BatchSettings
    follow: Follow = _unwatched

    def to_files(
        self,
        source: LineSource,
        target: Path,
        rejects: Path,
        *,
        restart: bool = False,
        began: Callable[[Tally], None] | None = None,
    ) -> Tally:
        """Write files that appear under their names only when they are complete.

        A job that was interrupted is taken up where it was, and `began` told how far that is; from standard input it
        starts again. What is left of a job with other settings is an error, unless `restart`.
        """
        refuse_same_files(source.path, target, rejects)
        job = {**source.fingerprint(), **asdict(self.settings), "model": self._model(), "version": __version__}
        with part_files([target, rejects], job, resumable=source.is_file, restart=restart) as files:
            tally = Tally(**files.progress)
            if began is not None:
                began(tally)
            if not files.complete:
                self._rewrite(source, files, tally)
            files.finish()
        return tally

    def to_stream(self, source: LineSource, sink: StreamSink) -> Tally:
        """Write to streams, as far as it goes."""
        tally = Tally()
        self._rewrite(source, sink, tally)
        return tally

    def _rewrite(self, source: LineSource, sink: Sink, tally: Tally) -> None:
        behind = True
        for chunk in source.chunks(tally.lines, tally.offset):
            if behind:  # what an earlier attempt has done
                self.follow(0, chunk.start)
                behind = False
            output, rejects = self._rewritten(source.name, chunk, tally)
            tally.lines, tally.offset = chunk.last, chunk.offset
            sink.write(0, output)
            sink.write(1, rejects)
            sink.commit(asdict(tally))

    def _rewritten(self, name: str, chunk: Chunk, tally: Tally) -> tuple[bytes, bytes]:
        """What to write for some lines, and their rejects."""
        share = (chunk.end - chunk.start) / len(chunk.lines)
        usable: list[tuple[str, Mapping[str, object], Dialogue]] = []
        rejects: list[bytes] = []
        for number, raw in chunk.lines:
            try:
                text = decode_line(raw)
                record = parse_json_line(text)
                usable.append((text, record, Dialogue.from_record(record)))
            except BadInputError as error:  # noqa: PERF203 - each line is judged for itself
                rejects.append(_reject(error, name, number, raw))
                self.follow(0, share)
        asked = self.settings
        results = self.rewriter.rewrite_batch(
            [dialogue for _, _, dialogue in usable],
            batch_size=asked.batch_size,
            threshold=asked.threshold,
            mode=asked.mode,
            protect=asked.protect,
            lang=asked.lang,
            follow=lambda done: self.follow(done, done * share),
        )
        output: list[bytes] = []
        for (text, record, _), result in zip(usable, results, strict=True):
            added = self._added(result)
            tally.changed += result.changed
            tally.failed += result.reason == "error"
            tally.replaced += not added.keys().isdisjoint(record)
            output.append(_extended(text, record, added))
        tally.written += len(output)
        tally.rejected += len(rejects)
        return b"".join(output), b"".join(rejects)

    def _added(self, result: Rewrite) -> dict[str, object]:
        added: dict[str, object] = {self.settings.key: result.text}
        if self.settings.details:
            added[DETAILS] = result.to_record()
        return added

    def _model(self) -> list[str]:
        """What tells the model, or the models, from others."""
        configs = {repr(self.rewriter.config(language)) for language in ("en", "zh")}
        return sorted(hashlib.sha256(config.encode("utf-8", "surrogatepass")).hexdigest() for config in configs)


def refuse_same_files(source: Path | None, target: Path | None, rejects: Path | None) -> None:
    """No two of the files may be one, by whatever names."""
    known: list[tuple[str, Path]] = []
    for name, path in (("input", source), ("output", target), ("rejects", rejects)):
        if path is None:
            continue
        for other, before in known:
            if same_place(path, before) or (path.exists() and before.exists() and path.samefile(before)):
                raise BadInputError(f"the {name} cannot be the same file as the {other}", file=path)
        known.append((name, path))


def _extended(text: str, record: Mapping[str, object], added: Mapping[str, object]) -> bytes:
    """A record as it was written, to the last digit, with more keys at its end, or with them replaced."""
    if added.keys().isdisjoint(record):
        kept = text.rstrip(" \t\r\n").removesuffix("}").encode()
        return kept + b", " + _json(added).removeprefix(b"{") + b"\n"
    return _json({**record, **added}) + b"\n"


def _json(document: Mapping[str, object]) -> bytes:
    try:
        return json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot hold
        return json.dumps(document).encode()


def _reject(error: BadInputError, name: str, number: int, raw: bytes) -> bytes:
    """The line with its fault; a byte that is not UTF-8 as the escape that `surrogateescape` makes bytes of again."""
    reason = error.reason if error.field is None else f"field {error.field!r}: {error.reason}"
    document = {"file": name, "line": number, "reason": reason, "raw": raw.decode("utf-8", "surrogateescape")}
    return json.dumps(document).encode() + b"\n"
