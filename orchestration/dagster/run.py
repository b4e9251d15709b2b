"""Runs of the asset graph from a command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.base.progress import ended
from orchestration.base.project_lock import project_lock, project_name
from orchestration.dagster.assets import assets_of
from orchestration.dagster.checks import checks_of
from orchestration.dagster.instance import home_of_records, writing_records
from orchestration.dagster.keys import asset_key, box_of
from orchestration.dagster.own_runs import PROJECT_TAG
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run_tags import SETTINGS_TAG, settings_of
from orchestration.dagster.unconfigured import IN_PROCESS
from orchestration.experiments.experiment import begin
from orchestration.stage import Stages
from orchestration.stages.decision import stages_to_run
from orchestration.stages.graph import stages_in
from substrate.base.errors import SubstrateError

# The tag by which the UI finds a run of a job of `workspace.yaml`.
LOCATION = {".dagster/repository": "__repository__@substrate"}


class RunError(SubstrateError):
    """A stage, a check that stops the run, or the run itself failed; the message is the reason."""


def run_stages(
    names: list[str],
    workspace: WorkspaceResource,
    where: Callable[[], dg.DagsterInstance] | None = None,
    job: str = "reproduce",
) -> dict[str, list[dg.AssetCheckEvaluation]]:
    """Materialise the named stages that are not up to date, in dependency order.

    Args:
        names: stage names; all of their inputs must exist or be among them.
        workspace: the profile and overrides of the run.
        where: opens the instance that records the run (opening is slow); by default a temporary one.
        job: the name of the job whose page lists the run.

    Returns:
        The stages that ran, each with its failed checks that did not stop the run. A recomputation in a
        separate folder is not checked.

    Raises:
        RunError: a stage failed, or a check that stops the run.
        BusyError: another run of the project is in progress.
    """
    from orchestration.base.stopping import ends_when_told

    opened = workspace.open()
    with ends_when_told(), project_lock(opened.root):
        if opened.experiment:
            begin(opened, workspace.overrides)
        stages = stages_in(opened)
        todo = names if workspace.force or workspace.scratch else stages_to_run(stages, names, opened)
        if opened.experiment:  # the end of a run publishes it, so at least one stage must run
            todo = todo or names[-1:]
        for name in names:
            if name not in todo:
                ended(name, {"skipped": True})
        if not todo:
            return {}
        tags = LOCATION | {SETTINGS_TAG: settings_of(opened)[1], PROJECT_TAG: project_name(opened.root)}
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        with writing_records(home_of_records(opened.root)):
            result = _job(stages, todo, workspace, job).execute_in_process(
                instance=where() if where else None, run_config=quiet, raise_on_error=False, tags=tags
            )
    failed = [evaluation for evaluation in result.get_asset_check_evaluations() if not evaluation.passed]
    if not result.success:
        errors = (check for check in failed if check.severity == dg.AssetCheckSeverity.ERROR)
        stopping = [str(check.description) for check in errors if check.blocking]
        # A temporary instance keeps no record that the UI could show.
        hint = f"`substrate ui` shows the run {result.run_id}" if where else ""
        raise RunError("; ".join(stopping)) if stopping else _error(result, todo, hint)
    return {name: [check for check in failed if check.asset_key == asset_key(name)] for name in todo}


def _job(stages: Stages, names: list[str], workspace: WorkspaceResource, job: str) -> dg.JobDefinition:
    selection = dg.AssetSelection.assets(*map(asset_key, names))
    definitions = dg.Definitions(
        assets=assets_of(stages, names),
        asset_checks=[] if workspace.scratch else [*checks_of(stages, names)],
        jobs=[dg.define_asset_job(job, selection, executor_def=IN_PROCESS)],
        resources={"workspace": workspace},
    )
    return definitions.resolve_job_def(job)


def _error(result: dg.ExecuteInProcessResult, names: list[str], hint: str) -> RunError:
    """The error of the step that failed, or of the run itself."""
    stage_of = {box_of(name): name for name in names}
    for event in result.all_events:
        if event.is_step_failure and (failure := event.step_failure_data.error):
            given = event.step_failure_data.user_failure_data
            reason = given.description if given else (failure.cause or failure).message
            step = stage_of.get(str(event.step_key), event.step_key)
            return RunError(f"{step}: {str(reason).strip()}", hint=hint)
    errors = [event.job_failure_data.error for event in result.all_events if event.is_failure]
    return RunError(f"the run failed: {'; '.join(_reason(error) for error in errors if error)}", hint=hint)


def _reason(error: Any) -> str:
    """The first cause of an error that Dagster recorded."""
    while error.cause:
        error = error.cause
    return str(error.message).strip()


def recompute(names: list[str], profile: str, folder: Path) -> None:
    """Run stages again into a separate folder, whatever exists already."""
    run_stages(names, WorkspaceResource(profile=profile, scratch=str(folder), force=True))
