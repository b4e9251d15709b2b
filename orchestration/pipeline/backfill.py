"""A run for a shard: the shards of logs and answers are partitions of a job, so a backfill can choose some.

How many shards a table has is known once its cases are counted, so a stage adds them when it begins. A shard
that such a run computes is kept as one of the stage's own is, and the stage goes on with the others.
"""

from __future__ import annotations

from functools import partial

import dagster as dg

from orchestration.pipeline.cases import Parts, answer_parts, log_parts, write_parts
from orchestration.pipeline.form import EMPTY
from orchestration.pipeline.progress import logging_to, task_figures
from orchestration.pipeline.resources import ALONE, WorkspaceResource
from orchestration.registry import INTERPRETED, LOGGERS
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError

SHARDS = dg.DynamicPartitionsDefinition(name="shards")
"""A partition is called ``PROFILE/BENCHMARK/STEP/SHARD``, such as ``sample/gqa/logs/00003``."""
_TABLES = {
    **{f"{name}/logs": partial(log_parts, logger=logger) for name, logger in LOGGERS.items()},
    **{f"{name}/answers": partial(answer_parts, benchmark=one) for name, one in INTERPRETED.items()},
}
"""The stages whose shards are partitions, each with what gives their table."""


def keep_shards(instance: dg.DagsterInstance, profile: str, stage: str, count: int) -> None:
    """Let the partitions of a stage be the shards that its table has now."""
    if stage not in _TABLES:
        return
    wanted = dict.fromkeys(f"{profile}/{stage}/{place:05d}" for place in range(count))
    known = {
        key
        for key in SHARDS.get_partition_keys(dynamic_partitions_store=instance)
        if _of(key, profile, stage)
    }
    for key in sorted(known - wanted.keys()):
        instance.delete_dynamic_partition(str(SHARDS.name), key)
    if fresh := [key for key in wanted if key not in known]:
        instance.add_dynamic_partitions(str(SHARDS.name), fresh)


def _of(key: str, profile: str, stage: str) -> bool:
    return key.rpartition("/")[0] == f"{profile}/{stage}"


def _parsed(key: str) -> tuple[str, str, str]:
    """The profile, the stage and the shard of a partition.

    >>> _parsed("sample/gqa/logs/00003")
    ('sample', 'gqa/logs', '00003')
    """
    rest, _, shard = key.rpartition("/")
    profile, _, stage = rest.partition("/")
    return profile, stage, shard


def parts_of_shard(workspace: Workspace, key: str) -> tuple[str, Parts, int]:
    """The stage of a partition, its table, and the place of the shard in it.

    Raises:
        ParameterError: there is no such stage, or no such shard.
    """
    _, stage, shard = _parsed(key)
    if stage not in _TABLES:
        raise ParameterError(
            "is no shard", where=(key,), hint="Write PROFILE/BENCHMARK/logs/00000, or answers"
        )
    table = _TABLES[stage](workspace, stage=stage)
    parts: Parts = table[1]
    if not shard.isdecimal() or int(shard) >= parts.count:
        hint = f"Its table has {parts.count} shards, 00000 the first"
        raise ParameterError("is no shard", where=(key,), hint=hint)
    return stage, parts, int(shard)


@dg.op(
    description="Compute a shard of logs or answers, if it is not there, and keep it for the stage.",
    out=dg.Out(dg.Nothing),
)
def compute_shard(workspace: WorkspaceResource) -> None:
    """A shard, as a step."""
    opened, context = workspace.open(), dg.OpExecutionContext.get()
    with logging_to(context.log.info), task_figures() as figures:
        _, parts, place = parts_of_shard(opened, context.partition_key)
        write_parts(opened.settings.spark, parts, place)
    context.add_output_metadata({"file": f"{parts.folder}/{parts.name(place)}", **figures})


def _config(key: str) -> dict[str, object]:
    """The run configuration of a partition: the launch form with its profile."""
    return {"resources": {"workspace": {"config": {"profile": _parsed(key)[0], **EMPTY}}}}


@dg.job(
    config=dg.PartitionedConfig(SHARDS, run_config_for_partition_key_fn=_config),
    executor_def=ALONE,
    description="A shard of a benchmark's logs or answers: a backfill gives each that is chosen a run. "
    "A stage adds its shards when it begins, and keeps what such runs compute",
)
def backfill_shards() -> None:
    """Compute a shard."""
    compute_shard()
