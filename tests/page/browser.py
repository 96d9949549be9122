"""The browser that the page is tested in: Debian's Chromium, or another that is installed.

python tests/page/browser.py    installs Chromium where there is none, if that can be done without asking
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
NONE = "there is no browser: install Debian's package chromium, or Google Chrome"


def installed() -> str | None:
    """The path of the first that is found."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def main() -> None:
    if installed() is None and shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", NAMES[0]], env=quiet, check=True)
    sys.stderr.write((installed() or f"{NONE}; without one the tests of the page are skipped") + "\n")


if __name__ == "__main__":
    main()
