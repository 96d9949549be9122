"""The page in a real Chromium, served by real processes with the toy model.

All of it lives as long as the package's tests: Playwright keeps an event loop running, which other tests must not meet.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from page.browser import NONE, installed
from page.screen import BEIJING, KEY, Screen, link
from page.told import Told
from serve.server import SLOW, Server, start

PATIENCE = 30_000
"""Milliseconds; a busy machine needs many."""
WIDE = {"width": 1400, "height": 900}

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    found = installed()
    if found is None:  # in CI this skip is a failure, as every other one
        pytest.skip(NONE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def serving(browser, tmp_path_factory) -> Iterator[Callable[..., Server]]:
    """Starts servers, and sees to it that each of them ends well; not without a browser."""
    folder = tmp_path_factory.mktemp("served")
    started: list[Server] = []

    def serve(*arguments: object, **options: object) -> Server:
        started.append(start(folder, *arguments, **options))
        started[-1].wait_until_ready()
        return started[-1]

    yield serve
    for server in started:
        server.process.send_signal(signal.SIGTERM)
    codes = [server.ended() for server in started]
    assert set(codes) <= {0}, "\n".join(server.log for server in started)


@pytest.fixture(scope="package")
def server(serving, toy_bundle) -> Server:
    """One that takes everybody, and has time enough whatever else the machine does."""
    return serving("--model", toy_bundle, "--request-seconds", 300, "--stop-seconds", 400)


@pytest.fixture(scope="package")
def gates(tmp_path_factory) -> Path:
    """A folder: what the strict server is told to hold, it goes on with once a file of that name is there."""
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="package")
def strict_server(serving, toy_bundle, gates) -> Server:
    """One with a key and narrow limits."""
    limits = ("--max-turn-chars", 200, "--request-seconds", 3)
    return serving("--model", toy_bundle, *limits, program=SLOW, UREWRITE_API_KEYS=KEY, GATES=str(gates))


@pytest.fixture
def opening(browser) -> Iterator[Callable[..., Screen]]:
    """Opens the page of a server; nothing may fail in it, and its policy must not be broken."""
    opened: list[Screen] = []

    def open_page(server: Server, fragment: str = "", *, told: Told | None = None, **options: object) -> Screen:
        context = browser.new_context(**{"viewport": WIDE, "locale": "en-GB", **options})
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
        if told is not None:
            told.answer_in_place_of_the_server(context)
        opened.append(Screen(context.new_page(), server))
        opened[-1].open(fragment)
        return opened[-1]

    yield open_page
    failures = [failure for screen in opened for failure in screen.failures]
    for screen in opened:
        screen.page.context.close()
    assert failures == []


@pytest.fixture
def screen(opening, server) -> Screen:
    """The page with a Chinese dialogue in which 北京 takes the place of 它, once that is shown."""
    screen = opening(server, link(BEIJING))
    screen.expect_text("北京好吗")
    return screen
