"""A remark makes no stage stale; a changed citation or rule makes only those stale that depend on it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "house.py"


@pytest.fixture(scope="module")
def house() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_remarks_docstrings_and_layout_make_no_stage_stale(house: ModuleType) -> None:
    remarks = [(file, house.remark) for file in (house.PUBLISHED, "tboxes/babi.ttl", house.BABI)]
    assert house.stale(*remarks, (house.JOURNAL, house.docstring), (house.JOURNAL, house.reflow)) == []


def test_a_citation_concerns_scores_tables_and_report_alone(house: ModuleType) -> None:
    found = house.stale((house.PUBLISHED, house.citation))
    assert {"clevrer/scores", "tables/clevrer", "report/html"} <= set(found)
    shown = ("tables/", "report/", "provenance/")
    assert [name for name in found if not name.endswith("/scores") and not name.startswith(shown)] == []


def test_a_rule_of_one_benchmark_concerns_it_and_what_shows_it(house: ModuleType) -> None:
    found = house.stale((house.BABI, house.rule))
    assert set(found) == {"babi/answers", "robustness/babi", "report/html", "provenance/crate"}
