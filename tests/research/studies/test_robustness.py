"""Robustness: the same questions on input that is made inexact, its rows, table and figures."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
import pytest

from orchestration.benchmarks.benchmark import Case
from orchestration.benchmarks.clevrer import EVENTS
from orchestration.project import open_workspace
from orchestration.rendering.shares import figures_of
from orchestration.studies.study import counted, named
from orchestration.workspace.named import files_of
from research.generators.altered import altered
from research.generators.inexact_films import blurred, noisy, without_collisions
from research.studies.reliability import Chance, Reliability
from research.studies.robustness import AS_IT_IS, EVERYTHING, ROBUSTNESS
from substrate.domains.rows import encode
from substrate.generators.clevrer import generate_annotation, generate_scene

SEED = 20
PARTS = {part.name: part for part in ROBUSTNESS.parts}


@pytest.mark.parametrize("name", PARTS)
def test_every_question_is_asked_under_every_condition_and_only_the_first_is_as_the_benchmark_answers(
    name: str, reproduced: Path
) -> None:
    workspace = open_workspace()
    tallies = counted(workspace.path(f"artifacts/{{profile}}/robustness/{name}.jsonl"))
    part = PARTS[name]
    first = getattr(workspace.settings.of("robustness"), name)
    source = part.base.source
    cases = source.cases(files_of(workspace, source), None, True)
    chosen = [case for case, _ in zip(cases.each, range(first), strict=False)]
    counts = {subset: count.total() for subset, count in tallies.items()}
    assert counts
    wanted = part.wanted(chosen)
    assert part.missing(wanted, counts) == []
    exact = next(subset for subset in counts if subset.endswith(AS_IT_IS))
    assert len(part.missing(wanted, counts | {exact: counts[exact] - 1})) == 1
    assert part.missing(wanted, {})


def test_the_table_has_what_the_rows_count_and_the_figures_are_the_same_twice(reproduced: Path) -> None:
    workspace = open_workspace()
    artifacts = workspace.artifacts
    with (artifacts / "robustness/table.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        counts = counted(artifacts / "robustness" / f"{line['benchmark']}.jsonl")
        count = counts[f"{line['asked']}: {line['input']}"]
        assert (int(line["n"]), int(line["correct"])) == (count.total(), count[True])
        assert float(line["low"]) <= float(line["accuracy"]) <= float(line["high"])
    assert {line["benchmark"] for line in lines} == set(PARTS)
    figures = figures_of(ROBUSTNESS, workspace)
    assert [title for title, _ in figures] == [part.base.title for part in PARTS.values()]
    assert figures == figures_of(ROBUSTNESS, workspace)
    for name in PARTS:
        assert (artifacts / "robustness" / f"{name}.svg").read_text("utf-8").startswith("<?xml")


def test_probabilities_are_counted_into_bins_and_the_report_shows_both(reproduced: Path) -> None:
    folder = open_workspace().artifacts
    lines = (folder / "reliability/clevrer.jsonl").read_bytes().splitlines()
    chances = [msgspec.json.decode(line, type=Chance) for line in lines]
    bins = msgspec.json.decode((folder / "reliability/bins.json").read_bytes(), type=list[Reliability])
    assert sum(curve.n for curve in bins) == len(chances) > 0
    for curve in bins:
        here = [chance for chance in chances if chance.subset == curve.subset]
        assert (curve.n, sum(bar.right for bar in curve.bins)) == (len(here), sum(c.correct for c in here))
        assert sum(bar.n for bar in curve.bins) == curve.n
    page = (folder / "report/index.html").read_text("utf-8")
    assert 'id="reliability-of-clevrer"' in page
    assert 'id="reliability-of-perceived"' in page
    assert all(f"{part.base.title}. Bars are Wilson" in page for part in PARTS.values())


def test_what_is_changed_comes_from_the_seed_alone(reproduced: Path) -> None:
    workspace = open_workspace()
    base = PARTS["gqa"].base
    case = next(base.source.cases(files_of(workspace, base.source), None, True).each)
    once, again, other = (
        [encode(row) for row in PARTS["gqa"].rows(seed, case, [], None, "generated")] for seed in (1, 1, 2)
    )
    assert once == again
    assert once != other


def test_as_it_is_means_what_the_benchmark_answers(reproduced: Path) -> None:
    workspace = open_workspace()
    base = PARTS["babi"].base
    case = next(base.source.cases(files_of(workspace, base.source), None, True).each)
    told = [
        row.predicted for row in base.rows(case, [entry.log for entry in base.logs(case, None)], None, "")
    ]
    subset = named(EVERYTHING, AS_IT_IS)
    again = [row.predicted for row in PARTS["babi"].rows(SEED, case, [], None, "") if row.subset == subset]
    assert Counter(told) == Counter(again)


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


def test_event_lists_have_no_motion_to_make_inexact_and_no_rows_are_missed() -> None:
    events = Case(1, "events.jsonl:1", b"{}", b'{"questions": []}', EVENTS)
    part = PARTS["clevrer"]
    assert list(part.rows(SEED, events, [], None, "generated")) == []
    assert part.missing(part.wanted([events]), {}) == []
