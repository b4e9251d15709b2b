"""The record of runs: Dagster's own files, whichever storage reads them."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from orchestration.pipeline.run_events import RunEvents
from tests.support.projects import ROOT


@dg.asset
def counted() -> dg.MaterializeResult[Any]:
    """Be something that a run makes."""
    return dg.MaterializeResult(metadata={"rows": 3})


def test_dagsters_own_storage_reads_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / ".dagster/dagster.yaml", tmp_path)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    with dg.DagsterInstance.get() as instance:
        assert isinstance(instance.event_log_storage, RunEvents)
        runs = [dg.materialize([counted], instance=instance).run_id for _ in range(6)]
        own = SqliteEventLogStorage(str(tmp_path / "history/runs"))
        for run in runs:
            assert (told := own.get_logs_for_run(run)) == instance.all_logs(run)
            assert "ASSET_MATERIALIZATION" in [
                one.dagster_event_type.value for one in told if one.dagster_event_type
            ]
        latest = own.get_latest_materialization_events([counted.key])[counted.key]
        assert latest is not None
        assert latest.run_id == runs[-1]
        instance.event_log_storage.wipe()
        assert not instance.all_logs(runs[0])
        assert dg.materialize([counted], instance=instance).success


WRITER = """
import time
import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.execution.api import execute_run_iterator

@dg.op
def says():
    log = dg.OpExecutionContext.get().log
    for number in range(100):
        log.info(f"line {number}")
        print("kept", number, flush=True)
    time.sleep(600)

@dg.job(executor_def=dg.in_process_executor)
def talks():
    says()

with dg.DagsterInstance.get() as instance:
    run = instance.create_run_for_job(talks)
    print("run", run.run_id, flush=True)
    list(execute_run_iterator(InMemoryJob(talks), run, instance=instance))
"""


def test_a_run_is_watched_as_it_goes_and_keeps_its_events_when_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / ".dagster/dagster.yaml", tmp_path)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command, seen, all_seen = [sys.executable, "-c", WRITER], list[str](), Event()

    def see(entry: dg.EventLogEntry, _: str) -> None:
        seen.append(entry.user_message)
        if entry.user_message == "line 99":
            all_seen.set()

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as writer:
        assert writer.stdout
        said = (line.split() for line in writer.stdout)
        run = next(words[1] for words in said if words[:1] == ["run"])
        # As the UI's server does, with Dagster's own storage.
        reader = SqliteEventLogStorage(str(tmp_path / "history/runs"))
        try:
            for words in said:
                if words == ["kept", "0"]:
                    reader.watch(run, None, see)
                elif words == ["kept", "99"]:
                    break
            assert all_seen.wait(30), seen
        finally:
            writer.kill()
            reader.dispose()
    told = [one.user_message for one in reader.get_logs_for_run(run)]
    assert [line for line in told if line.startswith("line ")] == [f"line {number}" for number in range(100)]
    with closing(sqlite3.connect(tmp_path / f"history/runs/{run}.db")) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
