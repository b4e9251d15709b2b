"""The life of a run: its project is locked and opened; at the end its experiment or its new pins are kept.

Commands and the launch form configure a run by :class:`WorkspaceResource`; each asset and check gets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from logging import Logger
from pathlib import Path
from typing import cast

import dagster as dg
from pydantic import Field, PrivateAttr

from orchestration.acceptance import pin_new
from orchestration.base.project_lock import project_lock
from orchestration.dagster.instance import held_open
from orchestration.dagster.keys import EVERY, box_of
from orchestration.dagster.run_tags import SETTINGS_TAG, settings_of, tags_of_run
from orchestration.experiments.experiment import begin, drop, finish
from orchestration.project import may_pin, open_run
from orchestration.settings import PARAMETERS_FILE, find_root
from orchestration.stages.graph import STAGES, stages_in
from orchestration.verification.record_faults import all_faults, pin_faults, require_sound
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError

# The name of the job that looks for drift.
VERIFY = "verify"


class WorkspaceResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The configuration of a run, and its project while the run lasts.

    Attributes:
        profile: a profile of ``params.yaml``; empty for the file's default profile.
        overrides: ``KEY=VALUE`` pairs on top of ``params.yaml``.
        scratch: a folder for artifacts instead of ``artifacts/``.
        experiment: the name of the experiment that the overrides make; by default made from them.
        force: true to run stages even if nothing they depend on has changed.
        settles: true to pin new stages and changed inputs after a successful run. Only the launch form sets
            it: `substrate reproduce` pins them by itself, after its run.
    """

    profile: str = ""
    overrides: list[str] = Field(default_factory=list)
    scratch: str = ""
    experiment: str = ""
    force: bool = False
    settles: bool = False
    _opened: Workspace | None = PrivateAttr(default=None)

    def open(self) -> Workspace:
        """Open the workspace of this resource; in a run, with the run's initial settings."""
        if self._opened:
            return self._opened
        workspace = open_run(self.profile or None, tuple(self.overrides), self.experiment)
        return replace(workspace, scratch=Path(self.scratch)) if self.scratch else workspace

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[WorkspaceResource]:
        """Lock the project for the run and begin its experiment, if it is one; at the end keep what it made.

        Raises:
            BusyError: another run of the project is in progress.
            ParameterError: the settings changed after the run began.
            PinError: the pins that the results are compared with are damaged or missing.
        """
        run = context.run
        holder = f"run {run.run_id}" if run else ""
        with project_lock(find_root(), holder), held_open(context.instance):
            self._opened = workspace = self.open()
            if not run or run.job_name != VERIFY:  # the verify job reports all damage itself
                self._require_record(workspace)
            if run and context.instance:
                self._record_settings(context.instance, run, context.log)
            if workspace.experiment:
                begin(workspace, self.overrides)
            try:
                yield self
            finally:
                if run and context.instance:
                    self._end(context.instance, run.run_id)

    def _record_settings(self, instance: dg.DagsterInstance, run: dg.DagsterRun, log: Logger | None) -> None:
        """Tag a run, and write its settings into its log.

        Raises:
            ParameterError: the settings changed after a command planned and tagged the run.
        """
        settings, digest = settings_of(self.open())
        if run.tags.get(SETTINGS_TAG, digest) != digest:
            hint = "Start another run: the stages of one are made with the same settings"
            raise ParameterError("changed during the run", where=(PARAMETERS_FILE,), hint=hint)
        tags = {SETTINGS_TAG: digest, **tags_of_run(self.open())}
        instance.add_run_tags(run.run_id, tags)
        # The steps read the tags from this object, which was loaded before they were added.
        cast("dict[str, str]", run.tags).update(tags)
        if log:
            log.info(f"settings: {settings}")

    def _require_record(self, workspace: Workspace) -> None:
        """Find a damaged record before the run, and in all its files if the run will pin results itself."""
        if not (workspace.experiment or self.scratch or self.overrides):
            root, profile = workspace.root, workspace.settings.profile
            require_sound(all_faults(root, profile, STAGES) if self.settles else pin_faults(root, profile))

    def _end(self, instance: dg.DagsterInstance, run: str) -> None:
        """After a whole success publish the experiment, or pin new results; else leave no experiment."""
        workspace = self.open()
        if not (made := _made(instance, run)):
            if workspace.experiment:
                drop(workspace)
        elif workspace.experiment:
            finish(workspace)
        elif self.settles and may_pin(workspace, self.overrides):
            pin_new(workspace, stages_in(workspace), made)


def _made(instance: dg.DagsterInstance, run: str) -> list[str]:
    """The stages that a run made; none if a step failed, or if something was not made or checked."""
    kind = dg.DagsterEventType
    wanted = {kind.ASSET_MATERIALIZATION_PLANNED, kind.ASSET_CHECK_EVALUATION_PLANNED}
    done = {kind.ASSET_MATERIALIZATION, kind.ASSET_CHECK_EVALUATION}
    records = instance.all_logs(run, of_type={*wanted, *done, kind.STEP_FAILURE})
    events = [record.dagster_event for record in records if record.dagster_event]
    types = [event.event_type for event in events]
    ended, planned = (sum(type_ in kinds for type_ in types) for kinds in (done, wanted))
    if kind.STEP_FAILURE in types or ended < planned:
        return []
    # The last part of an asset's key is the box of its stage, whatever the profile.
    keys = {event.asset_key for event in events if event.event_type == kind.ASSET_MATERIALIZATION}
    boxes = {key.path[-1] for key in keys if key}
    return sorted(stage for stage in EVERY if box_of(stage) in boxes)
