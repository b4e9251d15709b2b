"""The programs in docs/examples run, and print what they say that they print."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import ROOT, python

EXAMPLES = ROOT / "docs" / "examples"


@pytest.mark.parametrize("program", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_prints_what_stands_beside_it(program: str, tmp_path: Path) -> None:
    """Under any hash seed: each run has another."""
    done = python("-W", "error", EXAMPLES / program, cwd=tmp_path, PYTHONHASHSEED="random")
    assert done.stderr == ""
    assert done.stdout == (EXAMPLES / program).with_suffix(".txt").read_text("utf-8")
    assert list(tmp_path.iterdir()) == []
