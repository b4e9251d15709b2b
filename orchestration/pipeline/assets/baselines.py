"""Language-model baselines: a transcript of what a model was asked, and the rows that replaying it gives."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.benchmarks.answer import write_rows
from orchestration.benchmarks.baselines import KINDS, Inputs, pictures_in, pictures_of, record, replay
from orchestration.models.client import URL, endpoint
from orchestration.models.transcript import TranscriptError, read_transcript, write_transcript
from orchestration.pipeline.assets.logs import CORE
from orchestration.pipeline.progress import advance
from orchestration.pipeline.stage import stage
from orchestration.workspace import Workspace

TRANSCRIPT = "transcript.jsonl"
CODE = (
    "substrate/baselines",
    "substrate/rows.py",
    "orchestration/benchmarks/baselines.py",
    "orchestration/models/transcript.py",
)


def _inputs(workspace: Workspace) -> Inputs:
    folder = workspace.settings.baselines.images
    return Inputs(
        workspace.data,
        workspace.artifacts,
        workspace.settings,
        pictures_in(workspace.root / folder) if folder else pictures_of({}),
    )


def _dataset(name: str) -> dg.AssetsDefinition:
    kind = KINDS[name]

    def dataset(workspace: Workspace, out: Path) -> dict[str, Any]:
        out.mkdir()
        kept = workspace.root / "transcripts" / workspace.settings.profile / f"{name}.jsonl"
        server, inputs, asked = endpoint(), _inputs(workspace), 0
        blind = kind.pictures and not workspace.settings.baselines.images
        if server and not blind:
            asked = record(name, server, kept, inputs, watch=partial(advance, f"{name}/dataset"))
        records = read_transcript(kept)
        if not records:
            lacks = "baselines.images names no folder of photographs" if blind else f"{URL} is not set"
            return {"not measured": f"{lacks}, and no transcript of an earlier run is here"}
        try:
            rows = replay(name, records, inputs)
        except TranscriptError as error:
            return {"not measured": f"the transcript is of other questions, or of another model: {error}"}
        write_transcript(out / TRANSCRIPT, records)
        return {"questions": len(rows), "requests": len(records), "asked now": asked}

    dataset.__doc__ = f"What the model of {name} was asked and said: from the endpoint, or from the transcript of an earlier run; an empty folder without either."
    return stage(
        f"{name}/dataset",
        outs=[f"data/{{profile}}/{name}"],
        needs=kind.needs,
        parameters=[f"baselines.{name}"],
        code=[*CODE, *kind.code],
        kinds=["llm"],
        pinned_by="data.dvc",
        always=True,
    )(dataset)


def _answers(name: str) -> dg.AssetsDefinition:
    kind = KINDS[name]

    def answers(workspace: Workspace, out: Path) -> dict[str, Any]:
        records = read_transcript(workspace.data / name / TRANSCRIPT)
        if not records:
            out.touch()
            return {"not measured": "no transcript"}
        tally = write_rows(
            replay(name, records, _inputs(workspace), partial(advance, f"{name}/answers")), out
        )
        return {"rows": tally.questions, "unreadable replies": tally.errors}

    answers.__doc__ = (
        f"A row a question of {name}, replayed from its transcript; empty where nothing was measured."
    )
    return stage(
        f"{name}/answers",
        outs=[f"artifacts/{{profile}}/{name}/answers.jsonl"],
        needs=[f"{name}/dataset", *kind.needs],
        parameters=[f"baselines.{name}"],
        code=[*CODE, *kind.code, *CORE],
    )(answers)


BASELINES = [declare(name) for name in KINDS for declare in (_dataset, _answers)]
"""The assets of every baseline."""
