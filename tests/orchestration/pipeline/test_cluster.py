"""The pipeline on a cluster whose machines share one folder and nothing else: the same bytes, or an error."""

from __future__ import annotations

import json
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

from orchestration.pipeline.spark import LostError, spark_session
from orchestration.pipeline.workers import NUMBER, PLACE, gathered, plain_errors
from orchestration.settings import Spark
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
def test_a_worker_with_a_disk_of_its_own_ends_the_stage(
    field: Field, small_project: Callable[..., Path]
) -> None:
    root = field.new("alone", small_project)
    driver = start(root, root / "storage", "gqa", SPARK_MASTER=field.machines.master)
    driven = end(root, driver)
    assert driven.code == 1
    assert "error: gqa/logs: " in driven.said
    assert "storage" in driven.said.splitlines()[-1]
    assert not list((root / "artifacts").rglob("*.jsonl"))


@pytest.mark.long
def test_spark_connect_gives_the_same_bytes(field: Field, small_project: Callable[..., Path]) -> None:
    root = field.new("connect", small_project)
    address = field.machines.start_connect()
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
    try:
        # The logs of a case, as one of many shards: the next ones are asked for while the worker dies.
        while not list(storage.glob("sample/logs/twin/*/00001.parquet")):
            assert driver.poll() is None, driver.communicate()
            time.sleep(0.05)
        assert list(doomed.log.parent.glob("work/app-*")), "the worker has no part in it"
        doomed.kill()
    finally:
        driven = end(root, driver)
    assert driven.code == 0, driven.said
    assert driven.results == field.twin


@pytest.mark.long
def test_a_master_that_is_killed_in_the_middle_is_named_and_the_next_run_goes_on(
    field: Field, small_project: Callable[..., Path]
) -> None:
    root, storage = field.new("master", small_project), field.shared / "master"
    with cluster(field.machines.folder.with_name("machines-master"), field.machines.hidden) as machines:
        driver = start(root, storage, "spark.shard=1", "twin", SPARK_MASTER=machines.master)
        try:
            while not list(storage.glob("sample/logs/twin/*/00001.parquet")):
                assert driver.poll() is None, driver.communicate()
                time.sleep(0.05)
            machines.leader.kill()
        finally:
            driven = end(root, driver)
    assert driven.code
    assert machines.master.partition("://")[2] in driven.said
    driven = end(root, start(root, storage, "spark.shard=1", "twin", SPARK_MASTER=field.machines.master))
    assert driven.code == 0, driven.said
    assert driven.results == field.twin


@pytest.mark.long
def test_a_connect_server_that_is_killed_in_any_stage_is_named_and_the_next_run_goes_on(
    field: Field, small_project: Callable[..., Path]
) -> None:
    root, storage = field.new("server", small_project), field.shared / "server"
    shutil.rmtree(root / "data/sample/twin")
    inodes: dict[Path, int] = {}
    for stage, shards, out in (
        ("dataset", "made/twin/*/*.parquet", "data/sample/twin"),
        ("logs", "logs/twin/*/*.parquet", "artifacts/sample/twin/logs/index.jsonl"),
        ("answers", "answers/twin.answers/*/*.parquet", "artifacts/sample/twin/answers.jsonl"),
    ):
        address, server = field.machines.start_server(f"server-{stage}")
        driver = start(root, storage, "slowly", "spark.shard=1", "twin", SPARK_REMOTE=address)
        try:
            while not (done := [*storage.glob(f"sample/{shards}")]):
                assert driver.poll() is None, driver.communicate()
                time.sleep(0.05)
        finally:
            server.kill()
        inodes |= {file: file.stat().st_ino for file in done if stage == "logs"}
        driven = end(root, driver, 120)
        lost = f"error: twin/{stage}: {address.partition('://')[2]}: "
        assert any(line.startswith(lost) for line in driven.said.splitlines()), driven.said
        assert not (root / out).exists()
    address = field.machines.start_connect()
    driven = end(root, start(root, storage, "spark.shard=1", "twin", SPARK_REMOTE=address))
    assert driven.code == 0, driven.said
    assert driven.results == field.twin
    assert {file: file.stat().st_ino for file in inodes} == inodes


def require_same_bytes(field: Field, root: Path, odd: Machine) -> None:
    """Hold that an odd worker has a part in a project's run, and changes no byte of it; it is ended then."""
    try:
        driver = start(
            root, field.shared / root.name, "spark.shard=1", "twin", SPARK_MASTER=field.machines.master
        )
        driven = end(root, driver)
        assert list(odd.log.parent.glob("work/app-*")), "the worker has no part in it"
    finally:
        odd.kill()
    assert driven.code == 0, driven.said
    assert driven.results == field.twin


@pytest.mark.long
def test_a_worker_whose_disk_is_full_changes_no_byte(
    field: Field, small_project: Callable[..., Path]
) -> None:
    # It has less room than the code that a session sends.
    require_same_bytes(field, field.new("full", small_project), field.machines.start_worker(room="1m"))


FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
"""Debian's libfaketime, which gives a process another time."""


def other_java() -> Path | None:
    """A Java on this machine that is not the one on the path."""
    own = Path(shutil.which("java") or "/").resolve().parents[1]
    homes = (java.parents[1] for java in Path("/usr/lib/jvm").glob("*/bin/java"))
    return next((home for home in homes if home.resolve() != own), None)


@pytest.mark.long
def test_a_worker_of_another_java_whose_clock_is_off_changes_no_byte(
    field: Field, small_project: Callable[..., Path]
) -> None:
    java = other_java()
    if not (FAKETIME.is_file() and java):
        pytest.skip("there is no libfaketime, or no second Java")
    clock = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": "+2h", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    odd = field.machines.start_worker({"JAVA_HOME": str(java), **clock})
    require_same_bytes(field, field.new("odd", small_project), odd)


CLOCK_AHEAD = f"""
import os, sys
if "LD_PRELOAD" not in os.environ:
    os.environ |= {{"LD_PRELOAD": "{FAKETIME}", "FAKETIME": "+2h"}}
    os.execv(sys.executable, sys.orig_argv)
"""
"""A module that a worker's Pythons run first: their clock is ahead, that of its JVM is not."""


@pytest.mark.long
def test_the_check_names_a_worker_whose_clock_is_off_and_a_cluster_that_gives_none(field: Field) -> None:
    if not FAKETIME.is_file():
        pytest.skip("there is no libfaketime")
    shared = field.shared / "check"
    shared.mkdir()
    (shared / "sitecustomize.py").write_text(CLOCK_AHEAD, "utf-8")
    with cluster(field.machines.folder.with_name("machines-check"), field.machines.hidden, 1) as machines:
        machines.start_worker({"PYTHONPATH": str(shared)})

        def checked(spark: str, latest: float) -> tuple[int, dict[str, bool]]:
            command = ["cluster", "check", "--json", "--set", f"storage={shared.as_uri()}", "--set", spark]
            run = f"from orchestration.pipeline import cluster; cluster.LATEST = {latest}"
            done = subprocess.run(
                [sys.executable, "-c", f"{run}; from orchestration.cli.main import app; app({command})"],
                cwd=field.local.project,
                env=inherited() | {"SPARK_MASTER": machines.master, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
            assert done.returncode in (0, 1), done.stderr
            workers = [part for part in json.loads(done.stdout) if part["what"].startswith("worker")]
            return done.returncode, {part["said"]: part["fits"] for part in workers}

        code, verdicts = checked(SMALL, 60)
        none = checked(SMALL.replace("memory: 512m", "memory: 512g"), 3)
    assert code == 1
    assert none == (1, {"none did a task within 3 s": False})
    for words, fits in (("every package", True), ("clock is 7200 s ahead", False)):
        assert [verdicts[line] for line in verdicts if words in line] == [fits], verdicts


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

    with pytest.raises(SubstrateError, match="came back though nobody asked, number 9 first"):
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


def test_an_error_of_sparks_own_is_its_first_line() -> None:
    told = (
        "An error occurred while calling o1.\n: Job aborted due to stage failure: Lost task 0.3 in stage 0.0 "
        "(TID 3) (10.0.0.7 executor 0): java.nio.file.FileSystemException: No space left on device\n\tat java"
    )
    with pytest.raises(LostError) as caught, plain_errors(spark_session(Spark()), "a/stage"):
        raise RuntimeError(told)
    assert str(caught.value).startswith("a/stage: Job aborted due to stage failure: Lost task")
    assert "No space left on device. Look in" in str(caught.value)


def test_a_worker_that_dies_ends_the_stage_by_name() -> None:
    def dies(row: dict[str, Any]) -> list[dict[str, Any]]:
        if row[NUMBER] == 4:
            os._exit(13)
        return [{NUMBER: row[NUMBER], "scene": ""}]

    with pytest.raises(SubstrateError, match=r"^a/stage: "):
        local_rows(dies)


def test_any_key_of_sparks_own_may_be_set(make_project: Callable[..., Path]) -> None:
    from orchestration.project import open_workspace

    make_project()
    overrides = ("spark.config={spark.sql.session.timeZone: Asia/Tokyo, spark.app.name: mine}",)
    settings = open_workspace(overrides=overrides).settings.spark
    session = spark_session(settings)
    try:
        assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    finally:
        session.conf.set("spark.sql.session.timeZone", "UTC")
