"""The report in a real browser, opened from a file."""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.long
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(unchanged_project: Path) -> Path:
    """The folder of a small project's report, which no test changes."""
    return unchanged_project / "artifacts/sample/report"


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[_Opener]:
    opener = _Opener(browser, report)
    yield opener
    opener.close()


class _Opener:
    """Opens a page at a width and in a scheme; keeps what the browser complained of and asked for."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self.folder = browser, folder
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._pages: list[Page] = []

    def __call__(
        self,
        name: str = "index.html",
        width: int = 1280,
        scheme: Literal["light", "dark"] = "light",
        scripts: bool = True,
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


ABLATIONS = "answers/ablations.html"
NUMBER = "numbers/ablations-counterfactual.printed-per_question.html"


def wrong_answer(page: Page) -> str:
    """Open the first wrong answer on a page of answers, by the keyboard; its name."""
    page.get_by_label("Result").select_option("wrong")
    button = page.locator("button.opens").first
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".why svg.timeline")).to_be_visible()
    return button.inner_text()


def test_it_opens_from_a_file_and_asks_for_nothing_else(opened: _Opener) -> None:
    for name in ("index.html", NUMBER, ABLATIONS):
        page = opened(name)
        assert page.locator("h1").is_visible()
    wrong_answer(page)
    assert opened.complaints == []
    asked = {address for address in opened.requests if not address.startswith("data:")}
    assert all(address.startswith(f"{opened.folder.as_uri()}/") for address in asked)


@pytest.mark.parametrize("name", ["index.html", NUMBER, ABLATIONS])
def test_a_phone_scrolls_down_and_not_sideways(opened: _Opener, name: str) -> None:
    page = opened(name, width=360)
    if name == ABLATIONS:
        wrong_answer(page)
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


@pytest.mark.parametrize("width", [360, 1200])
def test_every_table_fits_and_the_rest_of_it_is_a_click_away(opened: _Opener, width: int) -> None:
    page = opened(width=width)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    for table in page.locator("table.cards").all():
        name = table.get_attribute("aria-describedby")
        assert table.evaluate("e => e.scrollWidth <= e.parentElement.clientWidth"), name
        assert 2 <= table.locator("thead th:visible").count() <= 7, name
    table = page.locator("table[aria-describedby=caption-clevrer]")
    gap = table.locator("tbody tr").first.locator("td[data-head*='gap']").first
    assert not gap.is_visible()
    page.locator("section[aria-labelledby=table-clevrer] .all input").check()
    assert gap.is_visible()


def test_a_table_is_sorted_by_a_click_and_a_benchmark_or_number_is_found(opened: _Opener) -> None:
    page = opened()
    table = page.locator("table[aria-describedby=caption-clevrer]")
    head = table.locator("thead th").nth(1)
    head.get_by_role("button").press("Enter")
    shown = table.locator("tbody tr td[data-head=n]").all_inner_texts()
    counts = [int(text.replace(",", "")) for text in shown if text.strip()]
    assert counts == sorted(counts)
    expect(head).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("searchbox").fill("babi qa7")
    expect(page.locator("#said")).to_have_text("1 numbers")
    page.locator("#found a").last.scroll_into_view_if_needed()
    page.locator("#found a", has_text="search the answers of bAbI").click()
    page.wait_for_url(re.compile("/answers/babi.html"))
    expect(page.get_by_label("Scene or words")).to_have_value("babi qa7")


def test_a_slider_shows_the_state_of_both_arms_at_a_tick(opened: _Opener) -> None:
    page = opened()
    slider = page.get_by_role("slider")
    last = int(slider.get_attribute("max") or 0)
    slider.fill("0")
    expect(page.locator("#state .only")).to_have_count(0)
    slider.fill(str(last))
    expect(page.locator("#state output")).to_have_text(str(last))
    assert page.locator("#state .only").count()


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


def test_a_number_leads_to_its_page_and_from_there_to_a_wrong_answer_with_its_steps(opened: _Opener) -> None:
    page = opened()
    number = page.locator("table.numbers a.number[href*='counterfactual.printed-per_question']").first
    text = number.inner_text()
    number.press("Enter")
    page.wait_for_url(re.compile("/numbers/"))
    assert text in page.locator("h1").inner_text()
    assert page.locator(".chain > li").count() >= 4
    wrong = page.locator(".names a").first
    name = wrong.inner_text()
    wrong.press("Enter")
    page.wait_for_url(re.compile("/answers/"))
    detail = page.locator("tr.detail")
    expect(detail.locator("table.steps").first).to_be_attached()
    expect(page.locator("button.opens[aria-expanded=true]")).to_have_text(name)
    said = detail.inner_text()
    assert f"substrate explain ablations/{name}" in said
    assert "tick" in said
    assert detail.locator("svg.timeline .mark").count()


def test_answers_are_filtered_searched_and_turned_over_by_the_keyboard(opened: _Opener) -> None:
    page = opened("answers/babi.html")
    said, lines = page.locator("#said"), page.locator("tr.line")
    expect(said).to_have_text("100 of 100 answers")
    expect(lines).to_have_count(50)
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.locator("#place")).to_have_text("51 to 100")
    page.get_by_role("combobox", name="Subset").select_option("qa1")
    expect(said).to_have_text("5 of 100 answers")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_label("Scene or words").press_sequentially("where is")
    expect(said).to_have_text("5 of 100 answers")
    page.get_by_label("Scene or words").press_sequentially(" nobody at all")
    expect(said).to_have_text("0 of 100 answers")
    assert "subset=qa1&q=where+is+nobody+at+all" in page.url
    again = opened(f"answers/babi.html?{page.url.partition('?')[2]}")
    expect(again.locator("#said")).to_have_text("0 of 100 answers")


def test_an_answer_whose_steps_are_not_there_says_what_prints_them(opened: _Opener) -> None:
    page = opened("answers/gqa.html?result=right")
    page.locator("tr.line").last.locator("button").press("Enter")
    name = page.locator("tr.line").last.locator("button").inner_text()
    expect(page.locator(".why")).to_have_text(
        f"Its steps are not on this page. substrate explain gqa/{name} prints them."
    )


def test_without_scripts_the_numbers_stay(opened: _Opener) -> None:
    page = opened(ABLATIONS, scripts=False)
    counts = page.locator("table.numbers")
    page.locator("details.counts summary").press("Enter")
    assert counts.is_visible()
    assert "counterfactual.printed" in counts.inner_text()
    assert page.locator("noscript p").is_visible()
    assert not page.locator("form").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_screen_reader_finds_its_way(opened: _Opener, scheme: Literal["light", "dark"]) -> None:
    for name in ("index.html", NUMBER, ABLATIONS):
        page = opened(name, scheme=scheme)
        if name == ABLATIONS:
            wrong_answer(page)
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        found = Axe().run(page).response["violations"]
        grave = [one for one in found if one["impact"] in ("serious", "critical")]
        said = [(one["id"], len(one["nodes"]), one["nodes"][0]["html"]) for one in grave]
        assert said == [], name


def test_it_prints_on_few_pages(opened: _Opener) -> None:
    page = opened()
    page.emulate_media(media="print")
    assert not page.locator("nav").first.is_visible()
    assert page.locator(".forest-group table").first.is_visible(), "what is folded to be short is printed"
    assert page.pdf(format="A4").count(b"/Type /Page\n") <= 24


def test_pictures(browser: Browser, request: pytest.FixtureRequest) -> None:
    """With SCREENSHOTS=FOLDER in the environment: of the sample's report, where it was made here."""
    if not (folder := os.environ.get("SCREENSHOTS")):
        pytest.skip("SCREENSHOTS names no folder")
    sample = ROOT / "artifacts/sample/report"
    opener = _Opener(browser, sample if sample.is_dir() else request.getfixturevalue("report"))
    wide = opener(ABLATIONS, width=1440)
    name = wrong_answer(wide)
    first = opener(width=1440)
    first.set_viewport_size({"width": 1440, "height": 1500})
    for picture, page in {
        "report": first,
        "report-dark": opener(f"{ABLATIONS}?result=wrong&answer={name}", width=1440, scheme="dark"),
        "report-360": opener(f"{ABLATIONS}?result=wrong&answer={name}", width=360),
    }.items():
        page.wait_for_timeout(500)
        shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(64)
        shown.save(Path(folder) / f"{picture}.png", optimize=True)
    opener.close()
