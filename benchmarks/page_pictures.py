"""Pictures of the page of `urewrite serve`, as they stand in the README: a wide one, and one of a phone in the dark.

python benchmarks/page_pictures.py

Writes docs/images/page-*.png. Needs the extras `serve` and `test`, and Chromium.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
LISTENING = re.compile(r"listening on (http://\S+)")
ENGLISH = [("u", "Who wrote Dune?"), ("a", "Frank Herbert wrote Dune."), ("u", "When was he born?")]
CHINESE = [("u", "你喜欢周杰伦吗"), ("a", "喜欢"), ("u", "为什么喜欢他")]


def main() -> None:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise SystemExit("there is no browser: install Chromium")
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        picture(browser, f"{address}/#{urlencode(ENGLISH)}", "page-wide.png", width=1300, height=1500)
        picture(browser, f"{address}/#{urlencode(CHINESE)}", "page-phone.png", width=390, height=844, dark=True)
        browser.close()


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server with the bundled models."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("w") as stream:
            process = subprocess.Popen([sys.executable, "-m", "urewrite", "serve", "--port", "0"], stderr=stream)
        try:
            while not (found := LISTENING.search(log.read_text())):
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.1)
            yield found[1]
        finally:
            process.terminate()
            process.wait()


def picture(browser: Browser, link: str, name: str, *, width: int, height: int, dark: bool = False) -> None:
    """The page with the first edit pointed at, so that its link to its source is seen."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        is_mobile=dark,
        has_touch=dark,
        device_scale_factor=2 if dark else 1,
    )
    page = context.new_page()
    page.goto(link)
    edit = page.locator(".edit").first
    edit.wait_for()
    if not dark:
        edit.hover()
    page.wait_for_timeout(1000)  # for what moves to come to rest
    page.screenshot(path=IMAGES / name)
    context.close()


if __name__ == "__main__":
    main()
