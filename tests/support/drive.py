"""A driver: makes some benchmarks' data, logs, answers and scores in the project around the current folder.

    python drive.py [KEY=VALUE …] BENCHMARK …

Outs that the project has already stay. The driver is a process of its own, since a process has one Spark.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.stage import Stage
from orchestration.stages.graph import STAGES
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing

STEPS = ("dataset", "logs", "answers", "scores")


def main() -> None:
    """Run the stages in order; the project's own errors are the last line, without a stack."""
    workspace = open_workspace(overrides=tuple(text for text in sys.argv[1:] if "=" in text))
    names = [text for text in sys.argv[1:] if "=" not in text]
    try:
        for benchmark in map(BENCHMARKS.__getitem__, names):
            for step in STEPS:
                stage = STAGES[f"{benchmark.name}/{step}"]
                paths = [workspace.path(out) for out in stage.outs]
                if not all(path.exists() for path in paths):
                    run(stage, workspace, paths)
    except SubstrateError as error:
        sys.exit(f"error: {error}")


def run(stage: Stage, workspace: Workspace, paths: list[Path]) -> None:
    """Run a stage, whose outs are written whole or not at all."""
    with ExitStack() as stack:
        stage.run(workspace, *(stack.enter_context(replacing(path)) for path in paths))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
