"""The page on merging runs, and prints what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from runnable_pages import Page


def test_the_page_runs_and_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = [(block, output) for block, output in Page("how-to-merge.md").run() if block.expected]
    assert len(outputs) == 4
    for block, output in outputs:
        assert output == block.expected, block.text
