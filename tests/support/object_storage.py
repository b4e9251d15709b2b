"""An S3-compatible server on loopback, moto's, which may answer as a busy one does.

    python object_storage.py PORT [FAULTS]

With FAULTS every 11th request is refused (503), every 17th has its connection closed, and a listing lacks
what was written in the last second. What it refused, closed and left out is counted under ``/faults``.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
from werkzeug.test import run_wsgi_app

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
# The seconds after which a listing shows what was written.
LAG = 1.0
_ENTRY = re.compile(rb"<Contents>.*?<Key>(.*?)</Key>.*?</Contents>", re.DOTALL)


class Busy:
    """An application whose requests fail now and then."""

    def __init__(self, inner: Application) -> None:
        self._inner, self._lock, self._asked = inner, Lock(), 0
        self._faults: Counter[str] = Counter()
        self._written: dict[bytes, float] = {}

    def __call__(self, environ: dict[str, Any], respond: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/faults":
            respond("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(self._faults).encode()]
        with self._lock:
            self._asked += 1
            number = self._asked
        if number % 11 == 0:
            self._faults["refused"] += 1
            respond("503 Slow Down", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"]
        if number % 17 == 0:
            self._faults["closed"] += 1
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
            return []
        if "list-type" in environ.get("QUERY_STRING", ""):
            return self._listing(environ, respond)
        if environ["REQUEST_METHOD"] in ("PUT", "POST"):
            self._written[environ["PATH_INFO"].rpartition("bucket/")[2].encode()] = time.monotonic()
        return self._inner(environ, respond)

    def _listing(self, environ: dict[str, Any], respond: Callable[..., Any]) -> Iterable[bytes]:
        given, status, headers = run_wsgi_app(self._inner, environ)
        body = whole = b"".join(given)
        for entry in _ENTRY.finditer(whole):
            if time.monotonic() - self._written.get(entry[1], 0.0) < LAG:
                body = body.replace(entry[0], b"")
        self._faults["lagged"] += body != whole
        headers["Content-Length"] = str(len(body))
        respond(status, headers.to_wsgi_list())
        return [body]


if __name__ == "__main__":
    application: Application = DomainDispatcherApplication(create_backend_app)
    if sys.argv[2:]:
        application = Busy(application)
    run_simple("127.0.0.1", int(sys.argv[1]), application, threaded=True)
