"""Object storage: an S3-compatible server that is busy, lags and hangs up gives the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pyarrow.fs as arrow_fs
import pytest
from commands import python
from projects import ROOT
from spark_cluster import free_port

from orchestration.workspace import storage
from orchestration.workspace.storage import Storage
from substrate.base.errors import ParameterError

STORAGE = "s3a://bucket/work"
SUPPORT = ROOT / "tests/support"
MADE_AND_ASKED = """
import drive
from orchestration.cli.main import app
drive.main()
app(["logs", "gqa", "--timeout", "300", "--sparql", "ASK { ?s ?p ?o }"])
"""


@pytest.fixture
def busy_s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server with an empty bucket, whose requests fail now and then."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, SUPPORT / "object_storage.py", str(port), "faults"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
        }.items():
            monkeypatch.setenv(name, value)
        while server.poll() is None:
            try:
                urlopen(f"{address}/faults").close()
                break
            except OSError:
                time.sleep(0.1)
        options = {"endpoint_override": address, "region": "us-east-1"}
        arrow_fs.S3FileSystem(**options, allow_bucket_creation=True).create_dir("bucket")
        yield address
    finally:
        server.terminate()
        server.wait()


def test_a_reproduction_with_its_tables_in_s3_gives_the_same_bytes(reproduced: Path, busy_s3: str) -> None:
    folder = reproduced / "artifacts/sample/gqa"
    index, answers = folder / "logs/index.jsonl", folder / "answers.jsonl"
    pinned = {file: file.read_bytes() for file in (index, answers)}
    for file in pinned:
        file.unlink()
    parameters = reproduced / "params.yaml"
    text = parameters.read_text("utf-8")
    parameters.write_text(text.replace("storage: null", f"storage: {STORAGE}"), "utf-8")
    done = python("-c", MADE_AND_ASKED, "gqa", PYTHONPATH=f"{ROOT}:{SUPPORT}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {file: file.read_bytes() for file in pinned} == pinned
    assert len(done.stdout.splitlines()) == 1 + len(pinned[index].splitlines())
    with urlopen(f"{busy_s3}/faults") as answer:
        faults = json.load(answer)
    assert min(faults[kind] for kind in ("refused", "closed", "lagged")) > 0
    assert not (reproduced / "storage/gqa").exists()


def test_a_storage_that_pyarrow_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Without:
        class FileSystem:
            @staticmethod
            def from_uri(uri: str) -> None:
                raise NotImplementedError

    monkeypatch.setattr(storage, "arrow_fs", Without)
    with pytest.raises(ParameterError, match="abfs://container/work: pyarrow has no abfs"):
        Storage("abfs://container/work").exists("a")
