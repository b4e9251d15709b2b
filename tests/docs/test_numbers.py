"""The numbers on the pages agree with the pins.

Each figure of a page is pinned, published, or in a section with the command that measures it. A row of a
table, or a paragraph, that names a pinned number (`met/log/accuracy`) has that number's figure, and no figure
of another benchmark. A section that ends in `substrate trace NUMBER` has that number's figure too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from orchestration.pins.pin_files import pinned_cells, pinned_scores
from orchestration.registry import TABLES
from orchestration.scoring.published import published
from substrate.base.intervals import wilson

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")))
COUNTED = re.compile(r"\b(\d[\d,]*) of (?:the |some )?(\d[\d,]*)")
INTERVAL = re.compile(r"(\d+\.\d+)(?:, | to )(\d+\.\d+)")
DECIMAL = re.compile(r"(?<![\w.,§])(\d+\.\d+)(?![\w]|\.\d)")
CODE = re.compile(r"```[\s\S]*?```|`[^`]*`|^ {4}.*$", re.MULTILINE)
# A number's name, and the command before it that traces it.
NAMED = re.compile(r"(substrate trace )?\b(\w+(?:/[\w.]*\w)+)(?![\w/])")
VERSIONED = r"(?:Python|Schema|RDF|SPARQL|RDF 1.2 and SPARQL|bAbI|Spark|Java|MCP|version)"
# The sources of numbers that no pin holds: a program of the tree, or a pinned file of a run.
BENCH = re.compile(r"(benchmarks/\w+\.py|research\.\w[\w.]*|artifacts/[\w/]+\.\w+|substrate bench )")
# A share alone, a count with its n, or the bounds of an interval.
Figure = tuple[str, ...]


def spelled(right: int, n: int, bounds: Sequence[float] = ()) -> set[Figure]:
    """A count, its complement, share and interval as pages write them; Wilson's interval if none is given."""
    spellings: set[Figure] = {(str(right), str(n)), (str(n - right), str(n))}
    for scale, digits in ((100, 1), (100, 2), (1, 2), (1, 3)) if n else ():
        spellings.add((f"{scale * right / n:.{digits}f}",))
        spellings.add(tuple(f"{scale * bound:.{digits}f}" for bound in bounds or wilson(right, n)))
    return spellings


@cache
def pinned() -> dict[str, set[Figure]]:
    """The figures of each pinned number by its name; the interval is the one in the pinned table, if any."""
    figures: dict[str, set[Figure]] = defaultdict(set)
    for profile in ("sample", "beyond", "real"):
        rows = dict(row for table in ("real", *TABLES) for row in pinned_cells(ROOT, profile, table).items())
        for name, (right, n) in pinned_scores(ROOT, profile).items():
            bounds = re.findall(r"\d+\.\d+", rows.get(name, {}).get("95 % interval", ""))
            figures[name] |= spelled(right, n, [float(bound) / 100 for bound in bounds])
    return figures


@cache
def known() -> set[Figure]:
    """All figures of pins, pinned tables and publications."""
    figures = set[Figure]().union(*pinned().values())
    for number in published().numbers.values():
        for system in number.figures.keys() & published().systems:
            right = round(float(number.figures[system].printed) * (number.n or 0) / 100)
            for count in (right, (number.n or 0) - right):  # the right answers, and the wrong ones
                figures |= spelled(count, number.n or 0)
            bounds = [number.figures.get(f"{system}/{side}") for side in ("low", "high")]
            figures.add(tuple(bound.printed for bound in bounds if bound))
    figures |= {(figure.printed.lstrip("-+"),) for figure in published().figures()}
    figures |= {(figure,) for rival in published().rivals for figure in rival.figures.values()}
    profiles = [(profile, table) for profile in ("sample", "beyond", "real") for table in ("real", *TABLES)]
    rows = (row for place in profiles for row in pinned_cells(ROOT, *place).values())
    cells = " ".join(cell for row in rows for cell in row.values())
    return figures | {*INTERVAL.findall(cells)} | {(figure,) for figure in DECIMAL.findall(cells)}


def figures_of(text: str) -> list[Figure]:
    """The figures of some text, without those in code."""
    prose = CODE.sub(" ", text)
    pairs = [tuple(n.replace(",", "") for n in pair) for pair in COUNTED.findall(prose)]
    shares = [(share,) for share in DECIMAL.findall(INTERVAL.sub(" ", prose))]
    return [*pairs, *INTERVAL.findall(prose), *shares]


def sections(text: str) -> Iterator[str]:
    """A page's sections without links and versions, each with the commands of the page's first section."""
    # Another test holds the table of claims against the pins.
    text = re.sub(r"<!-- verdicts -->.*<!-- /verdicts -->", "", text, flags=re.DOTALL)
    plain = re.sub(r"\]\([^)]*\)|<!--.*?-->", "]", text)
    plain = re.sub(rf"\b3\.1[1-4]\b|{VERSIONED} \d[\d.]*(?:(?:,| and| or| to) \d+\.[\d.]+)*", "", plain)
    first, *rest = re.split(r"^(?=## )", plain, flags=re.MULTILINE)
    commands = " ".join(BENCH.findall(first))
    yield from (first, *(f"{section}\n{commands}" for section in rest))


def faults(section: str) -> list[str]:
    """The figures of a section that nobody measured, or that are not of the number that the page names."""
    unknown = [] if BENCH.search(section) else [f for f in figures_of(section) if f not in known()]
    unlike = [" of ".join(figure) for figure in unknown]
    for block in re.split(r"\n\n|\n(?=\|)", re.sub(r"```[\s\S]*?```", "", section)):
        named = [(traced, name) for traced, name in NAMED.findall(block) if name in pinned()]
        cited = {name.partition("/")[0] for traced, name in named if not traced}
        for traced, name in named:
            present = figures_of(section if traced else block)
            if present and not pinned()[name] & {*present}:
                unlike.append(f"no figure of {name}")
        allowed = set[Figure]().union(*(pinned()[n] for n in pinned() if n.partition("/")[0] in cited))
        unlike += [" of ".join(figure) for figure in figures_of(block) if cited and figure not in allowed]
    return list(dict.fromkeys(unlike))


@pytest.mark.parametrize("page", PAGES)
def test_each_number_is_as_pinned_or_cited_or_has_the_command_that_measures_it(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    by_section = {section.partition("\n")[0]: faults(section) for section in sections(text)}
    assert not {title: numbers for title, numbers in by_section.items() if numbers}


def test_a_number_that_nobody_measured_is_named() -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    doctored = sections(page.replace("[99.32, 100.00]", "[99.37, 100.00]"))
    assert [number for section in doctored for number in faults(section)] == ["99.37 of 100.00"]
    assert faults("    a command\n\nIt answers 491 of 564 (86.88 %).") == ["491 of 564"]


def test_a_wrong_figure_of_a_named_number_is_seen_beside_any_command() -> None:
    command = "\n\n    python -m research.measurements.clevrer_perception DATA\n\n"
    assert faults(f"It answers 491 of 564.{command}") == []
    assert faults(f"{command}| `from_truth/worlds/per_question` | 568 of 574 | 68.98 |\n| b | 1.5 |") == []
    row = "| `from_truth/worlds/per_question` | 549 of 574 | 68.89 |"
    assert faults(f"{command}{row}") == ["no figure of from_truth/worlds/per_question", "68.89"]
    traced = "\n\n    substrate trace met/address/accuracy"
    assert faults(f"It answers 29.67 %.{command}{traced}") == []
    assert faults(f"It answers 29.76 %.{command}{traced}") == ["no figure of met/address/accuracy"]
