"""The stages of studies: rows under every condition, and the tables and figures of these rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from orchestration.spark.answers import Condition, answer_cases
from orchestration.spark.cases import cases_of
from orchestration.stage import Stage
from orchestration.studies import determinism
from orchestration.studies.determinism import Repetition
from orchestration.studies.study import Part, Study, counted, totals
from orchestration.workspace.dataset_files import files_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import read_cases
from substrate.base.files import sha256, write_json


def study_stages(study: Study) -> Iterator[Stage]:
    """Make a stage for each part of a study."""
    for part in study.parts:
        base, drawing = part.base, (study.draw,) if study.draw else ()
        yield Stage(
            f"{study.name}/{part.name}",
            (study.rows_file(part), *part.shown),
            partial(make_rows, study, part),
            part.about,
            needs=(f"{base.source.name}/dataset", f"{base.logger.name}/logs"),
            parameters=study.keys(part),
            functions=(base.source.cases, base.logger.logs, part.rows, *part.calls, *drawing),
            kinds=("spark", "rdf"),
        )


def first_cases(study: Study, part: Part, workspace: Workspace) -> int | None:
    """The number of cases that a part asks, in their order; ``None`` for all."""
    return getattr(study.parameters.of(workspace.settings), part.size_key) if part.size_key else None


def make_rows(study: Study, part: Part, workspace: Workspace, out: Path, *figures: Path) -> dict[str, Any]:
    """Ask a benchmark under every condition, and draw the figures of the rows."""
    stage, first = f"{study.name}/{part.name}", first_cases(study, part, workspace)
    rows = partial(part.rows, workspace.settings.seed) if part.seeded else part.rows
    answer_cases(workspace, part.base, stage, out, Condition(rows, first=first))
    metadata = {"rows": sum(totals(counted(out)).values())}
    return metadata | (study.draw(out, *figures) if study.draw else {})


def determinism_stage() -> Stage:
    """Make the stage that computes the same answers in several ways."""
    base = determinism.BASE
    return Stage(
        "ablations/determinism",
        ("artifacts/{profile}/ablations/determinism.json",),
        make_determinism,
        "The same answers, computed in two numbers of partitions and under two hash seeds, with the hashes.",
        needs=(f"{base.source.name}/dataset", f"{base.logger.name}/logs"),
        parameters=base.keys,
        functions=(base.source.cases, base.logger.logs, base.rows, determinism.main),
        kinds=("spark", "rdf"),
    )


def make_determinism(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Compute the same answers in every way, and write the hashes side by side."""
    runs = list(repetitions(workspace)) if files_of(workspace, determinism.BASE.source) else []
    write_json(out, runs, indent=1)
    return {"distinct hashes": len({run.sha256 for run in runs})}


def repetitions(workspace: Workspace) -> Iterator[Repetition]:
    """Two runs of Spark, two numbers of partitions, and two interpreters with different hash seeds."""
    base, stage, first = determinism.BASE, "ablations/determinism", determinism.SCENES
    with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
        out = Path(folder) / "answers.jsonl"
        for how, tasks in determinism.WAYS.items():
            condition = Condition(split=determinism.SPLIT, tasks=tasks, first=first)
            answer_cases(workspace, base, stage, out, condition)
            yield Repetition(how, len(out.read_bytes().splitlines()), sha256(out))
    cases = read_cases(workspace.storage, cases_of(workspace, base.source, stage))
    logs = workspace.logs(base.logger.name)
    scenes = [(case, logs.patch(f"{case.scene:05d}")) for case in islice(cases, first)]
    yield from determinism.in_processes(base.parameters.of(workspace.settings), scenes)
