"""Pictures of the page of `urewrite serve`, as they stand in the README: a wide one, and one of a phone in the dark.

python benchmarks/page_pictures.py

Writes docs/images/page-*.png. Needs Linux, the extras `serve` and `test`, and Chromium.
"""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from benchmarks.serving import serving  # noqa: E402 - beside this one

from page.browser import NONE, installed  # type: ignore[import-not-found]  # noqa: E402 - beside the tests

IMAGES = ROOT / "docs" / "images"
ENGLISH = [("u", "Who wrote Dune?"), ("a", "Frank Herbert wrote Dune."), ("u", "When was he born?")]
CHINESE = [("u", "你喜欢周杰伦吗"), ("a", "喜欢"), ("u", "为什么喜欢他")]


def main() -> None:
    found = installed()
    if found is None:
        raise SystemExit(NONE)
    with serving("auto") as (_, port), sync_playwright() as playwright:
        address = f"http://127.0.0.1:{port}"
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        picture(browser, f"{address}/#{urlencode(ENGLISH)}", "page-wide.png", width=1300, height=1500)
        picture(browser, f"{address}/#{urlencode(CHINESE)}", "page-phone.png", width=390, height=844, dark=True)
        browser.close()


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
