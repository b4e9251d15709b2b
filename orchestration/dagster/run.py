"""Runs of the asset graph from a command, on the same Dagster instance as the UI.

The folder of Dagster's records of runs is set by the environment, else it lies in the project.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import yaml
from dagster_shared.check import CheckError

from orchestration.base.progress import ended
from orchestration.base.project_lock import open_lock, project_lock
from orchestration.dagster import own_runs
from orchestration.dagster.assets import asset_key, assets_of
from orchestration.dagster.checks import checks_of
from orchestration.dagster.resources import SETTINGS_TAG, WorkspaceResource, box_of, settings_of
from orchestration.experiments.experiment import begin
from orchestration.stage import Stages
from orchestration.stages.graph import stages_in
from orchestration.stages.standing import to_run
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.files import OutputError

LOCATION = {".dagster/repository": "__repository__@substrate"}
"""The tag by which the UI finds a run of a job of `workspace.yaml`."""
HOME = "DAGSTER_HOME"
DATABASES = ("history", "schedules")
"""The folders of Dagster's databases; no result depends on them."""


class RunError(SubstrateError):
    """A stage failed; the message is the stage's error."""


def instance(root: Path) -> dg.DagsterInstance:
    """The project's persistent Dagster instance, which the command and the UI share.

    Raises:
        OutputError: the project or the record of runs is not writable, or a shared record is damaged.
        ParameterError: the folder of Dagster's records is a relative path, or its `dagster.yaml` is unusable.
    """
    from sqlalchemy.exc import DatabaseError, OperationalError

    from substrate.cli.console import note

    os.close(open_lock(root))
    with _written(_folder(root)):
        home = _home(root)
        try:
            return _opened(root, home)
        except OperationalError:
            raise
        except DatabaseError as error:
            if not own_runs.is_private(root, home):
                what = f"the record of runs is damaged ({error.orig})"
                hint = "Other projects may share it; restore it, or name another DAGSTER_HOME"
                raise OutputError(what, where=(home,), hint=hint) from error
            note(
                f"{_set_aside(home)}: the damaged record of runs lies there ({error.orig}); a new one begins"
            )
            return _opened(root, home)


def _folder(root: Path) -> Path:
    """The folder of Dagster's records, as the environment names it; by default in the project."""
    return Path(os.environ.get(HOME) or root / ".dagster")


def _home(root: Path) -> Path:
    """Make the folder if needed, and return a name of it that Dagster can open.

    Raises:
        ParameterError: the environment names a relative folder.
        OSError: the folder cannot be made.
    """
    home = _folder(root)
    if not home.is_absolute():
        hint = "Give an absolute path, or unset it to use the project's folder"
        raise ParameterError("is not an absolute path", where=(HOME, home), hint=hint)
    home.mkdir(parents=True, exist_ok=True)
    if "%" in str(home):  # SQLAlchemy would read %41 as A
        link = Path.home() / ".cache/substrate" / hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(home)
        home = link
    os.environ[HOME] = str(home)
    # This also covers a folder without settings.
    os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"
    return home


def _opened(root: Path, home: Path) -> dg.DagsterInstance:
    """Open Dagster's records, with every class that `dagster.yaml` names; close and forget old runs.

    Raises:
        ParameterError: the file is not YAML, or names what does not exist or is not installed.
    """
    try:
        instance = dg.DagsterInstance.get()
        # Dagster imports these only where it needs them: too late for a message before the run.
        _ = instance.run_launcher, instance.run_coordinator, instance.scheduler, instance.compute_log_manager
    except (yaml.YAMLError, UnicodeError, dg.DagsterError, CheckError) as error:
        what = " ".join(str(error).removeprefix("Failure condition: ").split())
        hint = "Correct the file, or install what it names"
        raise ParameterError(what, where=(home / "dagster.yaml",), hint=hint) from error
    own_runs.close_interrupted(instance, root)
    own_runs.forget_old(instance, root)
    return instance


def _set_aside(home: Path) -> Path:
    """Move damaged databases out of the way; return their new folder."""
    number = 1
    while (aside := home / f"damaged-{number}").exists():
        number += 1
    aside.mkdir()
    for name in DATABASES:
        if (home / name).exists():
            (home / name).rename(aside / name)
    return aside


@contextmanager
def _written(home: Path) -> Iterator[None]:
    """Name the folder if Dagster's database cannot be written."""
    from sqlalchemy.exc import OperationalError

    try:
        yield
    except (OSError, OperationalError) as error:
        reason = error.orig if isinstance(error, OperationalError) else error.strerror
        hint = "Free space, or make it writable; what was made before is kept"
        what = f"the record of runs cannot be written ({reason})"
        raise OutputError(what, where=(home,), hint=hint) from error


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
        where: returns the instance that records the run, which takes a while; by default a temporary one.
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
    root = opened.root
    with ends_when_told(), project_lock(root):
        if opened.experiment:
            begin(opened, workspace.overrides)
        stages = stages_in(opened)
        todo = names if workspace.force or workspace.scratch else to_run(stages, names, opened)
        if opened.experiment:  # the end of a run publishes it, so at least one stage must run
            todo = todo or names[-1:]
        for name in names:
            if name not in todo:
                ended(name, {"skipped": True})
        with _written(_folder(root)):
            tags = LOCATION | {SETTINGS_TAG: settings_of(opened)[1]}
            tags[own_runs.PROJECT_TAG] = own_runs.project_name(root)
            failed = _run(stages, todo, workspace, tags, where() if where else None, job) if todo else []
    keys = {name: asset_key(name) for name in todo}
    return {name: [check for check in failed if check.asset_key == key] for name, key in keys.items()}


def _run(
    stages: Stages,
    names: list[str],
    workspace: WorkspaceResource,
    tags: dict[str, str],
    where: dg.DagsterInstance | None,
    job: str,
) -> list[dg.AssetCheckEvaluation]:
    selection = dg.AssetSelection.assets(*map(asset_key, names))
    declared = dg.define_asset_job(
        job,
        selection=selection.without_checks() if workspace.scratch else selection,
        executor_def=dg.in_process_executor,
    )
    definitions = dg.Definitions(
        assets=assets_of(stages, names),
        asset_checks=[*checks_of(stages, names)],
        jobs=[declared],
        resources={"workspace": workspace},
    )
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    job_of_run = definitions.resolve_job_def(job)
    result = job_of_run.execute_in_process(instance=where, run_config=quiet, raise_on_error=False, tags=tags)
    failed = [evaluation for evaluation in result.get_asset_check_evaluations() if not evaluation.passed]
    if result.success:
        return failed
    if stopping := [
        str(evaluation.description)
        for evaluation in failed
        if evaluation.blocking and evaluation.severity == dg.AssetCheckSeverity.ERROR
    ]:
        raise RunError("; ".join(stopping))
    for event in result.all_events:
        if event.is_step_failure and (failure := event.step_failure_data.error):
            told = event.step_failure_data.user_failure_data
            reason = told.description if told else (failure.cause or failure).message
            steps = {box_of(name): name for name in names}
            raise RunError(
                f"{steps.get(str(event.step_key), event.step_key)}: {str(reason).strip()}",
                hint=f"`substrate ui` shows the run {result.run_id}",
            )
    errors = [event.job_failure_data.error for event in result.all_events if event.is_failure]
    raise RunError(
        f"run {result.run_id} failed: {'; '.join(_reason(error) for error in errors if error)}",
        hint="`substrate ui` shows it",
    )


def _reason(error: Any) -> str:
    """The first cause of an error that Dagster recorded."""
    while error.cause:
        error = error.cause
    return str(error.message).strip()


def recompute(names: list[str], profile: str, folder: Path) -> None:
    """Run stages again into a separate folder, whatever exists already."""
    run_stages(names, WorkspaceResource(profile=profile, scratch=str(folder), force=True))
