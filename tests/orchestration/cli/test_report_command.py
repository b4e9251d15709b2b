"""`substrate report`: where the report lies."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestration.cli.main import app


@pytest.fixture
def page(make_project: Callable[..., Path]) -> Path:
    """The first page of a report, beside which nothing was made."""
    page = make_project() / "artifacts/sample/report/index.html"
    (page.parent / "numbers").mkdir(parents=True)
    page.write_text("<p>the report", "utf-8")
    (page.parent / "numbers/a.html").write_text("<p>a number", "utf-8")
    return page


def test_it_says_where_the_report_lies(page: Path) -> None:
    assert CliRunner().invoke(app, ["report"]).output == f"{page}\n"
    said = json.loads(CliRunner().invoke(app, ["report", "--json"]).output)
    assert said == {"profile": "sample", "report": str(page)}


def test_what_was_not_made_is_said_with_what_makes_it(page: Path) -> None:
    result = CliRunner().invoke(app, ["report", "--profile", "full"])
    assert result.exit_code == 1
    assert "artifacts/full/report/index.html: the report was not made yet" in result.output
    assert "`substrate reproduce --profile full`" in result.output
