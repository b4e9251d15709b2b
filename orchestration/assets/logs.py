"""Event logs: each scene, story or image as typed deltas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestration import babi, clevrer, gqa
from orchestration.logs import INDEX
from orchestration.spark import spark_session, write_lines
from orchestration.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import annotation_names
from substrate.domains.gqa.format import read_scene_graphs

CORE = ["substrate/chain.py", "substrate/log.py", "substrate/patch.py", "substrate/journal.py", "substrate/replay.py", "substrate/ancestry.py"]


@stage(
    "clevrer/logs",
    outs=["artifacts/{profile}/clevrer/logs"],
    needs=["clevrer/dataset"],
    code=["substrate/domains/clevrer/deltas.py", "substrate/domains/clevrer/format.py", *CORE],
    kinds=["spark", "rdf"],
)
def clevrer_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """One event log a scene, as RDF Patch, with an index of digests."""
    annotations = clevrer.annotations_of(workspace.data / "clevrer")
    names = annotation_names(annotations)
    return _write(workspace, "clevrer/logs", list(names), clevrer.WriteLogs(annotations, names, workspace.root, out), out)


@stage(
    "babi/logs",
    outs=["artifacts/{profile}/babi/logs"],
    needs=["babi/dataset"],
    code=["substrate/domains/babi/deltas.py", "substrate/domains/babi/grammar.py", "substrate/domains/babi/format.py", "tboxes/babi.ttl", *CORE],
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
    code=["substrate/domains/gqa/deltas.py", "substrate/domains/gqa/format.py", "substrate/domains/gqa/ontology.py", "tboxes/gqa.ttl", *CORE],
    kinds=["spark", "rdf"],
)
def gqa_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """One event log an image: what is annotated, and what the TBox entails; with an index of digests."""
    graphs = gqa.scene_graphs_of(workspace.data / "gqa")
    return _write(workspace, "gqa/logs", sorted(read_scene_graphs(graphs)), gqa.WriteLogs(graphs, out), out)


def _write(workspace: Workspace, name: str, keys: list[Any], work: Any, out: Path) -> dict[str, Any]:
    out.mkdir()
    settings = workspace.settings.spark
    write_lines(spark_session(settings), keys, work, out / INDEX, stage=name, partitions=settings.partitions)
    return {"logs": len((out / INDEX).read_bytes().splitlines())}
