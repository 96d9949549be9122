"""The page in a real Chromium, served by real processes with a bundled model.

All of it lives as long as the package's tests: Playwright keeps an event loop running, which other tests must not meet.
"""

from __future__ import annotations

import shutil
import signal

import pytest

from conftest import NOT_PROVIDED

pytest.importorskip("fastapi", reason=f"{NOT_PROVIDED}fastapi, which the extra serve brings")

from playwright.sync_api import expect, sync_playwright

from page.screen import KEY, Screen
from serve.server import SLOW, start
from urewrite.pretrained import bundled

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 30_000

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="package")
def browser():
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("there is no browser: install Debian's package chromium, or Google Chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def serving(tmp_path_factory):
    """Starts servers, and sees to it that each of them ends well."""
    folder = tmp_path_factory.mktemp("served")
    started = []

    def serve(*arguments, **options):
        started.append(start(folder, *arguments, **options))
        started[-1].wait_until_ready()
        return started[-1]

    yield serve
    for server in started:
        server.process.send_signal(signal.SIGTERM)
    assert {server.ended() for server in started} <= {0}


@pytest.fixture(scope="package")
def server(serving):
    """One that takes everybody."""
    return serving("--model", "auto" if {"en", "zh"} <= set(bundled()) else "zh")


@pytest.fixture(scope="package")
def gates(tmp_path_factory):
    """A folder: what the strict server is told to hold, it goes on with once a file of that name is there."""
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="package")
def strict_server(serving, gates):
    """One with a key and narrow limits."""
    limits = ("--max-turn-chars", "200", "--request-seconds", "3")
    return serving("--model", "zh", *limits, program=SLOW, UREWRITE_API_KEYS=KEY, GATES=str(gates))


@pytest.fixture
def opening(browser):
    """Opens the page of a server; nothing may fail in it, and its policy must not be broken."""
    opened = []

    def open_page(server, fragment="", **options):
        options = {"viewport": {"width": 1400, "height": 900}, "locale": "en-GB", **options}
        context = browser.new_context(**options)
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
        opened.append(Screen(context.new_page(), server))
        opened[-1].open(fragment)
        return opened[-1]

    yield open_page
    failures = [failure for screen in opened for failure in screen.failures]
    for screen in opened:
        screen.page.context.close()
    assert failures == []


@pytest.fixture
def screen(opening, server):
    """The page with a Chinese dialogue."""
    return opening(server, "u=你看过泰坦尼克号吗&a=看过，我很喜欢这部电影&u=你觉得它的主题曲怎么样")
