"""The UI's server answers its own pages, and no other page that is open in the same browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from commands import invoke
from projects import ROOT
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from orchestration.dagster.webserver import ORIGIN, Reports, guarded

OWN = "http://127.0.0.1:3000"
JSON = {"origin": OWN, "content-type": "application/json"}
EVIL = "http://evil.example"


def server() -> TestClient:
    """A server behind the guard that answers everything."""

    async def answer(_: Request) -> PlainTextResponse:
        return PlainTextResponse("answered")

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("answered")
        await socket.close()

    routes = [
        WebSocketRoute("/graphql", talk),
        Route("/{path:path}", answer, methods=["GET", "POST", "DELETE"]),
    ]
    return TestClient(guarded(Starlette(routes=routes)), base_url=OWN)


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {}, 200),
        ("GET", "/", {"origin": OWN}, 200),
        ("GET", "/", {"host": "localhost:3000"}, 200),
        ("GET", "/", {"host": "evil.example:3000"}, 400),
        ("GET", "/", {"host": "127.0.0.1.evil.example"}, 400),
        ("GET", "/", {"origin": EVIL}, 403),
        ("GET", "/graphql", {"accept": "text/html"}, 200),
        ("GET", "/graphql?query={version}", {}, 403),
        ("GET", "/graphql/?query={version}", {}, 403),
        ("POST", "/graphql", JSON, 200),
        ("POST", "/graphql", JSON | {"content-type": "Application/JSON; charset=utf-8"}, 200),
        ("POST", "/graphql", JSON | {"host": "localhost:3000", "origin": "http://localhost:3000"}, 200),
        ("POST", "/graphql", {"content-type": "application/json"}, 200),
        ("POST", "/graphql", {"content-type": "text/plain"}, 403),
        ("POST", "/graphql", {"content-type": "application/json", "host": "evil.example"}, 400),
        # A POST without an origin and without a body comes from a program, not from a page of a browser
        ("POST", "/report_asset_materialization/a?data_version=1", {}, 200),
        ("POST", "/graphql", JSON | {"origin": EVIL}, 403),
        ("POST", "/graphql", JSON | {"origin": "null"}, 403),
        ("POST", "/graphql", JSON | {"origin": "http://127.0.0.1:8888"}, 403),
        ("POST", "/graphql", JSON | {"origin": "http://localhost:3000"}, 403),
        ("POST", "/graphql", JSON | {"content-type": "text/plain; application/json"}, 403),
        ("POST", "/graphql", JSON | {"content-type": "application/jsonp"}, 403),
        ("POST", "/graphql", {"origin": OWN}, 403),
        ("POST", "/report_asset_check/a", JSON | {"content-type": "application/x-www-form-urlencoded"}, 403),
        ("DELETE", "/", {"origin": EVIL}, 403),
    ],
)
def test_requests_of_other_pages_are_refused(
    method: str, path: str, headers: dict[str, str], status: int
) -> None:
    reply = server().request(method, path, headers=headers)
    assert reply.status_code == status, reply.text
    assert ("answered" in reply.text) == (status == 200)


def test_two_origins_or_two_types_of_body_are_refused() -> None:
    for twice in ("origin", "content-type"):
        headers = [*JSON.items(), (twice, JSON[twice])]
        assert server().post("/graphql", headers=headers).status_code == 403


def test_a_websocket_is_opened_for_the_server_s_own_pages() -> None:
    with server().websocket_connect("ws://127.0.0.1:3000/graphql", headers={"origin": OWN}) as opened:
        assert opened.receive_text() == "answered"
    with server().websocket_connect("ws://127.0.0.1:3000/graphql") as opened:
        assert opened.receive_text() == "answered", "a program has no origin"
    with (
        pytest.raises(WebSocketDisconnect),
        server().websocket_connect("ws://127.0.0.1:3000/graphql", headers={"origin": EVIL}),
    ):
        pass


def test_a_report_is_served_without_rights_on_the_ui(tmp_path: Path) -> None:
    report = tmp_path / "artifacts/sample/report"
    report.mkdir(parents=True)
    (report / "index.html").write_text("the report", "utf-8")
    (tmp_path / "artifacts/sample/private.txt").write_text("a file", "utf-8")
    reports = Mount("/artifacts", Reports(directory=tmp_path / "artifacts", html=True))
    client = TestClient(guarded(Starlette(routes=[reports])), base_url=OWN)
    reply = client.get("/artifacts/sample/report/index.html")
    assert reply.text == "the report"
    assert "sandbox" in str(reply.headers.get_list("content-security-policy"))
    for path in ("sample/private.txt", "sample/report/../private.txt", "sample/report/%2e%2e/private.txt"):
        assert client.get(f"/artifacts/{path}").status_code == 404
    assert client.get("/artifacts/sample/report/index.html", headers={"origin": EVIL}).status_code == 403


def test_no_page_shows_another_one_in_a_frame() -> None:
    headers = server().get("/").headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_proxy_is_answered_under_the_origin_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headers = JSON | {"host": "ui.example.org", "origin": "https://ui.example.org"}
    assert server().post("/graphql", headers=headers).status_code == 400
    monkeypatch.setenv(ORIGIN, "https://ui.example.org")
    assert server().post("/graphql", headers=headers).status_code == 200
    assert server().post("/graphql", headers=JSON).status_code == 200
    for origin in ("http://ui.example.org", EVIL, OWN):
        assert server().post("/graphql", headers=headers | {"origin": origin}).status_code == 403


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = invoke("ui", "--port", port, code=1)
    assert refused.stderr.startswith(f"error: 127.0.0.1:{port}: cannot listen (Address already in use).")
    assert not refused.stdout


@pytest.mark.long
def test_the_daemon_of_a_ui_that_was_killed_ends_too(make_project: Callable[..., Path]) -> None:
    command = [sys.executable, "-m", "orchestration.cli.main", "ui", "--port", "0"]
    quiet, environment = subprocess.DEVNULL, os.environ | {"PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(command, cwd=make_project(), env=environment, stdout=quiet, stderr=quiet)
    deadline, daemons = time.monotonic() + 120, list[psutil.Process]()
    try:
        while not daemons:
            assert time.monotonic() < deadline
            time.sleep(0.2)
            children = psutil.Process(running.pid).children()
            daemons = [child for child in children if "daemon" in " ".join(child.cmdline())]
        time.sleep(1)
        running.kill()
        _, living = psutil.wait_procs(daemons, timeout=60)
        assert not living
    finally:
        for process in (running, *daemons):
            with suppress(psutil.NoSuchProcess):
                process.kill()
