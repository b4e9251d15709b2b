"""The runs of one project in a store of Dagster's records, which may hold other projects' runs too."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import dagster as dg
import psutil
import yaml

from orchestration.base.project_lock import is_free, project_name
from orchestration.settings import PARAMETERS_FILE

# The tag of a run with its project: the machine, or the container, and the project's folder there.
PROJECT_TAG = "substrate/project"
# The number of finished runs whose records are kept.
KEPT = 20
_ENDED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_RUNNING = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
# The keys of `dagster.yaml` that put records elsewhere than in Dagster's folder.
_ELSEWHERE = {"instance_class", "storage", "run_storage", "event_log_storage", "schedule_storage"}


def is_private(root: Path, home: Path) -> bool:
    """Tell whether Dagster's folder is the project's own and holds the records itself, not a database."""
    return home.resolve() == (root / ".dagster").resolve() and _holds_records(home)


def _holds_records(home: Path) -> bool:
    """Tell whether the records lie in the folder, and not in a database."""
    path = home / "dagster.yaml"
    settings = yaml.safe_load(path.read_bytes()) if path.is_file() else {}
    return not _ELSEWHERE & {*(settings or {})}


def own_runs(
    instance: dg.DagsterInstance, root: Path, statuses: list[dg.DagsterRunStatus], *, untagged: bool = False
) -> Iterator[dg.DagsterRun]:
    """Yield the runs of a project, newest first.

    A tag names the project of a run. A run may lack the tag: an earlier version left it, or it was launched
    in the UI and has not begun. Then the place of its record or of its code location shows the project.

    Args:
        untagged: whether to claim a run too that shows no project at all, if the folder of the records has a
            copy of the project's `dagster.yaml`.
    """
    home, name = Path(instance.root_directory), project_name(root)
    private, tags = is_private(root, home), {} if _holds_records(home) else {PROJECT_TAG: name}
    files = [folder / "dagster.yaml" for folder in (home, root / ".dagster")]
    claims = untagged and all(map(Path.is_file, files)) and len({*map(Path.read_bytes, files)}) == 1
    for run in instance.get_runs(dg.RunsFilter(statuses=statuses, tags=tags)):
        if tag := run.tags.get(PROJECT_TAG):
            # A project that was moved or copied took its records along.
            own = tag == name or (private and not _exists(tag))
        else:
            folder = _folder_of(run)
            own = private or folder == root.resolve() or (claims and folder is None)
        if own:
            yield run


def _exists(name: str) -> bool:
    """Tell whether the tag of a run names a project that this machine has."""
    host, _, folder = name.partition(":")
    return host == socket.gethostname() and Path(folder, PARAMETERS_FILE).is_file()


def _folder_of(run: dg.DagsterRun) -> Path | None:
    """Return the folder of the code location that a run was launched from."""
    origin = run.remote_job_origin and run.remote_job_origin.repository_origin.code_location_origin
    target = getattr(origin, "loadable_target_origin", None)
    folder = target and target.working_directory
    return Path(folder).resolve() if folder else None


def forget_old(instance: dg.DagsterInstance, root: Path) -> None:
    """Delete the records of a project's finished runs but for the last :data:`KEPT`: each takes some 3 MB."""
    home = Path(instance.root_directory)
    for run in [*own_runs(instance, root, _ENDED)][KEPT:]:
        instance.delete_run(run.run_id)
        for path in home.glob(f"history/runs/{run.run_id}.db*"):
            path.unlink()
        shutil.rmtree(home / "storage" / run.run_id, ignore_errors=True)


def close_interrupted(instance: dg.DagsterInstance, root: Path) -> None:
    """Mark as failed each run of a project whose own process is gone.

    If no other process holds the project's lock, none of its runs goes on. Else a run goes on while a process
    that it recorded does; a process that started after the record is another with the same number.

    Finished stages of such a run are kept: the next run skips them and continues from there.
    """
    free, name = is_free(root), project_name(root)
    for run in own_runs(instance, root, _RUNNING, untagged=True):
        recorded = _recorded(instance, run.run_id)
        elsewhere = run.tags.get(PROJECT_TAG, name) != name  # its processes cannot be seen from here
        if free or not (elsewhere or not recorded or any(_lives(*process) for process in recorded)):
            why = "The run's process was killed. Finished stages are kept; run again to go on from there."
            instance.report_run_failed(run, why)


def _recorded(instance: dg.DagsterInstance, run_id: str) -> set[tuple[int, float]]:
    """Return the processes that a run recorded as its own, each with the time of the record."""
    processes = set[tuple[int, float]]()
    for record in instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        if event := record.dagster_event:
            pid = event.engine_event_data.metadata.get("pid")
            if pid and str(pid.value).isdecimal():
                processes.add((int(str(pid.value)), record.timestamp))
    return processes


def _lives(pid: int, recorded: float) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).create_time() <= recorded
    return False
