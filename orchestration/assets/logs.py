"""Event logs: each scene's files as typed deltas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orchestration.clevrer import INDEX, WriteLogs, annotations_of
from orchestration.spark import spark_session, write_lines
from orchestration.stage import stage
from orchestration.workspace import Workspace
from substrate.domains.clevrer.format import annotation_names

CORE = ["substrate/log.py", "substrate/patch.py", "substrate/journal.py", "substrate/replay.py", "substrate/ancestry.py"]


@stage(
    "clevrer/logs",
    outs=["artifacts/{profile}/clevrer/logs"],
    needs=["clevrer/dataset"],
    code=["substrate/domains/clevrer/deltas.py", "substrate/domains/clevrer/format.py", *CORE],
    kinds=["spark", "rdf"],
)
def clevrer_logs(workspace: Workspace, out: Path) -> dict[str, Any]:
    """One event log a scene, as RDF Patch, with an index of digests."""
    annotations = annotations_of(workspace.data / "clevrer")
    names = annotation_names(annotations)
    out.mkdir()
    session = spark_session(workspace.settings.spark)
    work = WriteLogs(annotations, names, workspace.root, out)
    write_lines(session, list(names), work, out / INDEX, stage="clevrer/logs", partitions=workspace.settings.spark.partitions)
    return {"scenes": len(names)}
