"""The pipeline on a cluster whose machines share one folder and nothing else: the same bytes, or an error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drive
import pyarrow as pa
import pytest
from projects import QUICK_JAVA, ROOT, enter
from spark_cluster import Machine, cluster, why_not

from orchestration.settings import Spark
from orchestration.spark.session import spark_session
from orchestration.spark.workers import NUMBER, PLACE, gathered
from substrate.base.errors import FormatError, SubstrateError

# The resources that a driver takes of a cluster.
SMALL = (
    "spark.config={spark.executor.memory: 512m, spark.cores.max: 3,"
    f' spark.executor.extraJavaOptions: "{QUICK_JAVA}"}}'
)
PATIENCE = 1800
MADE = pa.schema([(NUMBER, pa.int64()), ("scene", pa.string())])
PLACED = pa.schema([(NUMBER, pa.int64()), (PLACE, pa.int64())])


class Driver:
    """A driver that makes some benchmarks in a project, a case to a shard, with its tables in a storage."""

    def __init__(self, root: Path, storage: Path, *benchmarks: str, **environment: str) -> None:
        self.root, self.storage = root, storage
        storage.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(ROOT / "tests/support/drive.py"), f"storage={storage.as_uri()}"]
        if "SPARK_MASTER" in environment:
            command.append(SMALL)
        self.process = subprocess.Popen(
            [*command, "spark.shard=1", *benchmarks],
            cwd=root,
            env=inherited() | {"PYTHONPATH": str(ROOT)} | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lose(self, doomed: Machine, benchmark: str, shard: int) -> None:
        """Kill a machine once a shard of a benchmark's logs is there; several are to come."""
        try:
            while not list(self.storage.glob(f"sample/logs/{benchmark}/*/{shard:05}.parquet")):
                assert self.process.poll() is None, self.process.communicate()
                time.sleep(0.05)
            doomed.kill()
        except BaseException:
            self.process.kill()
            raise

    def end(self) -> tuple[int, str]:
        """Wait for the driver; return its exit code and standard error. After `PATIENCE` it is killed."""
        try:
            _, output = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
        return self.process.returncode, output


def inherited() -> dict[str, str]:
    """This environment, without anything that says where Spark runs."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")}
    return environment | {"SPARK_SUBMIT_OPTS": QUICK_JAVA}


def test_workers_that_see_only_the_storage_give_the_same_bytes_whatever_is_killed_in_the_middle(
    tmp_path: Path,
    small_project: Callable[..., Path],
    unchanged_project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if reason := why_not():
        pytest.skip(reason)
    storage = tmp_path / "shared"
    root = small_project(tmp_path / "projects/project")
    shutil.copytree(unchanged_project / "data", root / "data")
    # GQA's data are generated on the cluster, and compared too.
    shutil.rmtree(root / "data/sample/gqa")

    def require_same(*benchmarks: str) -> None:
        files = sorted(root.glob("artifacts/**/*.json*"))
        made = {str(file.relative_to(root)): file.read_bytes() for file in files}
        assert {f"artifacts/sample/{name}/answers.jsonl" for name in benchmarks} <= made.keys()
        assert all(made.values())
        assert [name for name in made if made[name] != (unchanged_project / name).read_bytes()] == []

    with cluster(tmp_path / "machines", (ROOT, root.parent)) as machines:
        # A server of Spark Connect is lost, and named.
        address, server = machines.start_server("connect")
        driver = Driver(root, storage, "clevrer", "twin", SPARK_REMOTE=address)
        driver.lose(server, "twin", 1)
        code, errors = driver.end()
        assert code
        assert address.removeprefix("sc://") in errors
        require_same("clevrer")

        # The next run goes on. A killed worker changes no byte; then the master is killed, and named.
        doomed = machines.workers[0]
        driver = Driver(root, storage, "gqa", "twin", "babi", SPARK_MASTER=machines.master)
        driver.lose(doomed, "twin", 4)
        driver.lose(machines.leader, "babi", 2)
        code, errors = driver.end()
        assert list(doomed.log.parent.glob("work/app-*")), "the worker has no part in it"
        assert code
        assert machines.master.removeprefix("spark://") in errors
        require_same("gqa", "twin")
        assert len(list((root / ".dagster/spark-events").iterdir())) == 1
        made, first = (project / "data/sample/gqa" for project in (root, unchanged_project))
        assert {file.name: file.read_bytes() for file in made.iterdir()} == {
            file.name: file.read_bytes() for file in first.iterdir()
        }
    enter(root, monkeypatch)
    monkeypatch.setattr(sys, "argv", ["drive.py", f"storage={storage.as_uri()}", "spark.shard=1", "babi"])
    drive.main()
    require_same("clevrer", "gqa", "twin", "babi")


def local_rows(work: Callable[[dict[str, Any]], Any], schema: pa.Schema = MADE, count: int = 9) -> pa.Table:
    """A function over some numbers on this machine."""
    names = [f"scene {number}" for number in range(count)]
    return gathered(spark_session(Spark()), work, schema, names, stage="a/stage")


def test_a_case_that_a_task_drops_is_named() -> None:
    def drops(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [] if row[NUMBER] == 4 else [{NUMBER: row[NUMBER], "scene": ""}]

    with pytest.raises(SubstrateError, match="a/stage: 1 of 9 did not come back, scene 4 first"):
        local_rows(drops)


def test_a_case_that_comes_twice_is_named() -> None:
    def doubles(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [{NUMBER: row[NUMBER], "scene": ""}] * (2 if row[NUMBER] == 4 else 1)

    with pytest.raises(SubstrateError, match="1 of 9 came back twice, scene 4 first"):
        local_rows(doubles)


def test_a_case_that_nobody_asked_for_is_named() -> None:
    def strays(row: dict[str, Any]) -> list[dict[str, Any]]:
        return [{NUMBER: row[NUMBER], PLACE: 0}, {NUMBER: row[NUMBER] + 1, PLACE: 1}]

    with pytest.raises(SubstrateError, match="came back without a request, number 9 first"):
        local_rows(strays, PLACED)


def test_an_error_in_a_batch_is_the_error_it_was() -> None:
    def fails(row: dict[str, Any]) -> list[dict[str, Any]]:
        if row[NUMBER] == 4:
            raise FormatError("names object 9", where=("scene 4", "$.collision[0]"), hint="Declare it")
        return [{NUMBER: row[NUMBER], "scene": ""}]

    with pytest.raises(FormatError) as caught:
        local_rows(fails)
    assert str(caught.value) == "scene 4: $.collision[0]: names object 9. Declare it."


def test_any_other_error_says_its_type_its_case_and_where_it_was_raised() -> None:
    def breaks(row: dict[str, Any]) -> list[dict[str, Any]]:
        if row[NUMBER] == 4:
            raise KeyError("velocity")
        return [{NUMBER: row[NUMBER], "scene": ""}]

    with pytest.raises(SubstrateError, match="scene 4: KeyError: 'velocity'") as caught:
        local_rows(breaks)
    traceback = str(caught.value.__cause__)
    assert "in breaks" in traceback
    assert "org.apache.spark" not in traceback
