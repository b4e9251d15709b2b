"""An intervention is declared once: page, tool and twins have the same five."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from substrate.branch.interventions import INTERVENTIONS
from substrate.domains.smallville.format import InterventionType

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "branches.md"


def test_the_page_has_each_as_it_is_declared() -> None:
    rows = [
        f"| `{kind.__name__}` | `{kind.example}` | {kind.takes} | {kind.about} |"
        for kind in INTERVENTIONS.values()
    ]
    assert [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")] == rows


def test_twins_have_the_same() -> None:
    assert list(INTERVENTIONS) == [*get_args(InterventionType)]


def test_the_tool_of_a_memory_has_the_same() -> None:
    pytest.importorskip("mcp")
    from substrate.adapters.memory_tools import Tool, what_if

    assert Tool(what_if).schema()["properties"]["change"]["enum"] == sorted(INTERVENTIONS)
