"""`substrate report`: where the report lies, and a server on this machine that Ctrl-C ends with one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orchestration.cli.main import app


@pytest.fixture
def page(make_project: Callable[..., Path]) -> Path:
    """The first page of a report, beside which nothing was made."""
    page = make_project() / "artifacts/sample/report/index.html"
    (page.parent / "numbers").mkdir(parents=True)
    page.write_text("<p>the report", "utf-8")
    (page.parent / "numbers/a.html").write_text("<p>a number", "utf-8")
    return page


def test_it_says_where_the_report_lies(page: Path) -> None:
    assert CliRunner().invoke(app, ["report"]).output == f"{page}\n"
    said = json.loads(CliRunner().invoke(app, ["report", "--json"]).output)
    assert said == {"profile": "sample", "report": str(page)}


def test_what_was_not_made_is_said_with_what_makes_it(page: Path) -> None:
    result = CliRunner().invoke(app, ["report", "--profile", "full"])
    assert result.exit_code == 1
    assert "artifacts/full/report/index.html: the report was not made yet" in result.output
    assert "`substrate reproduce --profile full`" in result.output


def test_it_is_served_on_this_machine_until_told_to_end(page: Path) -> None:
    server = subprocess.Popen(
        [sys.executable, "-m", "orchestration.cli.main", "report", "--serve"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        assert server.stdout
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert read(address) == "<p>the report"
        assert read(address.replace("index.html", "numbers/a.html")) == "<p>a number"
        with pytest.raises(urllib.error.HTTPError):
            read(address.replace("index.html", "%2e%2e/%2e%2e/%2e%2e/params.yaml"))
        port = address.split(":")[2].partition("/")[0]
        taken = CliRunner().invoke(app, ["report", "--serve", "--port", port])
        assert taken.exit_code == 1
        assert f"--port: {port} cannot be used" in taken.output
        server.send_signal(signal.SIGINT)
        said = server.communicate(timeout=600)
    finally:
        server.kill()
    assert server.returncode == 0
    assert said == ("", "Ctrl-C ends the server.\nThe server has ended.\n")


def read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=600) as response:
        return response.read().decode()
