"""Strange names in a page: every tag of it is one of the page's own, and nothing in it acts."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec

from orchestration.lineage.explain import Input
from orchestration.registry import EXPLAINED
from orchestration.rendering.page import templates
from orchestration.rendering.tables import Table
from orchestration.rendering.worked import Worked
from substrate.base.errors import FormatError

_tables = msgspec.json.Decoder(tuple[str, list[str], list[list[str]]])
_images = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TAGS = """
    b br caption code details div em figcaption figure g h1 h2 h3 html li line meta ol p rect span strong
    style summary svg table tbody td text th thead title tr ul use wbr
"""
_POINTS = ("href", "src", "action", "data", "formaction", "xlink:href")


class _Tags(HTMLParser):
    """The tags of a page with the names of their attributes, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, *(name for name, _ in attrs)))
        assert tag in _TAGS.split(), f"a tag <{tag}> that no page has"
        for name, value in attrs:
            assert not name.startswith("on"), f"<{tag} {name}> acts"
            harmless = name not in _POINTS or re.match(r"#|[\w./-]+$", value or "")
            assert harmless, f"<{tag} {name}={value!r}> leads out"

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_decl(self, decl: str) -> None:
        assert decl.lower() == "doctype html", decl


def tags(page: str) -> list[tuple[str, ...]]:
    """The tags of a page, none of which is strange or acts."""
    parser = _Tags()
    parser.feed(page)
    parser.close()
    return parser.found


def table_page(path: Path) -> None:
    """Write a table of strange names in all formats: it has the tags, rows and cells of a plain one."""
    try:
        caption, heads, rows = _tables.decode(path.read_bytes())
        str(msgspec.json.decode(path.read_bytes())).encode()
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise FormatError(str(error)) from error
    if not heads or any(len(row) != len(heads) for row in rows):
        raise FormatError("the rows differ in length")
    strange = Table(caption, heads, rows)
    plain = Table("x", ["x" for _ in heads], [["x" for _ in row] for row in rows])
    assert tags(strange.render("html")) == tags(plain.render("html")), "a name changes the page"
    told, other = (_told(table.render("md")) for table in (strange, plain))
    assert told == other, "a name changes the table"
    written = strange.render("tex")
    commands = set(re.findall(r"\\([a-zA-Z]+)", written)).difference(_COMMANDS.split())
    assert not commands, f"a name gives TeX an order: {commands}"
    strange.render("json")


_COMMANDS = """
    begin end centering small caption toprule midrule bottomrule textbackslash textasciitilde ensuremath
    textasciicircum
"""


def _told(text: str) -> list[int]:
    """The cells of each line of Markdown, and whether it has a link."""
    assert "](" not in text.replace("\\](", ""), "a name is a link"
    lines = text.replace("\\\\", "").replace(r"\|", "").split("\n")
    return [line.count("|") for line in lines]


@cache
def _macros() -> Any:
    return templates().globals["macros"]


def answer_pages(path: Path) -> None:
    """Explain the answers about an image, and write what the report shows of each."""
    benchmark, files = EXPLAINED["gqa"], dict[str, Path]()
    try:
        for name, part in _images.decode(path.read_bytes()).items():
            if name in ("scene_graphs", "questions"):
                files[name] = path.with_name(f"{name}.json")
                files[name].write_bytes(part)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise FormatError(str(error)) from error
    if len(files) < 2:
        raise FormatError("no image with questions")
    parameters = Input(files=files).parameters(benchmark)
    for case in benchmark.source.cases(files, None, False).each:
        logs = [named.log for named in benchmark.logs(case, parameters)]
        for row in benchmark.rows(case, logs, parameters, ""):
            why = benchmark.explain(case, logs, parameters, row.subset, benchmark.asked(row))
            if why is not None:
                worked = Worked(benchmark.answer_name(row), why, row, *benchmark.picture(case, why, row))
                tags(str(_macros().reasons(worked)))
                tags(str(_macros().verdict(worked)))
