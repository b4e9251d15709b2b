"""Answers: every question's program run on its scene's log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestration.assets.logs import CORE
from orchestration.clevrer import Answer, questions_of, require_scenes, scenes_of
from orchestration.spark import spark_session, write_lines
from orchestration.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import read_questions


@stage(
    "clevrer/answers",
    outs=["artifacts/{profile}/clevrer/answers.jsonl"],
    needs=["clevrer/dataset", "clevrer/logs"],
    parameters=["clevrer"],
    code=["substrate/domains/clevrer", "substrate/rows.py", *CORE],
    kinds=["spark", "rdf"],
)
def clevrer_answers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """A row a question: predicted, expected, and the log it was computed from."""
    settings = workspace.settings
    logs = workspace.artifacts / "clevrer" / "logs"
    questions = questions_of(workspace.data / "clevrer")
    scenes = require_scenes(read_questions(questions), scenes_of(logs), questions, logs)
    split = "validation" if settings.data.clevrer.source == "official" else "generated"
    write_lines(spark_session(settings.spark), scenes, Answer(logs, questions, settings.clevrer, split), out, stage="clevrer/answers", partitions=settings.spark.partitions)
    return {"scenes": len(scenes)}
