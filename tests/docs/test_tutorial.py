"""The tutorial's blocks run, and print what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest
from runnable_pages import Page

TUTORIAL = Page("tutorial.md", exits={"diff": 1})


def test_the_tutorial_runs_and_prints_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block, output in TUTORIAL.run():
        if block.expected is not None:
            assert output == block.expected, block.text
