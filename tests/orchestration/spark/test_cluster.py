"""The pipeline on a cluster whose machines share one folder and nothing else: the same bytes, or an error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from projects import QUICK_JAVA, ROOT
from spark_cluster import Cluster, Machine, cluster, why_not

from orchestration.settings import Spark
from orchestration.spark.session import spark_session
from orchestration.spark.workers import NUMBER, PLACE, gathered
from substrate.base.errors import FormatError, SubstrateError

BENCHMARKS = ("clevrer", "twin", "gqa")
SMALL = (
    "spark.config={spark.executor.memory: 512m, spark.cores.max: 3,"
    f' spark.executor.extraJavaOptions: "{QUICK_JAVA}"}}'
)
"""A driver takes a core of each of up to three workers, and leaves the others to a Connect server."""
PATIENCE = 1800
MADE = pa.schema([(NUMBER, pa.int64()), ("scene", pa.string())])
PLACED = pa.schema([(NUMBER, pa.int64()), (PLACE, pa.int64())])


class Driven(NamedTuple):
    """The remains of a driver: its project, its exit code, and what it said last."""

    project: Path
    code: int
    said: str

    @property
    def results(self) -> dict[str, bytes]:
        """Answers, scores and indices of logs, by path in the project."""
        folder = self.project / "artifacts"
        files = sorted(file for file in folder.rglob("*") if file.suffix in {".jsonl", ".json"})
        return {str(file.relative_to(folder)): file.read_bytes() for file in files}


class Field(NamedTuple):
    """The drivers' place: folders that workers do not see, one that they do, and data to start from."""

    machines: Cluster
    projects: Path
    shared: Path
    local: Driven

    @property
    def twin(self) -> dict[str, bytes]:
        """The local results of Twin-EventLog alone."""
        return {name: value for name, value in self.local.results.items() if "twin" in name}

    def new(self, name: str, small_project: Callable[..., Path]) -> Path:
        """A project with the same data as the local one."""
        root = small_project(self.projects / name, scenes=3)
        shutil.copytree(self.local.project / "data", root / "data")
        return root


def start(root: Path, storage: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A driver in a project."""
    storage.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(ROOT / "tests/support/drive.py"), f"storage={storage.as_uri()}"]
    if "SPARK_MASTER" in environment:
        command.append(SMALL)
    return subprocess.Popen(
        [*command, *arguments],
        cwd=root,
        env=inherited() | {"PYTHONPATH": str(ROOT)} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def inherited() -> dict[str, str]:
    """This environment, without anything that says where Spark runs."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")}
    return environment | {"SPARK_SUBMIT_OPTS": QUICK_JAVA}


def end(root: Path, driver: subprocess.Popen[str], patience: float = PATIENCE) -> Driven:
    """Wait for a driver; one that takes longer is ended."""
    try:
        _, output = driver.communicate(timeout=patience)
    finally:
        driver.kill()
    return Driven(root, driver.returncode, output)


def killed(driver: subprocess.Popen[str], root: Path, storage: Path, doomed: Machine) -> Driven:
    """The remains of a driver that lost a machine while it made the first of many shards of logs."""
    try:
        while not list(storage.glob("sample/logs/twin/*/00001.parquet")):
            assert driver.poll() is None, driver.communicate()
            time.sleep(0.05)
        doomed.kill()
    finally:
        driven = end(root, driver)
    return driven


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory, small_project: Callable[..., Path]) -> Iterator[Field]:
    if reason := why_not():
        pytest.skip(reason)
    base = tmp_path_factory.mktemp("cluster")
    projects, shared = base / "projects", base / "shared"
    root = small_project(projects / "local", scenes=3)
    local = end(root, start(root, shared / "local", *BENCHMARKS))
    assert local.code == 0, local.said
    with cluster(base / "machines", (ROOT, projects)) as machines:
        yield Field(machines, projects, shared, local)


@pytest.mark.long
def test_workers_that_see_only_the_storage_give_the_same_bytes(
    field: Field, small_project: Callable[..., Path]
) -> None:
    root = field.new("cluster", small_project)
    # A scene that is generated there is compared too.
    shutil.rmtree(root / "data/sample/gqa")
    driver = start(root, field.shared / "cluster", *BENCHMARKS, SPARK_MASTER=field.machines.master)
    driven = end(root, driver)
    assert driven.code == 0, driven.said
    assert driven.results == field.local.results
    assert all(len(rows) for name, rows in driven.results.items() if name.endswith("answers.jsonl"))
    assert len(list((root / ".dagster/spark-events").iterdir())) == 1
    made, first = (project / "data/sample/gqa" for project in (root, field.local.project))
    assert {file.name: file.read_bytes() for file in made.iterdir()} == {
        file.name: file.read_bytes() for file in first.iterdir()
    }


@pytest.mark.long
def test_spark_connect_gives_the_same_bytes(field: Field, small_project: Callable[..., Path]) -> None:
    root = field.new("connect", small_project)
    address = field.machines.start_server("connect")[0]
    driven = end(root, start(root, field.shared / "connect", *BENCHMARKS, SPARK_REMOTE=address))
    assert driven.code == 0, driven.said
    assert driven.results == field.local.results


@pytest.mark.long
def test_a_worker_that_is_killed_in_the_middle_changes_no_byte(
    field: Field, small_project: Callable[..., Path]
) -> None:
    root = field.new("killed", small_project)
    storage = field.shared / "killed"
    doomed = field.machines.start_worker()
    driver = start(root, storage, "spark.shard=1", "twin", SPARK_MASTER=field.machines.master)
    driven = killed(driver, root, storage, doomed)
    assert list(doomed.log.parent.glob("work/app-*")), "the worker has no part in it"
    assert driven.code == 0, driven.said
    assert driven.results == field.twin


@pytest.mark.long
@pytest.mark.parametrize("server", ["master", "connect"])
def test_a_server_that_is_killed_in_the_middle_is_named_and_the_next_run_goes_on(
    server: str, field: Field, small_project: Callable[..., Path]
) -> None:
    name = f"without-{server}"
    root, storage = field.new(name, small_project), field.shared / name
    with cluster(field.machines.folder.with_name(f"machines-{server}"), field.machines.hidden) as machines:
        address, doomed, key = machines.master, machines.leader, "SPARK_MASTER"
        if server == "connect":
            (address, doomed), key = machines.start_server("doomed"), "SPARK_REMOTE"
        driver = start(root, storage, "spark.shard=1", "twin", **{key: address})
        driven = killed(driver, root, storage, doomed)
    assert driven.code
    assert address.partition("://")[2] in driven.said
    driven = end(root, start(root, storage, "spark.shard=1", "twin", SPARK_MASTER=field.machines.master))
    assert driven.code == 0, driven.said
    assert driven.results == field.twin


def local_rows(work: Callable[[dict[str, Any]], Any], schema: pa.Schema = MADE, count: int = 9) -> pa.Table:
    """A function over some numbers on this machine."""
    numbers = range(count)
    names = [f"scene {number}" for number in numbers]
    session = spark_session(Spark())

    def given(place: int) -> list[dict[str, int]]:
        return [{NUMBER: place}]

    return gathered(session, numbers, given, work, schema, numbers, stage="a/stage", names=names)


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

    with pytest.raises(SubstrateError, match="number 4: KeyError: 'velocity'") as caught:
        local_rows(breaks)
    told = str(caught.value.__cause__)
    assert "in breaks" in told
    assert "org.apache.spark" not in told
