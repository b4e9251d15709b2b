"""The page on memories runs, and prints what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from runnable_pages import Page


def test_the_page_runs_and_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block, output in Page("how-to-remember.md").run():
        if block.expected is not None:
            assert output == block.expected, block.text
