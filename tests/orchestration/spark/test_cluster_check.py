"""A cluster that is not there is named at once; one that fits says so, part by part."""

from __future__ import annotations

import json
import socket

import pytest
from commands import invoke
from pyspark import __version__
from pyspark.sql import SparkSession
from spark_cluster import free_port

from orchestration.settings import Spark
from orchestration.spark.endpoint import endpoints, require_endpoint
from orchestration.spark.session import spark_session
from substrate.base.errors import SubstrateError


@pytest.mark.parametrize(
    ("variable", "address", "expected"),
    [
        ("SPARK_MASTER", "local[2]", []),
        ("SPARK_MASTER", "spark://one:7078,two", [("one", 7078), ("two", 7077)]),
        ("SPARK_REMOTE", "sc://one:15003/;user_id=ann", [("one", 15003)]),
        ("SPARK_REMOTE", "sc://one", [("one", 15002)]),
        ("SPARK_MASTER", "yarn", []),
    ],
)
def test_the_hosts_of_an_address(
    variable: str, address: str, expected: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setenv(variable, address)
    assert endpoints(Spark()) == expected


def test_a_master_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("SPARK_MASTER", f"spark://127.0.0.1:{port}")
    with pytest.raises(SubstrateError, match=rf"127\.0\.0\.1:{port}.*SPARK_MASTER"):
        require_endpoint(Spark())


def test_a_cluster_that_gives_no_session_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(_: object) -> None:
        raise RuntimeError("Cannot invoke TaskScheduler.postStartHook()")

    with socket.create_server(("127.0.0.1", 0)) as master:
        monkeypatch.delenv("SPARK_REMOTE", raising=False)
        monkeypatch.setenv("SPARK_MASTER", f"spark://127.0.0.1:{master.getsockname()[1]}")
        monkeypatch.setattr(SparkSession.Builder, "getOrCreate", refuses)
        with pytest.raises(SubstrateError, match=rf"no session for PySpark {__version__} \(Cannot invoke"):
            spark_session(Spark())


def test_the_command_fails_where_a_part_does_and_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{free_port()}")
    result = invoke("cluster", "check", "--json", code=1)
    fits = {part["what"]: part["fits"] for part in json.loads(result.stdout)}
    assert fits == {"endpoint": False, "driver": True, "storage": True, "workers": False}


def test_this_machine_alone_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    result = invoke("cluster", "check")
    assert "has every package" in result.output
