"""A measured number in docs is pinned, published, or in a section with the command that measures it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from orchestration.ledger.pinned import pinned_cells, pinned_scores
from orchestration.registry import TABLES
from orchestration.scoring.published import published
from substrate.base.intervals import wilson

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
COUNTED = re.compile(r"\b(\d[\d,]*) of (?:the |some )?(\d[\d,]*)")
INTERVAL = re.compile(r"(\d+\.\d+)(?:, | to )(\d+\.\d+)")
DECIMAL = re.compile(r"(?<![\w.,§])(\d+\.\d+)(?![\w]|\.\d)")
VERSIONED = r"(?:Python|RDF|SPARQL|RDF 1.2 and SPARQL|bAbI|Spark|Java|MCP|version)"
BENCH = re.compile(r"(benchmarks/\w+\.py|research\.\w[\w.]*|artifacts/[\w/]+\.\w+|substrate bench )")
"""The sources of numbers that no pin holds: a program of the tree, or a pinned file of a run."""


@cache
def known() -> set[str | tuple[str, ...]]:
    """Counts, intervals and shares as pins and publications have them, with one and two digits."""
    counts = [
        pair for profile in ("sample", "beyond", "real") for pair in pinned_scores(ROOT, profile).values()
    ]
    for number in published().numbers.values():
        accuracies = [f for name, f in number.figures.items() if name in published().systems]
        counts += [(round(float(f.printed) * number.n / 100), number.n) for f in accuracies if number.n]
    counts += [(n - right, n) for right, n in counts]
    spellings: set[str | tuple[str, ...]] = {(str(right), str(n)) for right, n in counts}
    for right, n in counts:
        for scale, digits in ((100, 1), (100, 2), (1, 2), (1, 3)) if n else ():
            spellings.add(f"{scale * right / n:.{digits}f}")
            spellings.add(tuple(f"{scale * bound:.{digits}f}" for bound in wilson(right, n)))
    spellings |= {figure.printed.lstrip("-+") for figure in published().figures()}
    spellings |= {figure for rival in published().rivals for figure in rival.figures.values()}
    tables = [("real", "real"), *product(("sample", "beyond"), TABLES)]
    rows = (row for profile, table in tables for row in pinned_cells(ROOT, profile, table).values())
    cells = " ".join(cell for row in rows for cell in row.values())
    bounds = [(f"{name}/low", f"{name}/high") for name in published().systems]
    printed = [number.figures for number in published().numbers.values()]
    spellings |= {
        (f[low].printed, f[high].printed) for f in printed for low, high in bounds if {low, high} <= f.keys()
    }
    return spellings | set(INTERVAL.findall(cells)) | set(DECIMAL.findall(cells))


def sections(text: str) -> Iterator[str]:
    """A page's sections without links and versions, each with the commands of the page's first section."""
    # Another test holds the table of claims against the pins.
    text = re.sub(r"<!-- verdicts -->.*<!-- /verdicts -->", "", text, flags=re.DOTALL)
    plain = re.sub(r"\]\([^)]*\)|<!--.*?-->", "]", text)
    plain = re.sub(rf"\b3\.1[1-4]\b|{VERSIONED} \d[\d.]*(?:(?:,| and| or| to) \d+\.[\d.]+)*", "", plain)
    first, *rest = re.split(r"^(?=## )", plain, flags=re.MULTILINE)
    commands = " ".join(BENCH.findall(first))
    yield from (first, *(f"{section}\n{commands}" for section in rest))


def unknown(section: str) -> list[str]:
    """The numbers of a section that no pin and no publication has, and no command there measures."""
    if BENCH.search(section):
        return []
    prose = re.sub(r"```.*?```|`[^`]*`|^ {4}.*$", " ", section, flags=re.DOTALL | re.MULTILINE)
    pairs = [tuple(n.replace(",", "") for n in pair) for pair in COUNTED.findall(prose)]
    rest = INTERVAL.sub(" ", prose)
    numbers = [*pairs, *INTERVAL.findall(prose), *DECIMAL.findall(rest)]
    return [
        number if isinstance(number, str) else " of ".join(number)
        for number in numbers
        if number not in known()
    ]


@pytest.mark.parametrize("page", PAGES)
def test_each_number_has_a_pin_a_citation_or_the_command_that_measures_it(page: str) -> None:
    by_section = {
        s.splitlines()[0]: unknown(s) for s in sections((ROOT / page).read_text("utf-8")) if s.strip()
    }
    assert not {title: numbers for title, numbers in by_section.items() if numbers}


def test_a_number_that_nobody_measured_is_named() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    doctored = sections(page.replace("[99.32, 100.00]", "[99.37, 100.00]"))
    assert [number for section in doctored for number in unknown(section)] == ["99.37 of 100.00"]
    assert unknown("It answers 491 of 564 (86.88 %).") == ["491 of 564"]
    command = "python -m research.measurements.clevrer_perception DATA"
    assert unknown(f"It answers 491 of 564.\n\n    {command}") == []
