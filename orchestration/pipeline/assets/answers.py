"""Answers: every question run on its scene's log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.benchmarks import babi, clevrer, comphy, gqa, twin
from orchestration.pipeline.assets.logs import CORE, TWIN
from orchestration.pipeline.spark import spark_session, write_lines
from orchestration.pipeline.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import read_questions
from substrate.domains.comphy.format import read_questions as read_comphy_questions
from substrate.domains.gqa.format import read_questions as read_gqa_questions
from substrate.domains.gqa.format import read_scene_graphs, require_scenes

FORK = ["substrate/fork.py", "substrate/interventions.py"]


@stage(
    "clevrer/answers",
    outs=["artifacts/{profile}/clevrer/answers.jsonl"],
    needs=["clevrer/dataset", "clevrer/logs"],
    parameters=["clevrer"],
    code=[
        "orchestration/benchmarks/clevrer.py",
        "substrate/domains/clevrer",
        "substrate/rows.py",
        *FORK,
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def clevrer_answers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """A row a question: predicted, expected, and the log it was computed from."""
    logs, questions = (
        workspace.artifacts / "clevrer" / "logs",
        clevrer.questions_of(workspace.data / "clevrer"),
    )
    scenes = clevrer.require_scenes(read_questions(questions), clevrer.scenes_of(logs), questions, logs)
    split = split_of(workspace.settings.data.clevrer.source, "validation")
    return write_answers(
        workspace,
        "clevrer/answers",
        scenes,
        clevrer.Answer(logs, questions, workspace.settings.clevrer, split),
        out,
    )


@stage(
    "babi/answers",
    outs=["artifacts/{profile}/babi/answers.jsonl"],
    needs=["babi/dataset", "babi/logs"],
    code=[
        "orchestration/benchmarks/babi.py",
        "substrate/domains/babi",
        "substrate/rows.py",
        "substrate/tboxes/babi.ttl",
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def babi_answers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """A row a question, with the facts that its answer rests on."""
    logs, tasks = workspace.artifacts / "babi" / "logs", workspace.data / "babi"
    split = split_of(workspace.settings.data.babi.source, "test")
    return write_answers(
        workspace, "babi/answers", babi.scene_numbers(tasks), babi.Answer(logs, tasks, split), out
    )


@stage(
    "gqa/answers",
    outs=["artifacts/{profile}/gqa/answers.jsonl"],
    needs=["gqa/dataset", "gqa/logs"],
    code=[
        "orchestration/benchmarks/gqa.py",
        "substrate/domains/gqa",
        "substrate/rows.py",
        "substrate/tboxes/gqa.ttl",
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def gqa_answers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Two rows a question: objects resolved by name, and by the ids the program carries."""
    logs, questions = workspace.artifacts / "gqa" / "logs", gqa.questions_of(workspace.data / "gqa")
    asked = read_gqa_questions(questions)
    require_scenes(asked, read_scene_graphs(gqa.scene_graphs_of(workspace.data / "gqa")))
    split = split_of(workspace.settings.data.gqa.source, "validation")
    return write_answers(workspace, "gqa/answers", list(asked), gqa.Answer(logs, questions, split), out)


@stage(
    "clevrer_humans/answers",
    outs=["artifacts/{profile}/clevrer_humans/answers.jsonl"],
    needs=["clevrer_humans/dataset", "clevrer_humans/logs"],
    parameters=["clevrer"],
    code=[
        "orchestration/benchmarks/clevrer.py",
        "substrate/domains/clevrer",
        "substrate/rows.py",
        *FORK,
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def clevrer_humans_answers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """A row a human causal question, its wording resolved to events."""
    logs, questions = (
        workspace.artifacts / "clevrer_humans" / "logs",
        workspace.data / "clevrer_humans" / "questions",
    )
    return write_answers(
        workspace,
        "clevrer_humans/answers",
        clevrer.scenes_of(logs),
        clevrer.AnswerHumans(logs, questions, workspace.settings.clevrer, "train"),
        out,
    )


@stage(
    "twin/answers",
    outs=["artifacts/{profile}/twin/answers.jsonl"],
    needs=["twin/dataset", "twin/logs"],
    code=[*TWIN, "substrate/rows.py", *CORE],
    kinds=["spark", "rdf"],
)
def twin_answers(workspace: Workspace, out: Path) -> dict[str, Any]:
    """A row an arm: the specification's question on each of its two logs."""
    specs = twin.specs_of(workspace.data / "twin")
    return write_answers(
        workspace,
        "twin/answers",
        twin.spec_numbers(specs),
        twin.Answer(workspace.artifacts / "twin" / "logs", specs),
        out,
    )


def _comphy_answers(benchmark: str, description: str) -> dg.AssetsDefinition:
    def answers(workspace: Workspace, out: Path) -> dict[str, Any]:
        logs, questions = (
            workspace.artifacts / benchmark / "logs",
            comphy.questions_of(workspace.data / "comphy"),
        )
        asked = read_comphy_questions(questions) if questions.exists() else {}
        targets = clevrer.require_scenes(asked, clevrer.scenes_of(logs), questions, logs)
        return write_answers(
            workspace,
            f"{benchmark}/answers",
            targets,
            comphy.Answer(logs, questions, getattr(workspace.settings, benchmark), benchmark, "generated"),
            out,
        )

    answers.__doc__ = description
    declare = stage(
        f"{benchmark}/answers",
        outs=[f"artifacts/{{profile}}/{benchmark}/answers.jsonl"],
        needs=["comphy/dataset", f"{benchmark}/logs"],
        parameters=[benchmark],
        code=[
            "orchestration/benchmarks/comphy.py",
            "orchestration/benchmarks/clevrer.py",
            "substrate/domains/comphy",
            "substrate/domains/clevrer",
            "substrate/rows.py",
            *FORK,
            *CORE,
        ],
        kinds=["spark", "rdf"],
    )
    return declare(answers)


comphy_answers = _comphy_answers(
    "comphy", "A row a question in the paper's setting: no hidden property is known."
)
comphy_inferred_answers = _comphy_answers(
    "comphy_inferred", "A row a question with mass and charge inferred and motion simulated."
)


def split_of(source: str, official: str) -> str:
    """The split that rows name: the official one, or that the data are generated."""
    return official if source == "official" else "generated"


def write_answers(workspace: Workspace, name: str, keys: list[Any], work: Any, out: Path) -> dict[str, Any]:
    """Run a benchmark's work over its scenes on Spark, and write the rows it gives."""
    settings = workspace.settings.spark
    write_lines(spark_session(settings), keys, work, out, stage=name, partitions=settings.partitions)
    return {"scenes": len(keys)}
