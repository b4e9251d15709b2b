"""A run that is killed leaves nothing half-written, and the next one goes on from where it stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
from commands import invoke, started
from projects import ONE_WORKER

from orchestration.dagster.own_runs import close_interrupted
from substrate.base.files import replacing

HOLD = """
import os, sys, time
from pathlib import Path
from substrate.base.files import replacing

with replacing(Path(sys.argv[1])) as fresh:
    fresh.mkdir()
    (fresh / "part").write_text("half")
    print("writing", flush=True)
    time.sleep(600)
"""


def writer(path: Path) -> subprocess.Popen[str]:
    """A process that is in the middle of writing a folder."""
    process = started(sys.executable, "-c", HOLD, path)
    assert process.stdout
    assert process.stdout.readline() == "writing\n"
    return process


def test_the_files_of_a_killed_writer_are_removed_and_of_a_living_one_are_not(tmp_path: Path) -> None:
    out = tmp_path / "logs[1]"
    killed, alive = writer(out), writer(out)
    try:
        assert len(list(tmp_path.iterdir())) == 2
        killed.kill()
        killed.wait()
        with replacing(out) as fresh:
            fresh.mkdir()
            (fresh / "part").write_text("whole")
        (left,) = [path for path in tmp_path.iterdir() if path != out]
        assert (left / out.name / "part").read_text() == "half"
        assert (out / "part").read_text() == "whole"
    finally:
        alive.kill()
        alive.wait()


@pytest.mark.long
def test_a_killed_run_resumes_after_its_finished_stages(make_project: Callable[..., Path]) -> None:
    root = make_project()
    only = ("reproduce", "--only", "gqa", "--set", "seed=20")
    with started(sys.executable, "-m", "orchestration.cli.main", *only, environment=ONE_WORKER) as run:
        logs = root / "artifacts/sample/gqa/logs/index.jsonl"
        while not list((root / "artifacts/sample").glob("gqa/.answers.jsonl.*.scratch")):
            assert run.poll() is None
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGKILL)
    before = logs.stat().st_mtime_ns
    assert not (root / "artifacts/sample/gqa/answers.jsonl").exists()
    result = invoke(*only)
    assert "gqa/logs  reused" in result.output
    assert logs.stat().st_mtime_ns == before
    assert not list(root.rglob("*.scratch"))
    assert not list(root.rglob("*.parts"))
    with dg.DagsterInstance.get() as instance:
        again, killed = instance.get_runs()
        assert (again.status, killed.status) == (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE)
        before = len(instance.all_logs(again.run_id)), len(instance.all_logs(killed.run_id))
        close_interrupted(instance, root)
        assert before == (len(instance.all_logs(again.run_id)), len(instance.all_logs(killed.run_id)))
        messages = [record.user_message for record in instance.all_logs(again.run_id)]
    assert any(text.startswith("gqa/answers: ") and text.endswith(" done") for text in messages)
