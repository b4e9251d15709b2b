"""Two stages at a time, in one process: what runs, what fails, what is told, and an end that is asked for."""

from __future__ import annotations

import os
import signal
from threading import Barrier, Event
from typing import Any

import dagster as dg
import pytest
from dagster._core.events import JobFailureData, RunFailureReason

from orchestration.pipeline.executor import ON_SPARK, execute, threads
from orchestration.pipeline.progress import advance, watching

PATIENCE = 60


def _run(*assets: dg.AssetsDefinition) -> dg.ExecuteInProcessResult:
    job = dg.define_asset_job("made", executor_def=threads)
    found = dg.Definitions(assets=assets, jobs=[job]).resolve_job_def("made")
    with dg.DagsterInstance.ephemeral() as instance:
        return execute(found, instance, {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}})


def _steps(result: dg.ExecuteInProcessResult, kind: str) -> list[str]:
    return [str(event.step_key) for event in result.all_events if event.event_type_value == kind]


def test_what_needs_no_other_runs_at_once_and_is_told_to_who_watches() -> None:
    both, told = Barrier(2, timeout=PATIENCE), list[str]()

    @dg.asset
    def first() -> None:
        advance("first", 1, 1)
        both.wait()

    @dg.asset
    def second() -> None:
        advance("second", 1, 1)
        both.wait()

    @dg.asset(deps=[first, second])
    def last() -> None:
        assert sorted(told) == ["first", "second"]

    with watching(lambda stage, *_: told.append(stage)):
        result = _run(first, second, last)
    assert result.success
    assert sorted(_steps(result, "STEP_SUCCESS")) == ["first", "last", "second"]
    assert _steps(result, "STEP_SUCCESS")[-1] == "last"


def test_beside_sparks_work_the_drivers_own_goes_on() -> None:
    """The driver's steps are not left to the end: they run while the first of Spark's does."""
    started = list[str]()
    ended = Event()

    def step(name: str, tags: dict[str, str] | None, after: list[dg.AssetsDefinition]) -> dg.AssetsDefinition:
        @dg.asset(name=name, op_tags=tags, deps=after)
        def made() -> None:
            started.append(name)
            if name == "a_spark":
                assert ended.wait(PATIENCE)
            if name == "z_score":
                ended.set()

        return made

    first = step("a_spark", ON_SPARK, [])
    others = [step(f"b_spark_{number}", ON_SPARK, []) for number in range(3)]
    data = step("y_data", None, [])
    result = _run(first, *others, data, step("z_score", None, [data]))
    assert result.success
    assert started[:3] == ["a_spark", "y_data", "z_score"]


def test_what_fails_takes_along_what_needs_it_and_no_more() -> None:
    failed = Event()

    @dg.asset
    def fails() -> None:
        failed.set()
        raise dg.Failure("no data", allow_retries=False)

    @dg.asset(deps=[fails])
    def needs_it() -> None:
        raise AssertionError

    @dg.asset(retry_policy=dg.RetryPolicy(max_retries=1))
    def needs_nothing() -> dg.MaterializeResult[Any]:
        assert failed.wait(PATIENCE)
        tries.append("a")
        if len(tries) < 2:
            raise ConnectionError
        return dg.MaterializeResult()

    tries = list[str]()
    result = _run(fails, needs_it, needs_nothing)
    assert not result.success
    assert _steps(result, "STEP_FAILURE") == ["fails"]
    assert _steps(result, "STEP_RESTARTED") == ["needs_nothing"]
    assert _steps(result, "STEP_SUCCESS") == ["needs_nothing"]


def test_a_run_that_is_interrupted_begins_no_further_stage() -> None:
    @dg.asset
    def interrupted() -> None:
        os.kill(os.getpid(), signal.SIGINT)  # as Dagster ends a run of the UI

    @dg.asset(deps=[interrupted])
    def after() -> None:
        raise AssertionError

    result = _run(interrupted, after)
    assert not result.success
    assert "after" not in _steps(result, "STEP_START")
    failure = result.all_events[-1].event_specific_data
    assert isinstance(failure, JobFailureData)
    assert failure.failure_reason == RunFailureReason.UNEXPECTED_TERMINATION


@pytest.fixture(autouse=True)
def _interrupts_as_before() -> Any:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)
