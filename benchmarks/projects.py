"""Scratch projects, and stages that run in them without Dagster, ledger or pins."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
from substrate.base.files import replacing

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def scratch_project() -> Iterator[Path]:
    """A project with this checkout's settings and no results; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="substrate-bench-") as scratch:
        for name in ("params.yaml", "workspace.yaml"):
            shutil.copy(ROOT / name, scratch)
        yield Path(scratch)


def run_stage(workspace: Workspace, stage: Stage) -> None:
    """Compute a stage's outs, whether they are up to date or not."""
    with ExitStack() as stack:
        paths = [workspace.path(out) for out in stage.outs]
        stage.run(workspace, *(stack.enter_context(replacing(path)) for path in paths))
