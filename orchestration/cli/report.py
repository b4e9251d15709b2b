"""`substrate report`: where a profile's report lies, and a server for it on this machine alone."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from orchestration.project import open_workspace
from substrate.base.errors import ParameterError
from substrate.cli.console import note, say

LOOPBACK = "127.0.0.1"
PAGE = "index.html"


def report_of(profile: str | None) -> tuple[str, Path]:
    """A profile's name, the one of `params.yaml` unless given, and the first page of its report.

    Raises:
        ParameterError: there is no such profile, or its report was not made.
    """
    workspace = open_workspace(profile)
    name = workspace.settings.profile
    page = workspace.artifacts / "report" / PAGE
    if not page.is_file():
        hint = f"`substrate reproduce --profile {name}` makes it"
        raise ParameterError("the report was not made yet", where=(page,), hint=hint)
    return name, page


class _Handler(SimpleHTTPRequestHandler):
    """The files of a folder, without a line for each that is asked for; a page is new each time."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve(page: Path, port: int) -> None:
    """Serve a report on the loopback interface until Ctrl-C.

    Args:
        page: the report's first page; what lies in its folder is served.
        port: a free one where it is 0.

    Raises:
        ParameterError: the port is taken.
    """
    try:
        server = ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, directory=str(page.parent)))
    except OSError as error:
        hint = "Give another one, or none for any that is free"
        raise ParameterError(
            f"{port} cannot be used: {error.strerror}", where=("--port",), hint=hint
        ) from error
    with server:
        say(f"http://{LOOPBACK}:{server.server_port}/{PAGE}")
        note("Ctrl-C ends the server.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            note("The server has ended.")
