"""An executor of several stages at a time, in threads of one process that share its Spark session.

Dagster decides what runs when, as for its own executors: by what each step needs, priorities, limits and
retries. Dagster's multiprocess executor would give each step an interpreter, the definitions and, without a
Connect server, a JVM: 3 to 20 s of processor time, where most stages take less.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Any

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.errors import DagsterExecutionInterruptedError
from dagster._core.events import DagsterEvent, EngineEventData
from dagster._core.execution.api import ExecuteRunWithPlanIterable
from dagster._core.execution.compute_logs import create_compute_log_file_key
from dagster._core.execution.context.system import (
    PlanExecutionContext,
    PlanOrchestrationContext,
    StepExecutionContext,
)
from dagster._core.execution.context_creation_job import PlanExecutionContextManager
from dagster._core.execution.execute_in_process import core_execute_in_process
from dagster._core.execution.plan.active import _default_sort_key
from dagster._core.execution.plan.execute_plan import dagster_event_sequence_for_step
from dagster._core.execution.plan.instance_concurrency_context import InstanceConcurrencyContext
from dagster._core.execution.plan.plan import ExecutionPlan
from dagster._core.execution.plan.step import ExecutionStep
from dagster._core.execution.retries import RetryMode
from dagster._core.executor.in_process import InProcessExecutor

from orchestration.pipeline.spark import stop_jobs

AT_ONCE = 2
"""The number of stages under way: one keeps Spark's workers busy while the other is at work in the driver."""
ON_SPARK = {"engine": "spark"}
"""The tag of a step whose work is Spark's. While one runs, the driver's own steps come first; while none
does, one of Spark's.
"""
_LOOK = 1.0
"""The seconds between two looks for an interrupt, and for steps that wait to be tried again."""

Told = tuple[str, DagsterEvent | BaseException, bool]
"""The key of a step, an event of it or the error that broke it off, and true where nothing follows."""


class Threads(InProcessExecutor):
    """Dagster's executor in process, with :data:`AT_ONCE` steps at a time."""

    def execute(
        self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan
    ) -> Iterator[DagsterEvent]:
        """Run the steps of a plan, and give their events as they come."""
        here = EngineEventData.in_process(os.getpid(), execution_plan.step_keys_to_execute)
        said = f"Executing up to {AT_ONCE} steps at a time in process (pid: {os.getpid()})"
        yield DagsterEvent.engine_event(plan_context, said, event_specific_data=here)
        yield from ExecuteRunWithPlanIterable(
            execution_plan=plan_context.execution_plan,
            iterator=_events,
            execution_context_manager=PlanExecutionContextManager(
                job=plan_context.job,
                retry_mode=plan_context.retry_mode,
                execution_plan=plan_context.execution_plan,
                run_config=plan_context.run_config,
                dagster_run=plan_context.dagster_run,
                instance=plan_context.instance,
                raise_on_error=plan_context.raise_on_error,
                output_capture=plan_context.output_capture,
                step_dependency_config=self.step_dependency_config,
            ),
        )
        said = f"Finished steps in process (pid: {os.getpid()})"
        yield DagsterEvent.engine_event(plan_context, said, event_specific_data=here)


@dg.executor(name="threads", config_schema={})
def threads(_: Any) -> Threads:
    """Steps that do not need each other run two at a time, in one process and on one Spark session."""
    return Threads(retries=RetryMode.ENABLED)


def execute(
    job: dg.JobDefinition, where: dg.DagsterInstance | None, run_config: Mapping[str, Any]
) -> dg.ExecuteInProcessResult:
    """Run a job in this process with the executor that it names; errors of stages are in the result.

    `JobDefinition.execute_in_process` does this with an executor of its own, which runs a step at a time.
    """
    return core_execute_in_process(
        job=InMemoryJob(job),
        instance=where,
        raise_on_error=False,
        run_config=run_config,
        output_capturing_enabled=False,
    )


def _events(job_context: PlanExecutionContext, execution_plan: ExecutionPlan) -> Iterator[DagsterEvent]:
    told: SimpleQueue[Told] = SimpleQueue()
    running: dict[str, bool] = {}  # with whether it is Spark's

    def turn(step: ExecutionStep) -> float:
        # Else what is short, and gathers at the end of the graph, would be left to one core there.
        return 2 * _default_sort_key(step) + (_is_sparks(step) == any(running.values()))

    logs = job_context.instance.compute_log_manager
    log_key = logs.build_log_key_for_run(job_context.run_id, create_compute_log_file_key())
    with (
        InstanceConcurrencyContext(job_context.instance, job_context.dagster_run) as slots,
        execution_plan.start(
            retry_mode=job_context.retry_mode,
            sort_key_fn=turn,
            max_concurrent=AT_ONCE,
            instance_concurrency_context=slots,
            step_dependency_config=job_context.step_dependency_config,
        ) as active,
        logs.capture_logs(log_key) as captured,
        ThreadPoolExecutor(AT_ONCE, "step") as pool,
    ):
        keys = [step.key for step in execution_plan.get_steps_to_execute_in_topo_order()]
        yield DagsterEvent.capture_logs(job_context, keys, log_key, captured)
        while not active.is_complete:
            if active.check_for_interrupts():
                active.mark_interrupted()
                stop_jobs()
                raise DagsterExecutionInterruptedError
            while steps := active.get_steps_to_execute(limit=1):
                (step,) = steps
                running[step.key] = _is_sparks(step)
                context = job_context.for_step(step, active.get_known_state())
                pool.submit(copy_context().run, _follow, context, told)
            yield from active.concurrency_event_iterator(job_context)
            with suppress(Empty):
                key, event, last = told.get(timeout=_LOOK if running else max(0.0, active.sleep_interval()))
                if isinstance(event, BaseException):
                    raise event
                yield event
                active.handle_event(event)
                if last:
                    del running[key]
                    active.verify_complete(job_context, key)
                    # Steps that are skipped or given up, because of what failed before them.
                    yield from active.plan_events_iterator(job_context)


def _is_sparks(step: ExecutionStep) -> bool:
    return ON_SPARK.items() <= step.tags.items()


def _follow(context: StepExecutionContext, told: SimpleQueue[Told]) -> None:
    """Run a step, and tell of its events.

    The last one is told when the step is over: it may be that the step is to be tried again.
    """
    key = context.step.key
    try:
        events = dagster_event_sequence_for_step(context)
        before = next(events)
        for event in events:
            told.put((key, before, False))
            before = event
    except BaseException as error:  # raised again where the run is
        told.put((key, error, True))
    else:
        told.put((key, before, True))
