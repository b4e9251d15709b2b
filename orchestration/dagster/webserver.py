"""The UI's server: Dagster's server behind a guard that answers this server's pages and local programs.

    python -m orchestration.dagster.webserver -h 127.0.0.1 -p 3000 -w workspace.yaml

takes the arguments of `dagster-webserver`. Any page that is open in a browser can send requests to this
machine. Such a request has the page's address as its origin or, after a change in the DNS, as its host.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from click.exceptions import Abort
from dagster import DagsterExecutionInterruptedError
from dagster_graphql.implementation.utils import ErrorCapture
from dagster_graphql.schema.errors import GraphenePythonError
from dagster_shared.error import SerializableErrorInfo
from dagster_webserver.cli import cli
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from orchestration.dagster.form import FormError
from orchestration.dagster.instance import instance
from orchestration.settings import find_root
from substrate.base.errors import SubstrateError

# The variable with the address of a proxy that asks for a password, such as ``https://ui.example.org``.
ORIGIN = "SUBSTRATE_UI_ORIGIN"
LOOPBACK = ("127.0.0.1", "localhost")
# The seconds for open pages and the daemon to end.
PATIENCE = 10.0
# The paths of the reports' pages, among the artifacts.
_OF_REPORT = re.compile(r"[\w.-]+/report(/.*)?")
# Headers by which no page of another origin can show or load a page of this server.
_CLOSED = {"Content-Security-Policy": "frame-ancestors 'none'", "Cross-Origin-Resource-Policy": "same-origin"}


def _refusal(scope: Scope, proxy: str) -> str:
    """The reason to refuse a request; empty if it is answered."""
    headers, reads = Headers(scope=scope), scope.get("method") in ("GET", "HEAD")
    host, origins = headers.get("host", ""), headers.getlist("origin")
    own = proxy if proxy and host == urlsplit(proxy).netloc else f"http://{host}"
    if origins and origins != [own]:
        return f"the origin {', '.join(origins)} is not {own}"
    kinds = [kind.partition(";")[0].strip().lower() for kind in headers.getlist("content-type")]
    bare = not origins and not kinds and headers.get("content-length", "0") == "0"
    if scope["type"] == "http" and not reads and kinds != ["application/json"] and not bare:
        return f"the body is {', '.join(kinds) or 'of no type'}, not application/json"
    if reads and scope["path"].rstrip("/") == "/graphql" and "text/html" not in headers.get("accept", ""):
        return "a query must be sent by POST"
    return ""


class Reports(StaticFiles):
    """The reports of all profiles, among the artifacts, so that the UI's pages can link to them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer with a page, whose scripts have no rights on the UI."""
        try:
            if not _OF_REPORT.fullmatch(path):
                raise HTTPException(404)
            response = await super().get_response(path, scope)
        except HTTPException:
            hint = "`substrate reproduce` makes the report of a profile"
            response = PlainTextResponse(f"there is no such page: {hint}\n", status_code=404)
        response.headers.append("Content-Security-Policy", "sandbox allow-scripts allow-popups")
        return response


def guarded(app: ASGIApp) -> ASGIApp:
    """Guard a server: it answers only requests to this machine's own names and to the proxy's, and refuses
    requests from pages of other origins.

    A change comes by POST or over a websocket, and browsers name the origin of both. So a request without an
    origin comes from a program on this machine, which is answered. Browsers ask the server first before they
    send JSON to another origin, but not before they send a body of another type, which Dagster would accept
    as a query too.
    """
    proxy = os.environ.get(ORIGIN, "").rstrip("/")
    hosts = [*LOOPBACK, *filter(None, [urlsplit(proxy).hostname])]

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        async def closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, value in _CLOSED.items():
                    MutableHeaders(scope=message).append(name, value)
            await send(message)

        answer, sending = app, closed
        if scope["type"] in ("http", "websocket") and (refusal := _refusal(scope, proxy)):
            answer, sending = PlainTextResponse(f"refused: {refusal}\n", status_code=403), send
            if scope["type"] == "websocket":
                answer = WebSocketClose(code=1008, reason=refusal)
        await answer(scope, receive, sending)

    return TrustedHostMiddleware(guard, allowed_hosts=hosts, www_redirect=False)


def form_error(exc_info: tuple[type[BaseException], BaseException, TracebackType]) -> GraphenePythonError:
    """An error for a page, given the result of `sys.exc_info`: of a refused form the sentence alone."""
    for error in getattr(exc_info[1], "user_code_process_error_infos", ()):
        if error.cls_name == FormError.__name__:
            sentence = error.message.partition(": ")[2].strip()
            return GraphenePythonError(SerializableErrorInfo(sentence, [], error.cls_name))
    return ErrorCapture.default_on_exception(exc_info)


def serve(arguments: Sequence[str], listening: socket.socket | None = None) -> None:
    """Run Dagster's web server behind the guard until it is interrupted.

    Args:
        arguments: the arguments of `dagster-webserver`.
        listening: the socket to serve on; by default a new socket at the arguments' host and port.
    """

    def run(app: Starlette, **options: Any) -> None:
        reports = Reports(directory=find_root() / "artifacts", html=True, check_dir=False)
        app.routes.insert(0, Mount("/artifacts", reports))
        config = uvicorn.Config(guarded(app), timeout_graceful_shutdown=int(PATIENCE), **options)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening] if listening else None)

    # Dagster's command makes its app and passes it to `uvicorn.run`; this process serves nothing else.
    uvicorn.run = run
    ErrorCapture.on_exception = form_error
    # A signal before that aborts the command or interrupts the loading of the code.
    with suppress(Abort, DagsterExecutionInterruptedError):
        cli.main([*arguments], prog_name="dagster-webserver", standalone_mode=False)


def listen(port: int) -> socket.socket:
    """Open a socket on this machine's own interface.

    Raises:
        SubstrateError: the port is taken, or this user may not open it.
    """
    try:
        return socket.create_server((LOOPBACK[0], port))
    except OSError as error:
        what = f"cannot listen ({os.strerror(error.errno or 0)})"
        hint = "End the process that uses the port, or choose another with --port"
        raise SubstrateError(what, where=(f"{LOOPBACK[0]}:{port}",), hint=hint) from None


def ui(listening: socket.socket) -> None:
    """Serve the project's UI and run Dagster's daemon, until SIGINT or SIGTERM.

    Args:
        listening: the socket to answer on.
    """
    # A background job of a script inherits SIGINT as ignored, and Dagster treats SIGTERM as SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    root = find_root()
    instance(root).dispose()
    os.chdir(root)
    where = ["-w", "workspace.yaml"]
    # At its default level the daemon logs every 5 s that a run goes on.
    command = [sys.executable, "-m", "orchestration.dagster.daemon", "run", "--log-level", "warning", *where]
    daemon = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        with listening, suppress(KeyboardInterrupt):
            host, port = listening.getsockname()
            serve(["-h", host, "-p", str(port), *where], listening)
    finally:
        daemon.terminate()
        try:
            daemon.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


if __name__ == "__main__":
    serve(sys.argv[1:])
