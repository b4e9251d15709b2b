"""The tutorial and the pages on merging and memories run, and print what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from runnable_pages import Page


@pytest.mark.parametrize("name", ["tutorial", "how-to-merge", "how-to-remember"])
def test_the_page_runs_and_prints_the_shown_output(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = [
        (block, output) for block, output in Page(f"{name}.md", exits={"diff": 1}).run() if block.expected
    ]
    assert outputs
    for block, output in outputs:
        assert output == block.expected, block.text
