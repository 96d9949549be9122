"""Where every corpus comes from (address, licence, checksum) and where its files are found on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from urewrite.errors import BadInputError, DataUnavailableError

MIRROR_VARIABLE = "UREWRITE_DATA"
CACHE_VARIABLE = "UREWRITE_CACHE"


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip file that holds files of a corpus, each under `folder`."""

    path: str
    url: str
    md5: str
    folder: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a corpus: its path in a mirror folder, and either its own address or the archive it comes in.

    A file whose `sha256` and `size` are not known is verified through its archive.
    """

    path: str
    url: str
    sha256: str | None
    size: int | None
    archive: Archive | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as it is published."""

    name: str
    language: str
    description: str
    licence: str
    citation: str
    files: tuple[SourceFile, ...]


_GITHUB = "https://raw.githubusercontent.com"

CANARD_ARCHIVE = Archive(
    path="canard/CANARD_Release.zip",
    url="https://obj.umiacs.umd.edu/elgohary/CANARD_Release.zip",
    md5="c9bba7c6bb898f669383415b54fd6ffd",
    folder="CANARD_Release",
)


def _in_canard_archive(name: str, sha256: str | None, size: int | None) -> SourceFile:
    return SourceFile(f"canard/{name}", CANARD_ARCHIVE.url, sha256, size, CANARD_ARCHIVE)


SOURCES: tuple[Corpus, ...] = (
    Corpus(
        name="rewrite",
        language="zh",
        description="REWRITE: Chinese open-domain dialogues with two context turns, an utterance and its rewrite",
        licence="none stated",
        citation="Su et al., Improving Multi-turn Dialogue Modelling with Utterance ReWriter, ACL 2019",
        files=(
            SourceFile(
                "rewrite/corpus.txt",
                f"{_GITHUB}/chin-gyou/dialogue-utterance-rewriter/da3f430d9ee4d1726217a7912891c376b155c3a6/corpus.txt",
                "a670e8a4f3e03d4efba4e884aa7512850910f8216bb97cfe570b17ab08ecbc29",
                2130389,
            ),
        ),
    ),
    Corpus(
        name="multi",
        language="zh",
        description="MULTI (Restoration-200K): Chinese forum dialogues with four context turns",
        licence="none stated",
        citation="Pan et al., Improving Open-Domain Dialogue Systems via Multi-Turn Incomplete Utterance Restoration, "
        "EMNLP 2019",
        files=(
            SourceFile(
                "multi/valid.txt",
                f"{_GITHUB}/NetEase-GameAI/SARG/cba2e55544d14d2188980ef2296694673f7d3a07/Restoration_200k_data/valid.txt",
                "190b1d0cc5a72fc2a6c1ce3237860909f10be635bd6193287cdbc99cf2e09922",
                947206,
            ),
            SourceFile(
                "multi/test.txt",
                f"{_GITHUB}/NetEase-GameAI/SARG/cba2e55544d14d2188980ef2296694673f7d3a07/Restoration_200k_data/test.txt",
                "9b9928623366accff01e034e4cb39dc1e8260409528be12ce1182d752eeb5c64",
                947888,
            ),
        ),
    ),
    Corpus(
        name="task",
        language="en",
        description="TASK: restaurant dialogues (CamRest676) with ellipsis and coreference versions of user turns",
        licence="CC BY 4.0",
        citation="Quan et al., GECOR: An End-to-End Generative Ellipsis and Co-reference Resolution Model for "
        "Task-Oriented Dialogue, EMNLP 2019",
        files=(
            SourceFile(
                "task/CamRest676_annotated.json",
                f"{_GITHUB}/terryqj0107/GECOR/f20fe379028d76c40d43b5038aa78a311876fe28/"
                "CamRest676_for_coreference_and_ellipsis_resolution/CamRest676_annotated.json",
                "0222d7e91fd67416935b67d58ec899898c020b73bdc262b0a7214f3b9f61e797",
                2039843,
            ),
        ),
    ),
    Corpus(
        name="canard",
        language="en",
        description="CANARD: questions of QuAC dialogues rewritten to stand alone",
        licence="CC BY-SA 4.0",
        citation="Elgohary et al., Can You Unpack That? Learning to Rewrite Questions-in-Context, EMNLP 2019",
        files=(
            _in_canard_archive("train.json", None, None),
            _in_canard_archive("dev.json", "fafd9f53be0684fd33f85f6bf12a63e61b835ecb9e987c9bd2186149366ce2e5", 2803066),
            _in_canard_archive(
                "test.json", "7b01df7301734d7e76a14970965f0bf71b68f91d2ffd90eed16fef83bbd6a11f", 4630960
            ),
            _in_canard_archive(
                "multiple_refs.json", "a77c42a5b09c2a6c0e7d5880e6daa63a9ece720b88239c6db4d84cc08cc95d38", 13840
            ),
            SourceFile(
                "canard/train_reduced/train.question.tsv",
                f"{_GITHUB}/DylanJoo/ConvRerank/f4e082c288d046fed510d71e4464126d36967eb4/data/canard/train.question.tsv",
                "1fe2e33914a87354fb661857647e7ba4a286f6b8ecb4e6a2407b4b04780bb43f",
                2421203,
            ),
            SourceFile(
                "canard/train_reduced/train.rewrite.tsv",
                f"{_GITHUB}/DylanJoo/ConvRerank/f4e082c288d046fed510d71e4464126d36967eb4/data/canard/train.rewrite.tsv",
                "2b6dc65f0944b534425007f381650c986b4d2e5c31e1bef799dcd5ff55c30b50",
                3181240,
            ),
        ),
    ),
    Corpus(
        name="qrecc",
        language="en",
        description="QReCC: samples of a conversational question answering corpus with human rewrites",
        licence="CC BY-SA 3.0",
        citation="Anantha et al., Open-Domain Question Answering Goes Conversational via Question Rewriting, "
        "NAACL 2021",
        files=(
            SourceFile(
                "qrecc/train_sample_4k_human_rewrite.jsonl",
                f"{_GITHUB}/KristenZHANG/Adaptive-Query-Rewriting/4b62d85f12dcd2304c508e859a50f9c87deffe82/"
                "QReCC/train/processed_data/4k_sft_data_with_human_rewrite.json",
                "47ff9860428b8c051117a7bd10832b5cb4f3fdbbb7116b6eb052adacb842793e",
                2742547,
            ),
            SourceFile(
                "qrecc/dev-sampled2k-modified.json",
                f"{_GITHUB}/smartyfh/InfoCQR/21a6c0ecbdc831396cec50161eb51f81aff81e38/"
                "datasets/qrecc/dev-sampled2k-modified.json",
                "2f5405a6cdf2485d4c8844899b6c89049d5b62db2032d33e480c9230a37ea2db",
                2042620,
            ),
        ),
    ),
)

CORPORA: tuple[str, ...] = tuple(corpus.name for corpus in SOURCES)
"""The names of the corpora."""


def source_of(name: str) -> Corpus:
    """The corpus of a name."""
    for corpus in SOURCES:
        if corpus.name == name:
            return corpus
    raise BadInputError(f"no corpus is called {name!r}; the corpora are {', '.join(CORPORA)}")


def cache_folder() -> Path:
    """Where fetched files are kept: the folder `UREWRITE_CACHE` names, or the user's cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else platformdirs.user_cache_path("urewrite") / "data"


def places(mirror: Path | None) -> list[tuple[str, Path]]:
    """The folders that may hold corpus files, the one that counts most first: the given mirror, the one named by
    `UREWRITE_DATA`, the cache. A mirror that is not there is an error.
    """
    folders: list[tuple[str, Path]] = []
    named = os.environ.get(MIRROR_VARIABLE)
    if mirror is not None:
        if not mirror.is_dir():
            raise DataUnavailableError(f"the mirror {mirror} is not a folder")
        folders.append(("mirror", mirror))
    if named:
        if mirror is None and not Path(named).is_dir():
            raise DataUnavailableError(f"the mirror {named} named by {MIRROR_VARIABLE} is not a folder")
        folders.append(("mirror", Path(named)))
    return [*folders, ("cache", cache_folder())]


def find(path: str, mirror: Path | None) -> tuple[str, Path] | None:
    """Where a file of a corpus is ("mirror" or "cache") and its full path; None if it is nowhere."""
    for place, folder in places(mirror):
        if (folder / path).is_file():
            return place, folder / path
    return None


def find_first(corpus: str, alternatives: Sequence[Sequence[str]], mirror: Path | None) -> list[Path]:
    """The files of the first alternative that is complete in one folder."""
    for _, folder in places(mirror):
        for paths in alternatives:
            files = [folder / path for path in paths]
            if all(file.is_file() for file in files):
                return files
    wanted = " or ".join(" with ".join(paths) for paths in alternatives)
    looked = ", ".join(str(folder) for _, folder in places(mirror))
    published = {file.path for file in source_of(corpus).files}
    if any(set(paths) <= published for paths in alternatives):
        remedy = f"run: urewrite data fetch {corpus}"
    else:
        remedy = f"it has no public address, so put it into a mirror folder and name that with {MIRROR_VARIABLE}"
    raise DataUnavailableError(f"{wanted} was not found in {looked}; {remedy}")
