"""The programs in docs/examples run, and print the text that lies beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import ROOT, python

EXAMPLES = ROOT / "docs" / "examples"


@pytest.mark.parametrize("program", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_prints_the_text_beside_it(program: str, tmp_path: Path) -> None:
    """The hash seed of each run is random, so no output may depend on it."""
    done = python("-W", "error", EXAMPLES / program, cwd=tmp_path, PYTHONHASHSEED="random")
    assert done.stderr == ""
    assert done.stdout == (EXAMPLES / program).with_suffix(".txt").read_text("utf-8")
    assert list(tmp_path.iterdir()) == []
