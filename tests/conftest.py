"""What all tests share: the real corpora, hypothesis settings, and no quiet skips in CI."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from urewrite.corpora.sources import cache_folder

NOT_PROVIDED = "not provided: "
"""A skip whose reason starts with this needs something the README's test command cannot provide (the corpora)."""

IN_CI = os.environ.get("CI", "").lower() == "true"

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if IN_CI else "default")


@pytest.fixture(scope="session")
def corpora_dir() -> Path:
    """The folder of the real corpora."""
    named = os.environ.get("UREWRITE_DATA")
    folder = Path(named) if named else cache_folder()
    if (folder / "rewrite" / "corpus.txt").is_file():
        return folder
    pytest.skip(f"{NOT_PROVIDED}the corpora are not in {folder}; run `urewrite data fetch --all`, or set UREWRITE_DATA")


@pytest.fixture(scope="session")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model trained on the toy corpus, whose files lie beside it; for tests that only read it."""
    pytest.importorskip("lightning", reason=f"{NOT_PROVIDED}lightning, which the extra train brings")
    from training.trained import train_toy

    return train_toy(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def toy_bundle(toy_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model as it is handed on, with a graph that needs no torch; for tests that only read it."""
    from urewrite.training.export import export
    from urewrite.training.weights import load_model

    folder = tmp_path_factory.mktemp("bundles") / "toy"
    export(load_model(toy_run), folder, eight_bit=False, card=toy_run / "README.md")
    return folder


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The home folder, empty, for what a path that begins with `~` means."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))  # its name on Windows
    return tmp_path


@pytest.fixture
def no_data_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No mirror in the environment, and an empty cache, whose path is given."""
    cache = tmp_path / "cache"
    monkeypatch.delenv("UREWRITE_DATA", raising=False)
    monkeypatch.setenv("UREWRITE_CACHE", str(cache))
    return cache


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker is left with it at the end."""
    items.sort(key=lambda item: item.path.parent.name != "training")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):
        _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """In CI, turn a skip into a failure, so that a test that never runs is not taken for one that passes."""
    if not (IN_CI and report.skipped):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not reason.removeprefix("Skipped: ").startswith(NOT_PROVIDED):
        report.outcome = "failed"
        report.longrepr = f"a skipped test counts as a failure when CI=true ({reason})"
