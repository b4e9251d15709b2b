"""Stages as Dagster's assets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.base.progress import ended
from orchestration.dagster.keys import asset_key, group_of, is_apart, recorded_key, tags_of
from orchestration.dagster.previews import preview
from orchestration.dagster.resources import WorkspaceResource
from orchestration.ledger.manifest import version_of
from orchestration.spark.errors import LostError
from orchestration.spark.session import leave_session
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.stages.making import make
from orchestration.workspace.folders import Workspace

_CHANGED: Any = dg.AutomationCondition.code_version_changed() | dg.AutomationCondition.any_deps_match(
    dg.AutomationCondition.data_version_changed()
)
# The condition on which Dagster runs a stage by itself. The run skips it if the ledger has its inputs.
STALE: dg.AutomationCondition[Any] = (
    dg.AutomationCondition.eager()
    .replace("any_deps_updated", _CHANGED)
    .with_label("its code or its inputs changed")
)
# The retries after a lost worker or lost Spark. Dagster waits (2^n - 1) x delay: 10 s, then 30 s.
RETRIES = dg.RetryPolicy(max_retries=2, delay=10, backoff=dg.Backoff.EXPONENTIAL)

StagesOfRun = Callable[[Workspace], Stages] | None


def assets_of(
    stages: Stages, among: Collection[str] | None = None, stages_of_run: StagesOfRun = None
) -> list[dg.AssetsDefinition]:
    """Make an asset of each stage.

    A stage is skipped, and says so, if its code, parameters, inputs and outs are unchanged.

    Args:
        among: the stages of the run, if known; only they become assets.
        stages_of_run: from a run's workspace to the stages of its profile. In the UI, ``stages`` are those of
            every profile, and a run skips the assets that its profile lacks. A command knows its stages, and
            gives none.
    """
    return [_asset(stages, stages[name], stages_of_run) for name in (stages if among is None else among)]


def _asset(every: Stages, declared: Stage, stages_of_run: StagesOfRun) -> dg.AssetsDefinition:
    @dg.asset(
        key=asset_key(declared.name, declared.profile),
        deps=[asset_key(need, declared.profile) for need in declared.needs],
        group_name=group_of(declared),
        tags=tags_of(declared),
        kinds={declared.benchmark, *declared.kinds},
        description=declared.about,
        owners=["team:reproduction"],
        code_version=version_of(declared.code),
        retry_policy=RETRIES if "spark" in declared.kinds else None,
        # Only a person may start a stage that sends requests to a language model.
        automation_condition=None if declared.asks_server else STALE,
    )
    def materialize(workspace: WorkspaceResource) -> dg.MaterializeResult[Any]:
        context, opened = dg.AssetExecutionContext.get(), workspace.open()
        stages, profile = stages_of_run(opened) if stages_of_run else every, opened.settings.profile
        stage = stages.get(declared.name)
        if stage is None or (stages_of_run and asset_key(declared.name, profile) != context.asset_key):
            return dg.MaterializeResult(metadata={"skipped": f"not of profile {profile}"})
        with _again_where_lost([opened.path(path) for path in inputs_of(stages, stage)]):
            made, metadata = make(stages, stage, opened, context.log.info, force=workspace.force)
        report = opened.artifacts.relative_to(opened.root) / "report" if not opened.scratch else None
        shown = preview([opened.path(out) for out in stage.outs], report)
        entries = {**shown, **metadata, "profile": profile, "parameters": made.parameters, "files": made.outs}
        ended(stage.name, entries)
        if is_apart(opened):  # another profile or an experiment, whose results have keys of their own
            key = recorded_key(stage.name, opened)
            context.log_event(dg.AssetMaterialization(key, metadata=entries, description=declared.about))
        version = hashlib.sha256("".join(made.outs.values()).encode()).hexdigest()
        return dg.MaterializeResult(metadata=entries, data_version=dg.DataVersion(version))

    return materialize


@contextmanager
def _again_where_lost(inputs: Sequence[Path]) -> Iterator[None]:
    """Retry a step only after a lost worker or connection, because any other error would recur.

    Args:
        inputs: the files that the step reads.
    """
    try:
        yield
    except LostError:
        leave_session()
        raise
    except Exception as error:
        why, lacking = str(error), [path for path in inputs if not path.exists()]
        if isinstance(error, MemoryError):
            why = "there is not enough memory"
        elif lacking and isinstance(error, FileNotFoundError):
            why = f"{lacking[0]} is not there. `substrate reproduce` runs the stages that others need first"
        raise dg.Failure(why, allow_retries=False) from error
