"""Event logs: each scene, story or image as typed deltas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.benchmarks import babi, clevrer, comphy, gqa, twin
from orchestration.pipeline.assets.datasets import HUMANS
from orchestration.pipeline.logs import INDEX
from orchestration.pipeline.spark import spark_session, write_lines
from orchestration.pipeline.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import annotation_names, read_scene_events
from substrate.domains.clevrer.humans import read_human_questions
from substrate.domains.comphy.format import target_names
from substrate.domains.gqa.format import read_scene_graphs

CORE = [
    *(f"substrate/{name}.py" for name in ("chain", "log", "patch", "journal", "replay", "ancestry")),
    *(f"orchestration/pipeline/{name}.py" for name in ("logs", "spark")),
]


@stage(
    "clevrer/logs",
    outs=["artifacts/{profile}/clevrer/logs"],
    needs=["clevrer/dataset"],
    code=[
        "orchestration/benchmarks/clevrer.py",
        "substrate/domains/clevrer/deltas.py",
        "substrate/domains/clevrer/format.py",
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def clevrer_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """One event log a scene, as RDF Patch, with an index of digests."""
    annotations = clevrer.annotations_of(workspace.data / "clevrer")
    names = annotation_names(annotations)
    return _write(
        workspace,
        "clevrer/logs",
        list(names),
        clevrer.WriteLogs(annotations, names, workspace.root, out),
        out,
    )


@stage(
    "babi/logs",
    outs=["artifacts/{profile}/babi/logs"],
    needs=["babi/dataset"],
    code=[
        "orchestration/benchmarks/babi.py",
        "substrate/domains/babi/deltas.py",
        "substrate/domains/babi/grammar.py",
        "substrate/domains/babi/format.py",
        "substrate/tboxes/babi.ttl",
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def babi_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """One event log a story, a tick a sentence, with an index of digests."""
    tasks = workspace.data / "babi"
    return _write(workspace, "babi/logs", babi.scene_numbers(tasks), babi.WriteLogs(tasks, out), out)


@stage(
    "gqa/logs",
    outs=["artifacts/{profile}/gqa/logs"],
    needs=["gqa/dataset"],
    code=[
        "orchestration/benchmarks/gqa.py",
        "substrate/domains/gqa/deltas.py",
        "substrate/domains/gqa/format.py",
        "substrate/domains/gqa/ontology.py",
        "substrate/tboxes/gqa.ttl",
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def gqa_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """One event log an image: what is annotated, and what the TBox entails; with an index of digests."""
    graphs = gqa.scene_graphs_of(workspace.data / "gqa")
    return _write(workspace, "gqa/logs", sorted(read_scene_graphs(graphs)), gqa.WriteLogs(graphs, out), out)


@stage(
    "clevrer_humans/logs",
    outs=["artifacts/{profile}/clevrer_humans/logs"],
    needs=["clevrer_humans/dataset"],
    code=[
        "orchestration/benchmarks/clevrer.py",
        "substrate/domains/clevrer/deltas.py",
        "substrate/domains/clevrer/format.py",
        *CORE,
    ],
    kinds=["spark", "rdf"],
)
def clevrer_humans_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """One event log for each scene that people were asked about."""
    events, questions = (workspace.data / "clevrer_humans" / name for name in HUMANS)
    scenes = (
        clevrer.require_scenes(read_human_questions(questions), read_scene_events(events), questions, events)
        if questions.exists()
        else []
    )
    return _write(workspace, "clevrer_humans/logs", scenes, clevrer.WriteEventLogs(events, out), out)


TWIN = [
    "orchestration/benchmarks/twin.py",
    "substrate/domains/smallville/format.py",
    "substrate/domains/smallville/twin.py",
    "substrate/fork.py",
    "substrate/interventions.py",
    "substrate/rules.py",
    "substrate/tbox.py",
    "substrate/tboxes/village.ttl",
]


@stage(
    "twin/logs",
    outs=["artifacts/{profile}/twin/logs"],
    needs=["twin/dataset"],
    code=[*TWIN, *CORE],
    kinds=["spark", "rdf"],
)
def twin_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Two event logs a specification, its village forked at the branch tick without and with the
    intervention; with an index of digests.
    """
    specs = twin.specs_of(workspace.data / "twin")
    return _write(workspace, "twin/logs", twin.spec_numbers(specs), twin.WriteLogs(specs, out), out)


def _comphy_logs(benchmark: str, description: str) -> dg.AssetsDefinition:
    def logs(workspace: Workspace, out: Path) -> dict[str, Any]:
        annotations = workspace.data / "comphy" / "annotation"
        names = target_names(annotations) if annotations.exists() else {}
        infer = getattr(workspace.settings, benchmark).infer_properties
        return _write(
            workspace,
            f"{benchmark}/logs",
            list(names),
            comphy.WriteLogs(annotations, names, workspace.root, infer, out),
            out,
        )

    logs.__doc__ = description
    declare = stage(
        f"{benchmark}/logs",
        outs=[f"artifacts/{{profile}}/{benchmark}/logs"],
        needs=["comphy/dataset"],
        parameters=[f"{benchmark}.infer_properties"],
        code=[
            "orchestration/benchmarks/comphy.py",
            "orchestration/benchmarks/clevrer.py",
            "substrate/domains/comphy",
            "substrate/domains/clevrer/deltas.py",
            "substrate/domains/clevrer/format.py",
            *CORE,
        ],
        kinds=["spark", "rdf"],
    )
    return declare(logs)


comphy_logs = _comphy_logs("comphy", "One event log a target, nothing hidden in it.")
comphy_inferred_logs = _comphy_logs(
    "comphy_inferred", "One event log a target, with mass and charge as the reference videos show them."
)


def _write(workspace: Workspace, name: str, keys: list[Any], work: Any, out: Path) -> dict[str, Any]:
    out.mkdir()
    settings = workspace.settings.spark
    write_lines(spark_session(settings), keys, work, out / INDEX, stage=name, partitions=settings.partitions)
    return {"logs": len((out / INDEX).read_bytes().splitlines())}
