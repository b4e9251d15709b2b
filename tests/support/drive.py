"""A driver: makes some benchmarks' data, logs, answers and scores in the project around the current folder.

    python drive.py [KEY=VALUE …] [slowly] BENCHMARK …

What is in the project already is taken as it is. With `slowly` each shard but the first waits a while, so
that there is a middle of a stage. A process of its own, since one process has one Spark.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from orchestration.pipeline import cases
from orchestration.pipeline.cases import Parts, Rows, write_parts
from orchestration.pipeline.graph import STAGES
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.settings import Spark
from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import Manifest
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing

STEPS = ("dataset", "logs", "answers", "scores")


def main() -> None:
    """Run the stages in order; the project's own errors are the last line, without a stack."""
    overrides = [text for text in sys.argv[1:] if "=" in text]
    workspace = open_workspace(overrides=tuple(overrides))
    names = [text for text in sys.argv[1:] if "=" not in text]
    if "slowly" in names:
        names.remove("slowly")
        cases.write_parts = write_slowly
    try:
        for benchmark in map(BENCHMARKS.__getitem__, names):
            for step in STEPS:
                stage = STAGES[f"{benchmark.name}/{step}"]
                paths = [workspace.path(out) for out in stage.outs]
                if not all(path.exists() for path in paths):
                    run(stage, workspace, paths)
    except SubstrateError as error:
        sys.exit(f"error: {error}")


def after_a_while(rows: Rows, place: int) -> Iterator[dict[str, Any]]:
    """The rows of a shard after two seconds, those of the first one at once."""
    time.sleep(2 if place else 0)
    yield from rows(place)


def write_slowly(settings: Spark, parts: Parts) -> Manifest:
    """As :func:`write_parts`."""
    return write_parts(settings, replace(parts, rows=partial(after_a_while, parts.rows)))


def run(stage: Stage, workspace: Workspace, paths: list[Path]) -> None:
    """A stage, its outs whole or not there."""
    with ExitStack() as stack:
        stage.run(workspace, *(stack.enter_context(replacing(path)) for path in paths))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
