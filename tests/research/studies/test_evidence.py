"""Evidence of right answers, near misses and the duality on trial, as a run counts and shows them."""

from __future__ import annotations

from pathlib import Path

from orchestration.project import open_workspace
from orchestration.studies.study import counted
from research.studies.questions import CONFIGURATIONS, OTHERS


def test_near_misses_and_trials_are_counted_and_the_report_shows_them(reproduced: Path) -> None:
    folder = open_workspace().artifacts
    counts = counted(folder / "questions/predictive.jsonl")
    for name in CONFIGURATIONS:
        kinds = {subset.partition(": ")[2] for subset in counts if subset.startswith(f"predictive.{name}: ")}
        assert len(kinds) in (0, len(OTHERS), len(OTHERS) + 1)
    page = (folder / "report/index.html").read_text("utf-8")
    assert 'id="table-evidence"' in page
    assert 'id="table-questions"' in page
