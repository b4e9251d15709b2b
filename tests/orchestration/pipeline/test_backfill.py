"""A shard is a partition of a job: its run computes that shard alone, and the stage keeps it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from orchestration.definitions import defs
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.run import instance, run_stages
from substrate.base.errors import ParameterError


def test_a_shard_is_computed_by_a_run_of_its_own(make_project: Callable[..., Path]) -> None:
    root = make_project()
    home = instance(root)
    run_stages(["gqa/dataset", "gqa/logs"], WorkspaceResource(), lambda: home)
    files = sorted((root / "storage/sample/logs/gqa").rglob("*.parquet"))
    index = root / "artifacts/sample/gqa/logs/index.jsonl"
    expected = [file.read_bytes() for file in files], index.read_bytes()
    offered = [f"sample/gqa/logs/{file.stem}" for file in files]
    assert len(offered) > 1
    assert sorted(home.get_dynamic_partitions("shards")) == offered

    for lost in (*files, index):
        lost.unlink()
    assert backfilled(offered[1], home).success
    assert [file for file in files if file.exists()] == [files[1]]
    assert files[1].read_bytes() == expected[0][1]

    before = files[1].stat().st_mtime_ns
    run_stages(["gqa/logs"], WorkspaceResource(), lambda: home)
    assert ([file.read_bytes() for file in files], index.read_bytes()) == expected
    assert files[1].stat().st_mtime_ns == before

    run_stages(["gqa/logs"], WorkspaceResource(overrides=["spark.partitions=1"], force=True), lambda: home)
    assert home.get_dynamic_partitions("shards") == [offered[0]]
    with pytest.raises(ParameterError, match=r"sample/gqa/logs/00099: is no shard\. Its table has"):
        backfilled("sample/gqa/logs/00099", home)


def backfilled(shard: str, home: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    home.add_dynamic_partitions("shards", [shard])
    return defs.resolve_job_def("backfill_shards").execute_in_process(partition_key=shard, instance=home)
