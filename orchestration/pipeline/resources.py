"""Resources of assets: the workspace, and through it the Spark session."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from orchestration.experiments.making import begin, drop, finish
from orchestration.project import open_run
from orchestration.workspace.folders import Workspace


def unconfigured(definition: Any) -> Any:
    """A resource or an executor of Dagster's without settings, which may be paths or modules to import."""
    name = {"name": definition.name} if isinstance(definition, dg.ExecutorDefinition) else {}
    return dg.configured(definition, config_schema={}, **name)(lambda _: {})


ALONE: dg.ExecutorDefinition = unconfigured(dg.in_process_executor)
"""The executor of a job of one step."""


class WorkspaceResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The project under a profile and parameter overrides; what a run is configured with."""

    profile: str = ""
    """A profile of ``params.yaml``; empty for the one it names itself."""
    overrides: list[str] = Field(default_factory=list)
    """``KEY=VALUE`` pairs on top of ``params.yaml``."""
    scratch: str = ""
    """A folder for artifacts instead of ``artifacts/``."""

    experiment: str = ""
    """The name of the experiment that overrides make of a run; made from them unless given."""

    force: bool = False
    """True if stages run although nothing they depend on has changed."""

    def open(self) -> Workspace:
        """The workspace this resource describes."""
        workspace = open_run(self.profile or None, tuple(self.overrides), self.experiment)
        return replace(workspace, scratch=Path(self.scratch)) if self.scratch else workspace

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Begin the experiment, where the run is one."""
        workspace = self.open()
        if workspace.experiment:
            begin(workspace, self.overrides)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Let the experiment appear where all of the run ended well, and leave nothing of it where it failed.

        Where each step has a process of its own, the last one's does so; of a failed run they leave what is
        done in the making, since others may still be at it.
        """
        workspace = self.open()
        if not workspace.experiment or not context.run or not context.instance:
            return
        if _ended_well(context.instance, context.run.run_id):
            finish(workspace)
        elif os.environ.get("SUBSTRATE_EXECUTOR") != "multiprocess":
            drop(workspace)


def _ended_well(instance: dg.DagsterInstance, run: str) -> bool:
    """Tell whether all that a run was to make and check is made and checked, and no step failed."""
    kind = dg.DagsterEventType
    wanted = {kind.ASSET_MATERIALIZATION_PLANNED, kind.ASSET_CHECK_EVALUATION_PLANNED}
    done = {kind.ASSET_MATERIALIZATION, kind.ASSET_CHECK_EVALUATION}
    events = [record.dagster_event for record in instance.all_logs(run, of_type={*wanted, *done})]
    types = [event.event_type for event in events if event]
    made = sum(type_ in done for type_ in types)
    return made >= sum(type_ in wanted for type_ in types) > 0 and not instance.all_logs(
        run, of_type=kind.STEP_FAILURE
    )
