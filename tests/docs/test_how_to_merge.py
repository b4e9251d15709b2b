"""The page on merging runs, and prints what it says."""

from __future__ import annotations

from runnable_pages import Page


def test_the_page_runs_and_prints_what_it_says() -> None:
    outputs = [(block, output) for block, output in Page("how-to-merge.md").run() if block.expected]
    assert len(outputs) == 3
    for block, output in outputs:
        assert output == block.expected, block.text
