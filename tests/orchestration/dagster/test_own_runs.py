"""In a shared store of Dagster's records, a project deletes and ends only its own runs that are over."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import dagster as dg
import psutil
import pytest
from commands import lock_held
from dagster._core.events import EngineEventData

from orchestration.base.project_lock import project_lock, project_name
from orchestration.dagster import own_runs
from orchestration.dagster.instance import instance as instance_of
from orchestration.dagster.own_runs import PROJECT_TAG
from substrate.base.files import OutputError

DONE, BEGUN = dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.STARTED
FAILED = dg.DagsterRunStatus.FAILURE


@dg.job
def job() -> None: ...


@pytest.fixture
def project(make_project: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose runs are recorded in a folder that projects share, by the `dagster.yaml` there."""
    root, shared = make_project(), tmp_path / "shared"
    shared.mkdir()
    (shared / "dagster.yaml").write_text("telemetry: {enabled: false}\n", "utf-8")
    monkeypatch.setenv("DAGSTER_HOME", str(shared))
    return root


def record(root: Path | None = None, status: dg.DagsterRunStatus = BEGUN, pid: int | None = None) -> str:
    """Record a run of a project, or of one without a name, with the number of its process."""
    with dg.DagsterInstance.get() as instance:
        tags = {PROJECT_TAG: project_name(root)} if root else {}
        run = instance.create_run_for_job(job, status=status, tags=tags)
        if pid:
            process = EngineEventData(metadata={"pid": dg.MetadataValue.text(str(pid))})
            instance.report_engine_event("Started process for run", run, process)
        return run.run_id


def statuses(root: Path) -> dict[str, dg.DagsterRunStatus]:
    """The status of each run, once a project has opened the store of records."""
    with instance_of(root) as instance:
        return {run.run_id: run.status for run in instance.get_runs()}


def test_runs_of_other_projects_in_a_shared_store_stay(
    project: Path, tmp_path: Path, small_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_runs, "KEPT", 2)
    other = small_project(tmp_path / "other")
    theirs = {record(root, status): status for root in (other, None) for status in (DONE, DONE, DONE, BEGUN)}
    ours = [record(project, status) for status in (DONE, DONE, DONE, BEGUN)]
    after = statuses(project)
    assert {name: after[name] for name in theirs} == theirs
    assert {name: after.get(name) for name in ours} == dict(
        zip(ours, (None, None, DONE, FAILED), strict=True)
    ), "a run that was closed counts as finished"


def test_a_run_without_a_name_is_ended_in_a_store_with_the_project_s_own_settings(project: Path) -> None:
    shutil.copy(project / ".dagster/dagster.yaml", os.environ["DAGSTER_HOME"])
    run = record()
    assert statuses(project)[run] is FAILED


def test_the_record_of_old_runs_is_deleted_in_the_project_s_own_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_runs, "KEPT", 2)
    monkeypatch.setenv("DAGSTER_HOME", str(project / ".dagster"))
    moved = project.with_name("where it was")
    ran = [record(root, DONE) for root in (None, moved, project, None, moved)]
    assert statuses(project).keys() == {*ran[-2:]}
    files = [path.stem for path in (project / ".dagster/history/runs").glob("*.db") if path.stem != "index"]
    assert {*files} <= {*ran[-2:]}


@pytest.mark.parametrize("busy", [False, True], ids=["free", "held"])
def test_a_run_ends_with_its_process_whatever_has_its_number_now(project: Path, busy: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as later:
        created = psutil.Process(later.pid).create_time()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time", lambda: created - 60)  # as before a restart
            reused = record(project, pid=later.pid)
        without_pid, gone = record(project), record(project, pid=2**22 - 1)
        alive = record(project, pid=os.getppid())
        with lock_held(project) if busy else nullcontext():
            after = statuses(project)
        assert later.stdin
        later.stdin.close()
    assert [after[name] for name in (reused, gone)] == [FAILED, FAILED]
    expected = BEGUN if busy else FAILED
    assert [after[name] for name in (without_pid, alive)] == [expected, expected], "a run holds the lock"
    with project_lock(project):
        assert {*statuses(project).values()} == {FAILED}


def test_a_damaged_record_that_others_share_is_not_moved(project: Path) -> None:
    instance_of(project).dispose()
    home = Path(os.environ["DAGSTER_HOME"])
    for database in (home / "history").rglob("*.db"):
        database.write_bytes(b"no database" * 1000)
    with pytest.raises(OutputError, match=r"the record of runs is damaged .*Other projects may share it"):
        instance_of(project)
    assert not list(home.glob("damaged-*"))
    shutil.rmtree(home)
