"""Runs whose process was killed: nobody else would say that they have ended."""

from __future__ import annotations

import dagster as dg
import psutil
from dagster import DagsterEventType, DagsterRunStatus

_RUNNING = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]


def close_interrupted(instance: dg.DagsterInstance) -> list[str]:
    """Mark the runs in progress whose process is gone as failed; gives their ids.

    What such a run finished is kept: the next one skips it and goes on from there.
    """
    closed = []
    for run in instance.get_runs(dg.RunsFilter(statuses=_RUNNING)):
        processes = _processes(instance, run.run_id)
        if processes and not any(map(psutil.pid_exists, processes)):
            instance.report_run_failed(
                run, "The run's process was killed. Finished stages are kept; run again to go on from there."
            )
            closed.append(run.run_id)
    return closed


def _processes(instance: dg.DagsterInstance, run_id: str) -> set[int]:
    """The processes that a run says it ran in."""
    found = set()
    for record in instance.all_logs(run_id, of_type=DagsterEventType.ENGINE_EVENT):
        if event := record.dagster_event:
            pid = event.engine_event_data.metadata.get("pid")
            found |= {int(str(pid.value))} if pid and str(pid.value).isdecimal() else set()
    return found
