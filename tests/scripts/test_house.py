"""Pins stay short; no benchmark is a special case; a remark makes no stage stale; a changed citation or rule
makes only those stages stale that depend on it.
"""

from __future__ import annotations

import ast
from typing import Any

import pytest
from script_modules import script


@pytest.fixture(scope="module")
def house() -> Any:
    """The script `house`, as a module."""
    return script("house")


@pytest.fixture(scope="module")
def stale(house: Any) -> dict[str, list[str]]:
    """The stages that each change of the script makes stale."""
    return dict(house.stale())


def test_the_weight_of_a_module_is_its_lines_of_code(house: Any) -> None:
    text = "\n".join(
        (
            '"""About."""',
            "",
            "# Why.",
            "from far._in import name",
            "def run():",
            '    """Runs."""',
            "    exec(name)",
        )
    )
    tree = ast.parse(text)
    assert house.code_lines(text, tree) == 3
    assert (house.private_imports(tree), house.executes(tree)) == (1, True)
    assert house.private_imports(ast.parse("from substrate._inside import name")) == 0


def test_the_pins_in_git_stay_short(house: Any) -> None:
    assert house.lines(*house.PINS) <= 6700


def test_the_platform_names_no_benchmark_but_where_one_is_declared(house: Any) -> None:
    names = {name for files in house.naming().values() for name in files}
    # A benchmark may build on another.
    assert {name for name in names if not name.startswith("benchmarks/")} == set()
    assert "benchmarks/comphy.py" in names


@pytest.mark.long
@pytest.mark.parametrize("what", ["a remark in published.yaml", "a docstring in the journal"])
def test_a_remark_makes_no_stage_stale(what: str, stale: dict[str, list[str]]) -> None:
    assert stale[what] == []


@pytest.mark.long
def test_a_citation_concerns_scores_tables_and_report_alone(stale: dict[str, list[str]]) -> None:
    stages = stale["a changed citation"]
    assert {"clevrer/scores", "tables/clevrer", "report/html"} <= set(stages)
    showing = ("tables/", "report/", "provenance/")
    assert [name for name in stages if not name.endswith("/scores") and not name.startswith(showing)] == []


@pytest.mark.long
def test_a_rule_of_one_benchmark_concerns_it_and_what_shows_it(stale: dict[str, list[str]]) -> None:
    stages = set(stale["a changed rule of bAbI"])
    asked_again = {"questions/last_word"}
    assert stages == {"babi/logs", "babi/answers", "report/html", "provenance/prov"} | asked_again
