"""The report in a real browser, opened from a file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, reproduced: Path) -> Iterator[_Opener]:
    opener = _Opener(browser, (reproduced / "artifacts/sample/report/index.html").as_uri())
    yield opener
    opener.close()


class _Opener:
    """Opens the page at a width and in a scheme; keeps what the browser complained of and asked for."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser, self._address = browser, address
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._pages: list[Page] = []

    def __call__(self, width: int = 1280, scheme: Literal["light", "dark"] = "light") -> Page:
        page = self._browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(self._address)
        self._pages.append(page)
        return page

    def close(self) -> None:
        for page in self._pages:
            page.close()


def test_it_opens_from_a_file_and_asks_for_nothing_else(opened: _Opener) -> None:
    page = opened()
    assert page.locator("h1").is_visible()
    assert opened.complaints == []
    assert {address for address in opened.requests if not address.startswith("data:")} == {page.url}


def test_a_phone_scrolls_down_and_not_sideways(opened: _Opener) -> None:
    page = opened(width=360)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    outside = """elements => elements
        .filter(e => e.getBoundingClientRect().right > 360 && !e.closest('.scroll'))
        .map(e => e.outerHTML.slice(0, 80))"""
    assert (
        page.locator(
            "main p, main li, main h2, main h3, main td, main figcaption, main summary"
        ).evaluate_all(outside)
        == []
    )
    sizes = page.locator("main p, main td, main th, main li").evaluate_all(
        "elements => elements.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 11


def brightness(page: Page, property_: str) -> float:
    colour = page.evaluate(f"getComputedStyle(document.body).{property_}")
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


def test_dark_is_dark_and_light_is_light(opened: _Opener) -> None:
    dark, light = opened(scheme="dark"), opened(scheme="light")
    assert brightness(dark, "backgroundColor") < 50
    assert brightness(dark, "color") > 200
    assert brightness(light, "backgroundColor") > 230
    assert brightness(light, "color") < 60
    inks = [
        page.locator("figure svg text").first.evaluate("e => getComputedStyle(e).fill")
        for page in (dark, light)
    ]
    assert inks[0] != inks[1], "figures take the page's colours"


def test_a_number_leads_to_its_trace_and_opens_it(opened: _Opener) -> None:
    page = opened()
    number = page.locator("table.numbers a.number").first
    target = page.locator(f"[id='{(number.get_attribute('href') or '')[1:]}']")
    assert not target.locator(".chain").is_visible()
    number.press("Enter")
    assert target.locator(".chain").is_visible()
    assert number.inner_text() in target.inner_text()


def test_every_link_arrives(opened: _Opener) -> None:
    page = opened()
    broken = page.evaluate(
        "[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href')).filter(h => "
        "!h.startsWith('#') || !document.getElementById(h.slice(1)))"
    )
    assert broken == []
