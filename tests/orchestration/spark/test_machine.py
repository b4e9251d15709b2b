"""A run on a machine that has another Spark, an old Java, few open files, or what a killed run left."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import python
from projects import ROOT

from orchestration.base.project_lock import BusyError, scratch_of
from orchestration.dagster import resources, run
from orchestration.dagster.instance import instance
from orchestration.dagster.resources import WorkspaceResource
from orchestration.spark.java import java_fault
from substrate.base.errors import ParameterError


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (None, "Java not found"),
        ("echo 'openjdk version \"11.0.2\"' >&2", "Java 11 is too old"),
        ("echo 'java version \"1.8.0_401\"' >&2", "Java 8 is too old"),
        ("echo Error: no room for the heap; exit 1", "Java does not start: Error: no room for the heap"),
        ("echo 'openjdk version \"21\" 2023-09-19' >&2", None),
    ],
)
def test_the_java_that_spark_would_take_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, message: str | None
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    java = tmp_path / "bin/java"
    if script:
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        java.chmod(0o755)
    fault = java_fault()
    assert (message is None) == (fault is None)
    setup = subprocess.run(["sh", ROOT / "scripts/java.sh"], capture_output=True, text=True, check=False)
    assert (setup.returncode == 0) == (fault is None), "setup judges the Java that Spark starts"
    assert fault is None or f"JAVA_HOME: {java} is " in setup.stderr
    assert message is None or str(fault).startswith(f"JAVA_HOME: {java}: {message}")


SESSION = """import json, os, resource
from pathlib import Path
from orchestration.spark import session as spark
from orchestration.settings import Spark
from substrate.base.errors import SubstrateError
resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
spark.CLASSES = Path("classes.jsa").absolute()
spark.CLASSES.write_bytes(b"of another Java")
java = os.environ.pop("JAVA_HOME", None)
os.environ["JAVA_HOME"] = "/nowhere"
try:
    spark.spark_session(Spark())
except SubstrateError as error:
    refused = str(error)
del os.environ["JAVA_HOME"]
os.environ |= {"JAVA_HOME": java} if java else {}
session = spark.spark_session(Spark())
rows = session.range(0, 3, 1, 1).mapInArrow(lambda batches: batches, "id long").count()
scratch = session.sparkContext._jvm.System.getProperty("java.io.tmpdir")
print(json.dumps([refused, rows, resource.getrlimit(resource.RLIMIT_NOFILE)[0], scratch]))"""


def test_a_session_here_is_of_this_environment_whatever_the_user_has_set(tmp_path: Path) -> None:
    """And whatever its folder is called: Java's options name the scratch folder and an archive of classes."""
    folder = tmp_path / "Pfad mit Ümlaut %41 #1 'a'"
    folder.mkdir()
    others = {"SPARK_HOME": "/nowhere", "SPARK_CONF_DIR": "/nowhere", "PYSPARK_PYTHON": "/nowhere/python"}
    others |= {"PYSPARK_SUBMIT_ARGS": "--nonsense pyspark-shell", "TMPDIR": str(folder)}
    done = python("-c", SESSION, cwd=folder, **others)
    assert done.returncode == 0, done.stderr
    refused, rows, files, scratch = json.loads(done.stdout)
    assert refused.startswith("JAVA_HOME: /nowhere/bin/java: Java not found. Install Java 17")
    assert rows == 3
    assert files >= 1024
    assert scratch == str(folder)


@pytest.mark.parametrize(
    ("home", "settings", "message"),
    [
        ("here", None, "DAGSTER_HOME: here: is not an absolute path"),
        ("{root}/a/b", "", None),
        ("{root}/a", "storage: [broken", "a/dagster.yaml: while parsing a flow sequence"),
        ("{root}/a", "- a list", r"a/dagster.yaml: .*to parse to dictionary"),
        ("{root}/a", "nonsense: 3", r"a/dagster.yaml: .*unexpected config entry"),
        ("{root}/a", "storage: {postgres: {postgres_url: x}}", "import module dagster_postgres"),
        ("{root}/a", "run_launcher: {module: nowhere, class: Launcher}", "import module nowhere"),
    ],
)
def test_a_home_of_dagster_is_made_or_refused_by_its_fault(
    make_project: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    home: str,
    settings: str | None,
    message: str | None,
) -> None:
    root = make_project()
    monkeypatch.setenv("DAGSTER_HOME", home.format(root=root))
    if settings:
        Path(root, "a").mkdir()
        (root / "a/dagster.yaml").write_text(settings, "utf-8")
    with pytest.raises(ParameterError, match=message) if message else contextlib.nullcontext():
        instance(root).dispose()


def test_a_damaged_record_of_runs_is_set_aside_and_begun_anew(
    make_project: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_project()
    instance(root).dispose()
    for database in (root / ".dagster/history").rglob("*.db"):
        database.write_bytes(b"no database" * 1000)
    instance(root).dispose()
    (aside,) = (root / ".dagster").glob("damaged-*")
    assert (aside / "history/runs.db").read_bytes().startswith(b"no database")
    assert (
        f"{aside}: the damaged record of runs lies there (file is not a database)" in capsys.readouterr().err
    )


def test_a_run_that_fails_before_its_first_stage_gives_its_reason(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_project()

    def busy(*_: object, **__: object) -> None:
        raise BusyError("a run is under way: process 1", hint="Wait until it has ended")

    monkeypatch.setattr(resources, "project_lock", busy)
    with pytest.raises(run.RunError, match=r"failed: .*a run is under way: process 1\. Wait until"):
        run.run_stages(["babi/dataset"], WorkspaceResource())


def test_a_run_clears_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with scratch_of(tmp_path / "project"):
        own = Path(tempfile.gettempdir())
        assert os.environ["TMPDIR"] == str(own)
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(tmp_path)
    for name in (str(gone.pid), str(os.getppid())):
        (own.parent / name / "blocks").mkdir(parents=True)
    with scratch_of(tmp_path / "project"):
        assert {path.name for path in own.parent.iterdir()} == {str(os.getpid()), str(os.getppid())}
