"""The steps to an answer on a page of the report."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from logs import log_of

from orchestration.rendering.report.page import templates
from substrate.cause.explanation import Evidence, ExplainedPart, ExplainedStep, Explanation


class _Reader(HTMLParser):
    """The tags of a fragment, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_page_shows_the_steps_and_escapes_what_they_say() -> None:
    log = log_of((tick, f'A <urn:v:ann> <urn:v:in> "room <{tick}>" .') for tick in range(3))
    first, last = (ExplainedStep("look", "found", evidence=(Evidence(place),)) for place in (0, 2))
    parts = (
        ExplainedPart("choice 0", (last,), "yes", said="is <b> it"),
        ExplainedPart("choice 1", (first, last), "no", ground="sure"),
    )
    macros: Any = templates().globals["macros"]
    page = _Reader(str(macros.steps(Explanation("?", "no", parts, {"": log}, {"urn:v:": ":"}))))
    assert page.open == []
    assert page.tags.count("details") == page.tags.count("table") == 2
    expected = ("choice 0, is <b> it: yes, in 1 step", ":ann", ':in "room <2>"', "in 2 steps", "Ground: sure")
    for words in expected:
        assert words in page.words
    assert "b" not in page.tags
