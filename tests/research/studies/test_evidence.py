"""Evidence of right answers, near misses and the duality on trial, as a run counts and shows them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec

from orchestration.project import open_workspace
from orchestration.rendering.tables import Table
from orchestration.studies.study import counted
from research.studies.evidence import EVIDENCE, PLACES, frames_off
from research.studies.questions import CONFIGURATIONS, OTHERS
from substrate.cause.evidence import RECORDED
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.format import CompactCollision, CompactObject, SceneEvents
from substrate.domains.clevrer.scene import Scene
from substrate.domains.rows import decode


def test_an_event_is_looked_for_in_another_record_by_looks_and_kind() -> None:
    cube, ball, can = (
        CompactObject(color, "metal", shape, number)  # pyright: ignore[reportArgumentType]
        for number, (color, shape) in enumerate([("red", "cube"), ("blue", "sphere"), ("gray", "cylinder")])
    )

    def film(*hits: tuple[int, int, int]) -> Scene:
        met = [CompactCollision((a, b), frame) for a, b, frame in hits]
        return Scene(events_log(SceneEvents(7, 128, [cube, ball, can], [], met)))

    seen, true = film((0, 1, 20), (1, 2, 60)), film((0, 1, 23))
    first, second = (event.iri for event in seen.events if event.kind == "Collision")
    assert (frames_off(first, seen, true), frames_off(second, seen, true)) == (3, None)


def test_each_right_answer_rests_on_one_thing_and_the_table_has_the_counts(reproduced: Path) -> None:
    folder = open_workspace().artifacts
    table = msgspec.json.decode((folder / "evidence/table.json").read_bytes(), type=Table)
    assert {row[0] for row in table.rows} == {part.base.title for part in EVIDENCE.parts}
    pools: dict[tuple[str, str], set[str]] = {}
    sums: Counter[tuple[str, str]] = Counter()
    for title, setting, on, many, pool, *_ in table.rows:
        assert on in PLACES
        sums[title, setting] += int(many.replace(",", ""))
        pools.setdefault((title, setting), set()).add(pool)
    assert {key: {f"{n:,}"} for key, n in sums.items()} == pools
    babi = counted(folder / "evidence/babi.jsonl")
    assert set(babi) == {f"all tasks: {RECORDED}"}
    right = {
        row.question
        for row in map(decode, (folder / "clevrer/answers.jsonl").read_bytes().splitlines())
        if row.subset == "descriptive" and row.correct
    }
    assert right


def test_near_misses_and_trials_are_counted_and_the_report_shows_them(reproduced: Path) -> None:
    folder = open_workspace().artifacts
    counts = counted(folder / "questions/predictive.jsonl")
    for name in CONFIGURATIONS:
        kinds = {subset.partition(": ")[2] for subset in counts if subset.startswith(f"predictive.{name}: ")}
        assert len(kinds) in (0, len(OTHERS), len(OTHERS) + 1)
    page = (folder / "report/index.html").read_text("utf-8")
    assert 'id="table-evidence"' in page
    assert 'id="table-questions"' in page
