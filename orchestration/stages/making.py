"""A stage in a run: its outs are reused or computed, and recorded in the ledger."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import msgspec

from orchestration.base.progress import advance, logging_to, task_figures
from orchestration.experiments.experiment import take_needs
from orchestration.ledger.manifest import Made
from orchestration.ledger.stage_records import fingerprint, keep_records, read_records
from orchestration.stage import Stage, Stages
from orchestration.stages.decision import decide
from orchestration.workspace.folders import Workspace
from substrate.base.files import clear_leftovers, replacing


def make(
    stages: Stages, stage: Stage, workspace: Workspace, log: Callable[[str], object], *, force: bool
) -> tuple[Made, dict[str, Any]]:
    """Bring a stage's outs up to date.

    Args:
        log: takes the lines of the run's log.
        force: compute them, whatever is there.

    Returns:
        The record of the stage, and metadata of the work.
    """
    advance(stage.name, 0, 1)
    for path in workspace.paths(stage.outs).values():
        clear_leftovers(path)
    metadata: dict[str, Any] = {}
    if workspace.experiment:
        take_needs(stages, stage, workspace)
        metadata["experiment"] = workspace.experiment.name
    known = read_records(workspace).get(stage.name)
    verdict, made, why = decide(stages, stage, workspace, known, force=force)
    if why:
        log(f"{stage.name}: {'computed again' if verdict == 'run' else verdict}: {why}")
    if verdict == "run":
        with logging_to(log), task_figures() as figures, ExitStack() as stack:
            fresh = [stack.enter_context(replacing(workspace.path(out))) for out in stage.outs]
            metadata |= stage.run(workspace, *fresh) | figures
        made = fingerprint(stages, stage, workspace)
        # The outs may differ from their pin if their inputs changed, or if they came out so twice.
        explained = bool(why) or (known is not None and known.basis != made.basis)
        made = msgspec.structs.replace(made, explained=explained)
    else:
        metadata[verdict] = why
    if verdict != "skipped":
        keep_records(workspace, {stage.name: made})
    advance(stage.name, 1, 1)
    return made, metadata
