"""The report in a real browser, opened from a file."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

import pytest
from browsing import Opener, Scheme, picture, serious_faults
from playwright.sync_api import Browser, Page, expect

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.long
ABLATIONS = "answers/ablations.html"
NUMBER = "numbers/ablations-counterfactual.printed-per_question.html"


# The style of the picture of README: from the UI to a number to its evidence.
WALK = """<style>body { display: flex; gap: 10px; align-items: center; margin: 8px; font: 20px sans-serif }
figure { margin: 0; flex: 1 } img { width: 100%; height: 340px; object-fit: cover; object-position: top left;
border: 1px solid #ccc } figcaption { padding: 0 0 8px }</style>"""


def wrong_answer(page: Page) -> str:
    """Open the first wrong answer on a page of answers, by the keyboard; its name."""
    page.get_by_label("Result").select_option("wrong")
    button = page.locator("button.opens").first
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.locator(".why svg.timeline")).to_be_visible()
    return button.inner_text()


def test_it_opens_from_a_file_and_asks_for_nothing_else(opened: Opener) -> None:
    for name in ("index.html", NUMBER, "states.html", ABLATIONS):
        page = opened(name)
        assert page.locator("h1").is_visible()
    wrong_answer(page)
    assert opened.complaints == []
    addresses = {address for address in opened.requests if not address.startswith("data:")}
    assert all(address.startswith(f"{opened.folder.as_uri()}/") for address in addresses)


@pytest.mark.parametrize("width", [1200, 1600])
def test_the_claims_come_first_and_the_contents_stay_in_view(opened: Opener, width: int) -> None:
    page = opened(width=width)
    height = page.evaluate("document.documentElement.scrollHeight")
    rows = page.locator(".verdicts tbody tr")
    boxes = [row.bounding_box() for row in rows.all()]
    assert sum(box is not None and box["y"] < height / 4 for box in boxes) >= 15
    assert len({word.inner_text() for word in rows.locator("td.verdict-of").all()}) >= 3
    rows.first.get_by_role("link").first.click()
    expect(page.locator("blockquote")).to_contain_text("The paper, section 1")
    page.go_back()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.get_by_role("navigation", name="Contents")).to_be_in_viewport()


@pytest.mark.parametrize("width", [360, 1200])
def test_every_table_fits_and_the_rest_of_it_is_a_click_away(opened: Opener, width: int) -> None:
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


def test_a_table_is_sorted_by_a_column_and_the_search_finds_a_benchmark_or_number(opened: Opener) -> None:
    page = opened()
    table = page.locator("table[aria-describedby=caption-clevrer]")
    head = table.locator("thead th").nth(1)
    head.get_by_role("button").press("Enter")
    cells = table.locator("tbody tr td[data-head=n]").all_inner_texts()
    counts = [int(text.replace(",", "")) for text in cells if text.strip()]
    assert counts == sorted(counts)
    expect(head).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("searchbox").fill("babi qa7")
    expect(page.locator("#said")).to_have_text("1 number")
    page.locator("#found a").last.scroll_into_view_if_needed()
    page.locator("#found a", has_text="search the answers of bAbI").click()
    page.wait_for_url(re.compile("/answers/babi.html"))
    expect(page.get_by_label("Scene or words")).to_have_value("babi qa7")


def test_the_state_of_a_log_and_two_arms_beside_each_other_at_any_tick(opened: Opener) -> None:
    page = opened("states.html?answer=clevrer/10000/0&tick=0")
    status, only = page.locator(".told"), page.locator("#state .only")
    expect(status).to_have_text(re.compile(r"^\d+ triples at tick 0$"))
    early = page.locator("[data-arm='0'] li").count()
    page.get_by_role("slider").fill("127")
    assert page.locator("[data-arm='0'] li").count() > early
    page.get_by_role("searchbox").fill("end of the video")
    expect(page.locator("[data-arm='0'] li").first).to_contain_text("(new)")
    page.get_by_role("searchbox").fill("")
    log = page.locator("select[name=left]")
    twin = next(text for text in log.locator("option").all_text_contents() if text.startswith("twin/"))
    log.select_option(label=twin)
    expect(page.get_by_role("heading", name="arm b")).to_be_visible()
    expect(status).to_have_text(re.compile(r"^\d+ triples beside \d+ triples at tick"))
    page.get_by_role("slider").fill("99")
    assert only.count()
    expect(only.first).to_contain_text("(only here)")


def brightness(page: Page, property_: str) -> float:
    colour = page.evaluate(f"getComputedStyle(document.body).{property_}")
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


def test_dark_is_dark_and_light_is_light(opened: Opener) -> None:
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


def test_answers_are_filtered_searched_and_paged(opened: Opener) -> None:
    page = opened("answers/babi.html")
    status, lines = page.locator("#said"), page.locator("tr.line")
    expect(status).to_have_text("100 of 100 answers")
    expect(lines).to_have_count(50)
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.locator("#place")).to_have_text("51 to 100")
    page.get_by_role("combobox", name="Subset").select_option("qa1")
    expect(status).to_have_text("5 of 100 answers")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_label("Scene or words").press_sequentially("where is")
    expect(status).to_have_text("5 of 100 answers")
    page.get_by_label("Scene or words").press_sequentially(" nobody at all")
    expect(status).to_have_text("0 of 100 answers")
    # The address follows what is typed, a moment later.
    expect(page).to_have_url(re.compile(r"subset=qa1&q=where\+is\+nobody\+at\+all$"))
    again = opened(f"answers/babi.html?{page.url.partition('?')[2]}")
    expect(again.locator("#said")).to_have_text("0 of 100 answers")


def test_an_answer_whose_steps_are_not_there_says_what_prints_them(opened: Opener) -> None:
    page = opened("answers/gqa.html?result=right")
    page.locator("tr.line").last.locator("button").press("Enter")
    name = page.locator("tr.line").last.locator("button").inner_text()
    expect(page.locator(".why")).to_have_text(
        f"Its steps are not on this page. substrate explain {name} prints them."
    )


def test_without_scripts_the_numbers_stay(opened: Opener) -> None:
    page = opened(ABLATIONS, scripts=False)
    counts = page.locator("table.numbers")
    page.locator("details.counts summary").press("Enter")
    assert counts.is_visible()
    assert "counterfactual.printed" in counts.inner_text()
    assert page.locator("noscript p").is_visible()
    assert not page.locator("form").is_visible()


@pytest.mark.parametrize(("scheme", "rules"), [("light", ()), ("dark", ("color-contrast",))])
def test_a_screen_reader_finds_its_way(opened: Opener, scheme: Scheme, rules: tuple[str, ...]) -> None:
    """The dark scheme changes colours alone, so only the contrast is checked there."""
    for name in ("index.html", NUMBER, ABLATIONS, "states.html"):
        page = opened(name, scheme=scheme)
        if name == ABLATIONS:
            wrong_answer(page)
        page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        assert serious_faults(page, *rules) == [], name


def test_it_prints_on_few_pages(opened: Opener) -> None:
    page = opened()
    page.emulate_media(media="print")
    assert not page.locator("nav").first.is_visible()
    assert page.locator(".forest-group table").first.is_visible(), "what is folded to be short is printed"
    pages = page.pdf(format="A4").count(b"/Type /Page\n")
    assert pages <= 28, pages


def test_pictures(browser: Browser, request: pytest.FixtureRequest) -> None:
    """With SCREENSHOTS=FOLDER in the environment, picture the sample's report, else a small project's."""
    if not os.environ.get("SCREENSHOTS"):
        pytest.skip("SCREENSHOTS names no folder")
    sample = ROOT / "artifacts/sample/report"
    opener = Opener(browser, sample if sample.is_dir() else request.getfixturevalue("report"))
    wide = opener(ABLATIONS, width=1440)
    name = wrong_answer(wide)
    first = opener(width=1440)
    first.set_viewport_size({"width": 1440, "height": 1500})
    picture(first, "report")
    number = opener("numbers/clevrer-counterfactual-per_question.html", width=1100)
    images = [(ROOT / "docs/images/benchmark.png").read_bytes(), number.screenshot(), wide.screenshot()]
    titles = (
        "1. Dagster runs it, DVC pins it",
        "2. A number, its wrong answers",
        "3. An answer's log and triples",
    )
    data = [f"data:image/png;base64,{base64.b64encode(image).decode()}" for image in images]
    figure = "<figure><figcaption>{}</figcaption><img src='{}'></figure>"
    walk = browser.new_page(viewport={"width": 1500, "height": 400})
    walk.set_content(WALK + "<b>►</b>".join(map(figure.format, titles, data)))
    picture(walk, "walk", colours=128)
    picture(opener("states.html?answer=twin/6/a&tick=6"), "states")
    picture(opener(f"{ABLATIONS}?result=wrong&answer={name}", width=1440, scheme="dark"), "report-dark")
    opener.close()
