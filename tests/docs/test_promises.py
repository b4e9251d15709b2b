"""The page of promises: every test that it names is there, every error and limit has its line."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from substrate.base.limits import Limits

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_test_that_is_named_is_there() -> None:
    named = NAMED.findall(PAGE)
    assert named
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text("utf-8"), f"{file}::{name}"


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PAGE.partition("## Limits")[0].splitlines() if line.startswith("| ")]
    promises = [row for row in rows if not row.startswith(("| fault or input", "| broken"))]
    assert all("`tests/" in row for row in promises), promises


def test_every_promise_counts_its_cases(request: pytest.FixtureRequest) -> None:
    """Rows are checked whose test files this run collected; a run of some files cannot count the others."""
    option = request.config.option
    if option.keyword or option.markexpr or any("::" in given for given in request.config.args):
        pytest.skip("tests are left out")
    cases = Counter(item.nodeid.partition("[")[0] for item in request.session.items)
    rows = [row for row in PAGE.splitlines() if row.startswith("| ") and "`tests/" in row]
    for row in rows:
        counts = [cases["::".join(named)] for named in NAMED.findall(row)]
        assert 0 in counts or row.endswith(f" | {sum(counts)} |"), row


def test_every_row_is_in_a_table() -> None:
    lines = PAGE.splitlines()
    loose = [row for above, row in pairwise(lines) if row.startswith("|") and not above.strip()]
    heads = ("| fault or input", "| broken", "| name", "| who", "| error")
    assert all(row.startswith(heads) for row in loose), loose


def sources() -> str:
    """The text of every module."""
    packages = [ROOT / name for name in ("substrate", "orchestration", "research")]
    return "\n".join(path.read_text("utf-8") for folder in packages for path in folder.rglob("*.py"))


def test_every_error_has_a_line() -> None:
    named = r"^class ([A-Z]\w*Error)\((?:Substrate|Download|Log)Error\)"
    errors = set(re.findall(named, sources(), re.MULTILINE))
    assert errors == set(re.findall(r"`(\w+Error)`", PAGE.partition("## Errors")[2]))


def test_every_limit_has_a_line() -> None:
    table = PAGE.partition("## Limits")[2].partition("Fixed,")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE)
    assert rows == [(name, words(getattr(Limits(), name))) for name in Limits.__struct_fields__]


def words(number: int) -> str:
    """A limit as the page spells it."""
    return f"{number >> 30} GiB" if number >= 1 << 30 else f"{number:,}"


def test_every_limit_is_used_by_its_name() -> None:
    texts = sources()
    assert [name for name in Limits.__struct_fields__ if f"LIMITS.{name}" not in texts] == []
