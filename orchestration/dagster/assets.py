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
from orchestration.benchmarks.benchmark import BEYOND
from orchestration.dagster.previews import preview
from orchestration.dagster.resources import WorkspaceResource, box_of, is_apart
from orchestration.experiments.experiment import take_needs
from orchestration.ledger.manifest import version_of
from orchestration.ledger.records import fingerprint, keep_records, read_records
from orchestration.registry import BENCHMARKS, SOURCES, STUDIES
from orchestration.spark.session import LostError, leave_session
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.stages.graph import ELSEWHERE, home_of
from orchestration.stages.standing import standing
from orchestration.workspace.folders import Workspace
from substrate.base.files import clear_leftovers, replacing

OWNERS = ["team:reproduction"]
RESULTS = "results"
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
"""The condition on which Dagster runs a stage by itself. The run skips it if the ledger has its inputs."""
RETRIES = dg.RetryPolicy(max_retries=2, delay=10, backoff=dg.Backoff.EXPONENTIAL)
"""The retries after a lost worker or lost Spark: after 10 s, then after 30 s."""


def asset_key(stage: str, profile: str = "") -> dg.AssetKey:
    """Return the key of a stage's asset.

    Args:
        profile: the profile of a run; a stage that reads other stages there has an asset of its own.
    """
    return dg.AssetKey([profile, box_of(stage)] if f"{profile}/{stage}" in ELSEWHERE else box_of(stage))


def recorded_key(stage: str, workspace: Workspace) -> dg.AssetKey:
    """Return the key that a run records a stage under: the asset's own in its usual profile.

    The history of an asset is that of its usual profile. An experiment, and another profile, have keys of
    their own, so that their values never stand among the pinned ones.
    """
    if workspace.experiment:
        return dg.AssetKey(["experiments", workspace.experiment.name, box_of(stage)])
    profile = workspace.settings.profile
    return asset_key(stage) if profile == home_of(stage) else dg.AssetKey([profile, box_of(stage)])


def group_of(stage: Stage) -> str:
    """Return the group of a stage in the UI: its study, its benchmark's family, or the results.

    Sources whose names begin with the same word are a family. A language model's stages are a group beside
    it, since many models may answer.

    >>> from orchestration.stages.graph import EVERY
    >>> [group_of(EVERY[name]) for name in ("clevrer/scores", "ablations/scores", "twin_direct/answers")]
    ['clevrer', 'ablations', 'twin_models']
    """
    if stage.profile:
        return f"{RESULTS}_{stage.profile}"
    first = stage.name.partition("/")[0]
    if first in {study.name for study in STUDIES}:
        return first
    benchmark = BENCHMARKS.get(first)
    source = benchmark.source.name if benchmark else first
    if source not in SOURCES:
        return RESULTS
    family = source.partition("_")[0]
    family = family if family in SOURCES else source
    if benchmark and benchmark.by_model:
        family += f"_models_{BEYOND}" if home_of(stage.name) == BEYOND else "_models"
    return family


def tags_of(stage: Stage) -> dict[str, str]:
    """Return the search tags of a stage: its step and, if it belongs to a benchmark, the benchmark.

    >>> from orchestration.stages.graph import STAGES
    >>> [tags_of(STAGES[name]) for name in ("babi/scores", "tables/clevrer", "tables/transfer")]
    [{'step': 'scores', 'benchmark': 'babi'}, {'step': 'tables', 'benchmark': 'clevrer'}, {'step': 'tables'}]
    """
    first, _, second = stage.name.partition("/")
    of, step = (first, second) if first in BENCHMARKS else (second, first)
    return {"step": step, **({"benchmark": of} if of in BENCHMARKS else {})}


def assets_of(
    stages: Stages, among: Collection[str] | None = None, of: Callable[[Workspace], Stages] | None = None
) -> list[dg.AssetsDefinition]:
    """Make an asset of each stage.

    A stage is skipped, and says so, if its code, parameters, inputs and outs are unchanged.

    Args:
        among: the stages of the run, if known; only they become assets.
        of: returns the stages of a run's profile, if they are fewer than ``stages``.
    """
    return [_asset(stages, stages[name], of) for name in among or stages]


def _asset(every: Stages, declared: Stage, of: Callable[[Workspace], Stages] | None) -> dg.AssetsDefinition:
    @dg.asset(
        key=asset_key(declared.name, declared.profile),
        deps=[asset_key(need, declared.profile) for need in declared.needs],
        group_name=group_of(declared),
        tags=tags_of(declared),
        kinds={declared.benchmark, *declared.kinds},
        description=declared.about,
        owners=OWNERS,
        code_version=version_of(declared.code),
        retry_policy=RETRIES if "spark" in declared.kinds else None,
        # Only a person may start a stage that sends requests to a language model.
        automation_condition=None if declared.asks else STALE,
    )
    def materialize(workspace: WorkspaceResource) -> dg.MaterializeResult[Any]:
        context, opened = dg.AssetExecutionContext.get(), workspace.open()
        log = context.log.info
        stages = of(opened) if of else every
        stage, profile = stages.get(declared.name), opened.settings.profile
        if stage is None or (of and asset_key(declared.name, profile) != context.asset_key):
            return dg.MaterializeResult(metadata={"skipped": f"not of profile {profile}"})
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
        report = opened.artifacts.relative_to(opened.root) / "report" if not opened.scratch else None
        entries = {**preview(paths, report), **metadata, **of_run}
        ended(stage.name, entries)
        if is_apart(opened):
            key = recorded_key(stage.name, opened)
            context.log_event(dg.AssetMaterialization(key, metadata=entries, description=declared.about))
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
