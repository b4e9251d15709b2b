"""Pages in a Chromium of the system, opened from disk, and pictures of them."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
Scheme = Literal["light", "dark"]


class Opener:
    """Opens pages of a folder at a width and in a scheme; keeps the browser's complaints and requests."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self.folder = browser, folder
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._pages: list[Page] = []

    def __call__(
        self, name: str = "index.html", width: int = 1280, scheme: Scheme = "light", scripts: bool = True
    ) -> Page:
        page = self._browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
        )
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(f"{self.folder.as_uri()}/{name}")
        self._pages.append(page)
        return page

    def close(self) -> None:
        for page in self._pages:
            page.close()


def serious_faults(page: Page, *rules: str) -> list[Any]:
    """The serious faults that axe-core finds on a page, by all of its rules or some: each with its rule, the
    number of places, and the first of these.
    """
    # Only violations are asked for: to describe every node that passes takes longer than the check.
    options = {"resultTypes": ["violations"]} | ({"runOnly": [*rules]} if rules else {})
    faults = Axe().run(page, options=options).response["violations"]
    serious = [fault for fault in faults if fault["impact"] in ("serious", "critical")]
    return [(fault["id"], len(fault["nodes"]), fault["nodes"][0]["html"]) for fault in serious]


def fits(page: Page, width: int) -> bool:
    """Tell whether a page is no wider than the screen."""
    return page.evaluate("document.documentElement.scrollWidth") == width


def picture(page: Page, name: str, colours: int = 64, wait: int = 500, **options: Any) -> None:
    """Write a picture of a page to the folder that SCREENSHOTS names, if it does.

    64 colours make a page of text a third of its size; a page whose colours are states needs 200.
    """
    if folder := os.environ.get("SCREENSHOTS"):
        page.wait_for_timeout(wait)
        image = Image.open(io.BytesIO(page.screenshot(**options))).convert("RGB").quantize(colours)
        image.save(Path(folder) / f"{name}.png", optimize=True)
