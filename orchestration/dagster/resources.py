"""Resources of assets: the workspace and, through it, the Spark session."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import dagster as dg
import msgspec
from pydantic import Field, PrivateAttr

from orchestration.base.project_lock import project_lock, project_name
from orchestration.dagster.keys import box_of, is_apart
from orchestration.dagster.own_runs import PROJECT_TAG
from orchestration.experiments.experiment import begin, drop, finish
from orchestration.ledger.acceptance import pin_new
from orchestration.ledger.soundness import all_faults, of_pins, require_sound
from orchestration.project import may_pin, open_run
from orchestration.settings import PARAMETERS_FILE, find_root
from orchestration.stages.graph import EVERY, STAGES, stages_in
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError

SETTINGS_TAG = ".dagster/settings"
"""The tag of a run with the SHA-256 of its initial settings; the run's log has the settings themselves."""


DEFERRED_TAG = "dagster/defer_asset_events"
"""Dagster's tag of a run whose asset events the run itself reports."""
VERIFY = "verify"
"""The name of the job that looks for drift."""


def settings_of(workspace: Workspace) -> tuple[str, str]:
    """The settings of a workspace as JSON, and the SHA-256 of that JSON."""
    settings = msgspec.json.encode(workspace.settings, order="sorted")
    return settings.decode(), hashlib.sha256(settings).hexdigest()


def tags_of_run(workspace: Workspace) -> dict[str, str]:
    """The tags of a run: its project, its profile, its experiment, and who reports its assets."""
    named = {"experiment": workspace.experiment.name} if workspace.experiment else {}
    apart = {DEFERRED_TAG: "true"} if is_apart(workspace) else {}
    return {PROJECT_TAG: project_name(workspace.root), "profile": workspace.settings.profile} | named | apart


def unconfigured(definition: Any) -> Any:
    """A Dagster resource or executor without its settings, which could be paths or modules to import."""
    name = {"name": definition.name} if isinstance(definition, dg.ExecutorDefinition) else {}
    return dg.configured(definition, config_schema={}, **name)(lambda _: {})


IN_PROCESS: dg.ExecutorDefinition = unconfigured(dg.in_process_executor)
"""The executor of single-process jobs."""


@contextmanager
def held_open(instance: dg.DagsterInstance | None) -> Iterator[None]:
    """Hold the shared databases of Dagster's records open, so that an event does not wait for the disk.

    Dagster opens and closes them for each event, and SQLite empties its journal into a file that nobody else
    has open. The record of a single run is not held: a page that shows the run watches that file.
    """
    from sqlalchemy import Engine, event  # slow, and definitions alone do without

    def relax(connection: Any, _: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA synchronous=NORMAL")

    history = Path(instance.root_directory, "history") if instance else Path()
    with ExitStack() as stack:
        for path in filter(Path.is_file, (history / "runs.db", history / "runs/index.db")):
            held = stack.enter_context(closing(sqlite3.connect(path, check_same_thread=False)))
            held.execute("SELECT 1 FROM sqlite_master").fetchone()
        event.listen(Engine, "connect", relax)
        stack.callback(event.remove, Engine, "connect", relax)
        yield


class WorkspaceResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The configuration of a run: the project, its profile and its overrides."""

    profile: str = ""
    """A profile of ``params.yaml``; empty for the file's default profile."""
    overrides: list[str] = Field(default_factory=list)
    """``KEY=VALUE`` pairs on top of ``params.yaml``."""
    scratch: str = ""
    """A folder for artifacts instead of ``artifacts/``."""

    experiment: str = ""
    """The name of the experiment that the overrides make; by default made from them."""

    force: bool = False
    """True to run stages even if nothing they depend on has changed."""

    settles: bool = False
    """True to pin new stages and changed inputs after a successful run, as `substrate reproduce` does by
    default.
    """
    _opened: Workspace | None = PrivateAttr(default=None)

    def open(self) -> Workspace:
        """Open the workspace of this resource; in a run, with the run's initial settings."""
        if self._opened:
            return self._opened
        workspace = open_run(self.profile or None, tuple(self.overrides), self.experiment)
        return replace(workspace, scratch=Path(self.scratch)) if self.scratch else workspace

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[WorkspaceResource]:
        """Lock the project for the run, begin its experiment if it is one, and end both.

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
                settings, digest = settings_of(workspace)
                # A command tags the run with the settings that it read; they must still be the same.
                if run.tags.get(SETTINGS_TAG, digest) != digest:
                    hint = "Start another run: the stages of one are made with the same settings"
                    raise ParameterError("changed during the run", where=(PARAMETERS_FILE,), hint=hint)
                tags = {SETTINGS_TAG: digest, **tags_of_run(workspace)}
                context.instance.add_run_tags(run.run_id, tags)
                # The steps read the tags from this object, which was loaded before they were added.
                cast("dict[str, str]", run.tags).update(tags)
                if context.log:
                    context.log.info(f"settings: {settings}")
            if workspace.experiment:
                begin(workspace, self.overrides)
            try:
                yield self
            finally:
                if run and context.instance:
                    self._end(context.instance, run.run_id)

    def _require_record(self, workspace: Workspace) -> None:
        """Find a damaged record before the run: a run of the UI pins too, others only compare."""
        if not (workspace.experiment or self.scratch or self.overrides):
            root, profile = workspace.root, workspace.settings.profile
            require_sound(all_faults(root, profile, STAGES) if self.settles else of_pins(root, profile))

    def _end(self, instance: dg.DagsterInstance, run: str) -> None:
        """Publish the experiment if the whole run succeeded; else leave nothing of it."""
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
    keys = {event.asset_key for event in events if event.event_type == kind.ASSET_MATERIALIZATION}
    boxes = {key.path[-1] for key in keys if key}
    return sorted(stage for stage in EVERY if box_of(stage) in boxes)
