"""A look at a cluster before work is sent to it: who answers, what runs there, what the storage takes."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
import uuid
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from orchestration.pipeline.spark import endpoints, map_rows, numbers_frame, require_endpoint, spark_session
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError

TASKS = 4
"""The tasks that ask workers what they have."""
MODULES = ("msgspec", "pyarrow", "pyoxigraph")
"""Packages of third parties without which no task runs."""
_SAID = pa.schema([("number", pa.int64()), ("host", pa.string()), ("said", pa.list_(pa.string()))])


class Finding(NamedTuple):
    """A thing that was looked at: its state in words, and the way out where it does not fit."""

    what: str
    said: str
    fits: bool
    hint: str = ""


def findings(workspace: Workspace) -> Iterator[Finding]:
    """Look at the endpoint, the driver, the storage and the workers, and stop where nothing can follow.

    Args:
        workspace: its settings and the environment's ``SPARK_MASTER`` or ``SPARK_REMOTE`` name the cluster.
    """
    settings = workspace.settings.spark
    where = ", ".join(f"{host}:{port}" for host, port in endpoints(settings)) or "this machine alone"
    yield from _tried("endpoint", lambda: (require_endpoint(settings), f"{where} answers")[1])
    python, pyspark = platform.python_version(), version("pyspark")
    yield Finding("driver", f"Python {python}, PySpark {pyspark}, Java {_java()}", fits=True)
    yield from _tried("storage", lambda: _storage(workspace))
    try:
        require_endpoint(settings)
        session = spark_session(settings)
        frame = numbers_frame(session, range(TASKS), TASKS)
        back = map_rows(
            frame,
            _look,
            _SAID,
            range(TASKS),
            stage="cluster check",
            names=[f"task {n}" for n in range(TASKS)],
        )
    except SubstrateError as error:
        yield _failed("workers", error)
        return
    yield Finding(
        "Spark", f"{session.version} on the cluster, {pyspark} here", *_same(session.version, pyspark)
    )
    for host, said in sorted({(row["host"], tuple(row["said"])) for row in back.to_pylist()}):
        theirs, *missing = said
        fits, hint = _same(theirs.rpartition(".")[0], python.rpartition(".")[0])
        if missing:
            fits, hint = False, "`make cluster-env` packs what workers need; docs/how-to-ask-all-logs.md"
        lacks = f", lacks {', '.join(missing)}" if missing else ", has every package"
        yield Finding(f"worker {host}", f"Python {theirs}{lacks}", fits, hint)


def _look(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A worker's own account of itself: its host, its Python, and the packages that it lacks."""
    from importlib.util import find_spec

    missing = [name for name in MODULES if find_spec(name) is None]
    return [
        {"number": row["number"], "host": socket.gethostname(), "said": [platform.python_version(), *missing]}
    ]


def _same(theirs: str, ours: str) -> tuple[bool, str]:
    return theirs == ours, "" if theirs == ours else f"Give the cluster {ours}, or this environment {theirs}"


def _failed(what: str, error: SubstrateError) -> Finding:
    return Finding(what, ": ".join([*error.where, error.what]), fits=False, hint=error.hint)


def _tried(what: str, look: Callable[[], str]) -> Iterator[Finding]:
    try:
        yield Finding(what, look(), fits=True)
    except SubstrateError as error:
        yield _failed(what, error)
    except (OSError, ImportError, ValueError) as error:
        hint = "Correct `storage` in params.yaml, or install the package that it names"
        yield Finding(what, f"{type(error).__name__}: {error}", fits=False, hint=hint)


def _storage(workspace: Workspace) -> str:
    """Write a table, read it back, list its folder and delete it."""
    storage, folder = workspace.storage, f"check-{uuid.uuid4()}"
    table = pa.table({"number": pa.array([1, 2, 3], pa.int64())})
    try:
        storage.write(table, folder, "part.parquet")
        if storage.read(folder, "part.parquet") != table:
            raise OSError(f"{storage.uri(folder)} gives back other bytes than it was given")
    finally:
        storage.keep_only(folder, ())
    if storage.exists(folder, "part.parquet"):
        raise OSError(f"{storage.uri(folder)} keeps what was deleted")
    return f"{storage.base}: written, read back, listed, deleted"


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else "java"
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return "not found"
    found = re.search(r'version "([^"]+)"', said.stderr)
    return found[1] if found else "unknown"
