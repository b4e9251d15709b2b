"""A stage on Spark is run again where a worker was lost, and only there."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pytest
from pyspark import cloudpickle

from orchestration.dagster import assets
from orchestration.dagster.resources import WorkspaceResource
from orchestration.settings import Spark
from orchestration.spark.session import spark_session
from orchestration.spark.workers import NUMBER, gathered
from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
from substrate.base.errors import FormatError

# The faults are pickled by value: a worker that imported this module would load Dagster, and so would the
# successor of each worker that dies.
cloudpickle.register_pickle_by_value(sys.modules[__name__])
ROOT = Path(__file__).resolve().parents[3]
Fault = Callable[[], None]
SCHEMA = pa.schema([(NUMBER, pa.int64())])


def dies() -> None:
    os._exit(13)


def refuses() -> None:
    raise FormatError("names object 9", where=("scene 4",), hint="Declare it")


def starves() -> None:
    """Ask for more memory than the worker may have."""
    size = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + (16 << 20), before[1]))
    try:
        bytearray(1 << 30)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def materialized(
    fault: Fault, faulty: int, monkeypatch: pytest.MonkeyPatch, *, driver: bool = False, retries: int = 1
) -> tuple[dg.ExecuteInProcessResult, int]:
    """Run a stage whose workers fail in its first ``faulty`` attempts, or its driver; count the attempts."""
    attempts: list[int] = []

    def run(workspace: Workspace, out: Path) -> dict[str, Any]:
        attempts.append(len(attempts))
        fails = len(attempts) <= faulty

        def work(row: dict[str, Any]) -> list[dict[str, Any]]:
            if fails and not driver and row[NUMBER] == 4:
                fault()
            return [{NUMBER: row[NUMBER]}]

        names = [f"scene {number}" for number in range(9)]
        back = gathered(spark_session(Spark()), work, SCHEMA, names, stage="a/stage")
        out.write_text(str(back.num_rows), "utf-8")
        if fails and driver:
            fault()
        return {}

    monkeypatch.setattr(assets, "RETRIES", dg.RetryPolicy(max_retries=retries))
    stage = Stage("a/stage", ("artifacts/{profile}/a.txt",), run, "Counts to nine.", kinds=("spark",))
    result = dg.materialize(
        assets.assets_of({stage.name: stage}),
        resources={"workspace": WorkspaceResource()},
        raise_on_error=False,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
    return result, len(attempts)


def error_of(result: dg.ExecuteInProcessResult) -> str:
    """The error of the stage that failed, and its cause."""
    failure = result.failure_data_for_node("a_stage")
    assert failure
    assert failure.error
    return failure.error.message + (failure.error.cause.message if failure.error.cause else "")


def test_a_stage_that_lost_a_worker_is_run_again(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project()
    result, attempts = materialized(dies, 1, monkeypatch)
    assert result.success
    assert attempts == 2
    assert (root / "artifacts/sample/a.txt").read_text("utf-8") == "9"


def test_a_stage_that_loses_workers_each_time_fails(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project()
    result, attempts = materialized(dies, 9, monkeypatch)
    assert not result.success
    assert attempts == 2
    assert not (root / "artifacts/sample/a.txt").exists()


KILLED = """
import os, sys, threading, time
import psutil
from orchestration.spark.session import spark_session
from orchestration.spark.workers import NUMBER, gathered
from orchestration.settings import Spark
from substrate.base.errors import SubstrateError
import pyarrow as pa

def slow(row):
    time.sleep(60)
    return [row]

def kill():
    for process in psutil.Process().children():
        if process.name() == "java":
            process.kill()

session = spark_session(Spark())
schema = pa.schema([(NUMBER, pa.int64())])
threading.Timer(1, kill).start()
try:
    gathered(session, slow, schema, ["x"] * 9, stage="a/stage")
except SubstrateError as error:
    print(type(error).__name__, error, flush=True)
os._exit(0)
"""


def test_a_jvm_that_is_killed_is_named_and_ends_the_stage() -> None:
    """In a process of its own: PySpark gives a process no second JVM."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("SubstrateError a/stage: Spark's JVM has ended. Free memory")


def test_a_worker_without_memory_says_so_and_the_next_run_gives_the_result(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = make_project() / "artifacts/sample/a.txt"
    result, _ = materialized(starves, 9, monkeypatch, retries=0)
    assert "scene 4: a worker has not enough memory. Free some" in error_of(result)
    assert not out.exists()
    result, attempts = materialized(starves, 0, monkeypatch)
    assert result.success
    assert attempts == 1
    assert out.read_text("utf-8") == "9"


def test_a_driver_without_memory_says_so_and_the_next_run_gives_the_result(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = make_project() / "artifacts/sample/a.txt"
    result, attempts = materialized(starves, 9, monkeypatch, driver=True)
    assert "there is not enough memory" in error_of(result)
    assert attempts == 1
    assert not list(out.parent.iterdir())
    assert materialized(starves, 0, monkeypatch)[0].success
    assert out.read_text("utf-8") == "9"


def test_an_error_of_the_data_is_not_tried_again(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project()
    result, attempts = materialized(refuses, 1, monkeypatch)
    assert attempts == 1
    assert "FormatError: scene 4: names object 9. Declare it." in error_of(result)
