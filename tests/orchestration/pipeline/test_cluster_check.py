"""A cluster that is not there is named at once; one that fits says so, part by part."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pyspark import __version__
from pyspark.sql import SparkSession
from spark_cluster import free_port
from typer.testing import CliRunner

from orchestration.cli.main import app
from orchestration.pipeline.spark import alive_workers, endpoints, require_endpoint, spark_session
from orchestration.settings import Spark
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


@contextmanager
def pages_of_a_master(said: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that answers for a standalone master, by path."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(said[self.path])

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        monkeypatch.delenv("SPARK_REMOTE", raising=False)
        monkeypatch.setenv("SPARK_MASTER", f"spark://127.0.0.1:{page.server_port}")
        monkeypatch.setenv("SPARK_MASTER_WEBUI_PORT", str(page.server_port))
        yield
        page.shutdown()


def test_a_master_of_another_spark_is_named_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(_: object) -> None:
        raise RuntimeError("Cannot invoke TaskScheduler.postStartHook()")

    head = b'<title>Spark Master at spark://a:7077</title><span class="version" style="a">4.1.4</span>'
    with pages_of_a_master({"/": head}, monkeypatch):
        monkeypatch.setattr(SparkSession.Builder, "getOrCreate", refuses)
        with pytest.raises(SubstrateError, match=rf"Spark 4\.1\.4 is there, PySpark {__version__} is here"):
            spark_session(Spark())
        monkeypatch.setenv("SPARK_MASTER_WEBUI_PORT", str(free_port()))
        with pytest.raises(SubstrateError, match=rf"no session for PySpark {__version__} \(Cannot invoke"):
            spark_session(Spark())


def test_the_workers_that_a_master_lists_as_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [
        {"id": "a", "host": "10.0.0.1", "port": 7078, "cores": 4, "coresused": 4, "state": "ALIVE"},
        {"id": "b", "host": "10.0.0.2", "port": 7078, "cores": 4, "coresused": 0, "state": "DEAD"},
    ]
    with pages_of_a_master({"/json/": json.dumps({"workers": listed}).encode()}, monkeypatch):
        assert [(one.host, one.cores - one.coresused) for one in alive_workers(Spark())] == [("10.0.0.1", 0)]
    with pages_of_a_master({"/json/": b'{"workers": [{"id"'}, monkeypatch):
        assert alive_workers(Spark()) == []


def test_the_command_fails_where_a_part_does_and_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", f"sc://127.0.0.1:{free_port()}")
    result = CliRunner().invoke(app, ["cluster", "check", "--json"])
    assert result.exit_code == 1
    fits = {one["what"]: one["fits"] for one in json.loads(result.stdout)}
    assert fits == {"endpoint": False, "driver": True, "storage": True, "workers": False}


def test_this_machine_alone_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    result = CliRunner().invoke(app, ["cluster", "check"])
    assert result.exit_code == 0, result.output
    assert "has every package" in result.output
