"""A server of HTTP that a thread of the test runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from typing import TypeVar

Served = TypeVar("Served", bound=HTTPServer)


class Quiet:
    """A handler of requests, with another base, that writes no line for each."""

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def serving(server: Served) -> Iterator[Served]:
    """Let a server answer inside the block; afterwards neither its socket nor its thread is left."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
        assert not thread.is_alive()
