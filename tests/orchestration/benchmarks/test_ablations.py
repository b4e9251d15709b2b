"""Ablations: the same questions with one thing changed, and the same bytes however they are computed."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from orchestration.pipeline import study_stages
from orchestration.project import open_workspace
from orchestration.studies.ablations import CURVES, VARIANTS
from substrate.domains.rows import Row, decode


def rows_of(path: Path) -> list[Row]:
    return [decode(line) for line in path.read_bytes().splitlines()]


def test_each_variant_answers_the_questions_of_its_subset_and_the_papers_one_as_the_benchmark_does(
    unchanged_project: Path,
) -> None:
    ablated = unchanged_project / "artifacts" / "sample"
    benchmark = {(row.scene, row.question): row for row in rows_of(ablated / "clevrer/answers.jsonl")}
    variants: dict[str, dict[tuple[int | str, int | str], Row]] = defaultdict(dict)
    rows = rows_of(ablated / "ablations/answers.jsonl")
    assert [(row.scene, row.question) for row in rows] == sorted((row.scene, row.question) for row in rows)
    for row in rows:
        variants[row.subset][row.scene, row.question] = row
    counts = Counter(row.subset for row in benchmark.values())
    assert {name: len(of_variant) for name, of_variant in variants.items()} == {
        variant.name: counts[variant.subset] for variant in VARIANTS
    }
    for name in ("explanatory.event", "counterfactual.partner", "predictive.C"):
        assert all(
            (row.predicted, row.log) == (benchmark[key].predicted, benchmark[key].log)
            for key, row in variants[name].items()
        )
    told = {
        name: [row.predicted for _, row in sorted(of_variant.items())]
        for name, of_variant in variants.items()
    }
    assert any(
        told[variant.name] != told[other.name]
        for variant in VARIANTS
        for other in VARIANTS
        if variant.subset == other.subset
    )
    table = (ablated / "tables/ablations.md").read_text("utf-8")
    assert sum(line.startswith("| ") for line in table.splitlines()) == 1 + len(VARIANTS)
    assert "have 1 distinct hash." in table
    rows = rows_of(ablated / "ablations/curves.jsonl")
    drawn = json.loads((ablated / "ablations/curves.json").read_bytes())
    assert [len(curve["series"]) for curve in drawn] == [len(curve.values) for curve in CURVES]
    tau_04 = next(point for point in drawn[0]["series"][1]["points"] if point[0] == 0.4)
    of_point = [row for row in rows if row.subset == "predictive.tau=0.4,horizon=300"]
    assert tau_04 == [0.4, sum(bool(row.correct) for row in of_point), len(of_point)]
    assert len({curve["name"] for curve in drawn}) == len(drawn)
    as_a = {row.question: row.predicted for row in rows if row.subset == "predictive.A,tau=0.4,horizon=300"}
    assert as_a == {row.question: row.predicted for row in variants["predictive.A"].values()}


def test_answers_that_depend_on_how_they_are_computed_would_show(
    reproduced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len({run.sha256 for run in study_stages.repetitions(open_workspace())}) == 1
    # Rows that depend on the number of tasks, as an unsorted set in a worker would make them.
    answer = study_stages.answer_cases

    def unsorted(*given: Any, tasks: int, **more: Any) -> None:
        answer(*given, tasks=tasks, **more)
        with given[3].open("a") as out:
            out.write(str(tasks))

    monkeypatch.setattr(study_stages, "answer_cases", unsorted)
    assert len({run.sha256 for run in study_stages.repetitions(open_workspace())}) == 3
