"""The browser, and the report that its tests read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import CHROMIUM, Opener
from playwright.sync_api import Browser, sync_playwright


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium with an empty profile; without its sandbox, since Chromium refuses to start as root with it.

    It ends with the module: while it is open, its driver's event loop runs, and no other test can run one.
    """
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: `sh scripts/chromium.sh` installs it, or says how")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def report(unchanged_project: Path) -> Path:
    """The folder of a small project's report, which no test changes."""
    return unchanged_project / "artifacts/sample/report"


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Opener]:
    """Opens pages of the report, and closes them at the end."""
    opener = Opener(browser, report)
    yield opener
    opener.close()
