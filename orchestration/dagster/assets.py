"""Stages as Dagster's assets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from orchestration.base.progress import advance, ended, logging_to, task_figures
from orchestration.benchmarks.benchmark import BEYOND, Source
from orchestration.dagster.previews import preview
from orchestration.dagster.resources import WorkspaceResource
from orchestration.experiments.making import take_needs
from orchestration.ledger.manifest import version_of
from orchestration.ledger.records import fingerprint, keep_records, read_records
from orchestration.registry import BENCHMARKS
from orchestration.spark.session import LostError, leave_session
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.stages.standing import standing
from orchestration.workspace.folders import Workspace
from substrate.base.files import clear_leftovers, replacing

OWNERS = ["team:reproduction"]
RESULTS = "results"
APART = BEYOND
"""The group of the stages on data that the paper's profiles do not have."""
_CHANGED: Any = (
    dg.AutomationCondition.missing().newly_true()
    | dg.AutomationCondition.code_version_changed()
    | dg.AutomationCondition.any_deps_match(dg.AutomationCondition.data_version_changed())
)
STALE: dg.AutomationCondition[Any] = (
    _CHANGED.since_last_handled()
    & ~dg.AutomationCondition.any_deps_missing()
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.in_progress()
).with_label("its code or its inputs changed")
"""A stage is stale if Dagster sees a change; its run still skips it if the ledger knows its inputs."""
RETRIES = dg.RetryPolicy(max_retries=2, delay=10, backoff=dg.Backoff.EXPONENTIAL)
"""The retries after a lost worker or lost Spark: after 10 s, then after 30 s."""


def asset_key(stage: str) -> dg.AssetKey:
    """Return the key of a stage's asset."""
    return dg.AssetKey(stage.split("/"))


def group_of(stage: Stage) -> str:
    """Return the group of a stage in the UI: the benchmark whose data it measures, or the results.

    A benchmark's group reads no other group, so a single line leads from its box to the results. Stages on
    data beyond the paper's share a box, because a screen has room for eight.
    """
    benchmarks = [BENCHMARKS.get(name.partition("/")[0]) for name in (stage.name, *stage.needs)]
    groups = {_box(benchmark.source) if benchmark else RESULTS for benchmark in benchmarks}
    return groups.pop() if len(groups) == 1 else RESULTS


def _box(source: Source) -> str:
    return APART if source.profiles else source.name


def tags_of(stage: Stage) -> dict[str, str]:
    """Return the search tags of a stage: its step and, if it belongs to a benchmark, the benchmark.

    >>> from orchestration.stages.graph import STAGES
    >>> [tags_of(STAGES[name]) for name in ("babi/scores", "tables/clevrer", "tables/transfer")]
    [{'step': 'scores', 'benchmark': 'babi'}, {'step': 'tables', 'benchmark': 'clevrer'}, {'step': 'tables'}]
    """
    first, _, second = stage.name.partition("/")
    of, step = (first, second) if first in BENCHMARKS else (second, first)
    return {"step": step, **({"benchmark": of} if of in BENCHMARKS else {})}


def asks_a_model(stage: Stage) -> bool:
    """Tell whether a stage sends requests to a language model; only a person may start such a stage."""
    benchmark = BENCHMARKS.get(stage.benchmark)
    return bool(benchmark and benchmark.by_model and stage.name.endswith("/dataset"))


def lines_to(stages: Stages, stage: Stage, among: Collection[str]) -> list[str]:
    """Return the stages that the graph links to a stage: its input stages that no other path implies.

    A line that a longer path implies adds nothing to the order and hides other lines: every scores stage
    also reads the dataset, and the report reads fifty stages.

    Args:
        among: the stages of a run. A path through other stages implies no order, as no run waits for them.
    """
    implied: set[str] = set()
    todo = list(stage.needs)
    while todo:
        need = stages[todo.pop()]
        further = set(need.needs if need.name in among else ()) - implied
        implied |= further
        todo += further
    return [need for need in stage.needs if need not in implied]


def assets_of(
    stages: Stages, among: Collection[str] | None = None, of: Callable[[Workspace], Stages] | None = None
) -> list[dg.AssetsDefinition]:
    """Make an asset of each stage.

    A stage is skipped, and says so, if its code, parameters, inputs and outs are unchanged.

    Args:
        among: the stages of the run, if known; only they become assets, ordered without the others.
        of: returns the stages of a run's profile, if they are fewer than ``stages``.
    """
    return [_asset(stages, stages[name], among or stages, of) for name in among or stages]


def _asset(
    every: Stages, declared: Stage, among: Collection[str], of: Callable[[Workspace], Stages] | None
) -> dg.AssetsDefinition:
    @dg.asset(
        key=asset_key(declared.name),
        deps=[asset_key(need) for need in lines_to(every, declared, among)],
        group_name=group_of(declared),
        tags=tags_of(declared),
        # The graph shows only the last part of a node's key, so the kind below it names the benchmark.
        kinds={declared.benchmark, *declared.kinds},
        metadata={"reads": list(declared.needs)},
        description=declared.about,
        owners=OWNERS,
        code_version=version_of(declared.code),
        retry_policy=RETRIES if "spark" in declared.kinds else None,
        automation_condition=None if asks_a_model(declared) else STALE,
    )
    def materialize(workspace: WorkspaceResource) -> dg.MaterializeResult[Any]:
        opened, log = workspace.open(), dg.AssetExecutionContext.get().log.info
        stages = of(opened) if of else every
        stage = stages.get(declared.name)
        if stage is None:
            return dg.MaterializeResult(metadata={"skipped": f"not of profile {opened.settings.profile}"})
        paths = [opened.path(out) for out in stage.outs]
        inputs = [opened.path(out) for out in inputs_of(stages, stage)]
        advance(stage.name, 0, 1)
        for path in paths:
            clear_leftovers(path)
        metadata: dict[str, Any] = {}
        if opened.experiment:
            take_needs(stages, stage, opened)
            metadata["experiment"] = opened.experiment.name
        known = read_records(opened).get(stage.name)
        state = standing(stages, stage, opened, known, force=workspace.force)
        before = state.made
        if state.why:
            log(f"{stage.name}: {state.how or 'computed again'}: {state.why}")
        if state.how:
            metadata[state.how] = state.why
        else:
            with ExitStack() as stack:
                stack.enter_context(logging_to(log))
                stack.enter_context(_again_where_lost([path for path in inputs if not path.exists()]))
                figures = stack.enter_context(task_figures())
                made = stage.run(opened, *(stack.enter_context(replacing(path)) for path in paths))
            before = fingerprint(stages, stage, opened)
            before = msgspec.structs.replace(before, explained=state.explained(before))
            metadata |= {**made, **figures}
        if "skipped" not in metadata:
            keep_records(opened, {stage.name: before})
        advance(stage.name, 1, 1)
        version = hashlib.sha256("".join(before.outs.values()).encode()).hexdigest()
        of_run = {"profile": opened.settings.profile, "parameters": before.parameters, "files": before.outs}
        entries = {**preview(paths), **metadata, **of_run}
        ended(stage.name, entries)
        return dg.MaterializeResult(metadata=entries, data_version=dg.DataVersion(version))

    return materialize


@contextmanager
def _again_where_lost(lacking: Sequence[Path]) -> Iterator[None]:
    """Retry a step only after a lost worker or connection, because any other error would recur.

    Args:
        lacking: the inputs that do not exist.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, LostError):
            leave_session()
            raise
        why = str(error)
        if isinstance(error, MemoryError):
            why = "there is not enough memory"
        elif lacking and isinstance(error, FileNotFoundError):
            why = f"{lacking[0]} is not there. `substrate reproduce` runs the stages that others need first"
        raise dg.Failure(why, allow_retries=False) from error
