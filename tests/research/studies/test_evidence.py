"""Evidence of right answers, near misses and the duality on trial, as a run counts and shows them."""

from __future__ import annotations

from pathlib import Path

from clevrer_scenes import scene_events

from orchestration.project import open_workspace
from orchestration.studies.study import counted
from research.studies.evidence import frames_off
from research.studies.questions import CONFIGURATIONS, OTHERS, OWN, RESPONSIBLE
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.scene import Scene


def test_an_event_is_looked_for_in_another_record_by_looks_and_kind() -> None:
    def film(*hits: tuple[int, int, int]) -> Scene:
        return Scene(events_log(scene_events(("red cube", "blue sphere", "gray cylinder"), hits)))

    seen, true = film((0, 1, 20), (1, 2, 60)), film((0, 1, 23))
    first, second = (event.iri for event in seen.events if event.kind == "Collision")
    assert (frames_off(first, seen, true), frames_off(second, seen, true)) == (3, None)


def test_near_misses_and_trials_are_counted_and_the_report_shows_them(reproduced_beyond: Path) -> None:
    folder = open_workspace("beyond").artifacts
    asked, tried = (counted(folder / f"questions/{part}.jsonl") for part in ("predictive", "duality"))
    kinds = (OWN, *OTHERS.values())
    assert set(asked) == {f"predictive.{name}: {kind}" for name in CONFIGURATIONS for kind in kinds}
    assert set() < set(tried) <= set(RESPONSIBLE.values())
    page = (folder / "report/index.html").read_text("utf-8")
    assert 'id="table-evidence"' in page
    assert 'id="table-questions"' in page
