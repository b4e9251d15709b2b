"""The record of runs: Dagster's own files, whichever storage reads them."""

from __future__ import annotations

import shutil
from pathlib import Path
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
