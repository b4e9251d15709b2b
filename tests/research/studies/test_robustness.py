"""Robustness: the same questions on inexact input have a row each, and each change does what it says."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from orchestration.benchmarks.benchmark import Case
from orchestration.benchmarks.clevrer import EVENTS
from orchestration.project import open_workspace
from orchestration.studies.study import counted, totals
from orchestration.workspace.dataset_files import files_of
from research.generators.altered import altered
from research.generators.inexact_films import blurred, noisy, without_collisions
from research.studies.conditions import AS_IT_IS
from research.studies.evidence import EVIDENCE
from research.studies.questions import QUESTIONS
from research.studies.robustness import ROBUSTNESS
from substrate.generators.clevrer import generate_annotation, generate_scene

SEED = 20
LISTED = Case(1, "events.jsonl:1", b"{}", b'{"questions": []}', EVENTS)
PARTS = {part.name: part for part in ROBUSTNESS.parts}


@pytest.mark.parametrize("name", PARTS)
def test_every_question_has_a_row_under_every_condition_and_a_missing_row_is_noticed(
    name: str, reproduced_beyond: Path
) -> None:
    workspace = open_workspace("beyond")
    counts = totals(counted(workspace.path(f"artifacts/{{profile}}/robustness/{name}.jsonl")))
    assert counts
    part = PARTS[name]
    first = getattr(ROBUSTNESS.parameters.of(workspace.settings), name)
    cases = part.base.source.cases(files_of(workspace, part.base.source), None, True)
    chosen = [case for case, _ in zip(cases.each, range(first), strict=False)]
    assert part.faults(chosen, counts) == []
    exact = next(subset for subset in counts if subset.endswith(AS_IT_IS.label))
    assert len(part.faults(chosen, counts | {exact: counts[exact] - 1})) == 1
    assert part.faults(chosen, {})


def test_each_change_does_what_it_says() -> None:
    film = generate_scene(10_000, SEED).annotation
    assert film.collision
    assert without_collisions(film, 1.0, Random(1)).collision == []
    assert without_collisions(film, 0.0, Random(1)) == film
    late = blurred(film, 3, Random(1))
    moved = {c.object_ids: c.frame_id for c in late.collision}
    assert all(abs(moved[c.object_ids] - c.frame_id) <= 3 for c in film.collision)
    place, true = (
        version.motion_trajectory[50].objects[0].location for version in (noisy(film, 0.01, Random(1)), film)
    )
    assert 0 < max(abs(a - b) for a, b in zip(place, true, strict=True)) < 0.06


def test_altered_physics_end_with_their_block_and_move_bodies_otherwise() -> None:
    plain = generate_annotation(10_000, SEED)
    with altered(friction=1.25, restitution=1.2):
        changed = generate_annotation(10_000, SEED)
    assert changed != plain
    assert generate_annotation(10_000, SEED) == plain


def test_event_lists_have_no_motion_and_no_rows_and_only_a_study_that_is_never_empty_misses_them() -> None:
    assert list(PARTS["clevrer"].rows(SEED, LISTED, [], None, "generated")) == []
    parts = (PARTS["clevrer"], QUESTIONS.parts[0], EVIDENCE.parts[0])
    assert [len(part.faults([LISTED], {})) for part in parts] == [0, 0, 1]
