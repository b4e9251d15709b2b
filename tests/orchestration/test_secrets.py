"""A password in an address is used and nowhere kept; a key is hidden in whatever form a server repeats it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from serving import Quiet, serving

from orchestration.base.http import Patience
from orchestration.fetch.downloads import fetch
from orchestration.fetch.sources import OfficialRelease, SourceFile
from orchestration.fetch.transfer import DownloadError
from orchestration.models.client import Endpoint

PASSWORD = "open/sesame+1"


@pytest.fixture
def mirror() -> Iterator[str]:
    """A mirror that asks for a user and a password, with one file."""
    expected = "Basic " + base64.b64encode(f"ann:{PASSWORD}".encode()).decode()

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            granted = self.headers.get("Authorization") == expected and self.path == "/a.txt"
            self.send_response(200 if granted else 404)
            self.end_headers()
            self.wfile.write(b"content" if granted else b"")

    with serving(HTTPServer(("127.0.0.1", 0), Handler)) as server:
        yield f"http://ann:{quote(PASSWORD, '')}@127.0.0.1:{server.server_port}"


def test_the_password_of_a_mirror_is_used_and_nowhere_kept(mirror: str, tmp_path: Path) -> None:
    sources = {
        "b": OfficialRelease(files=tuple(SourceFile(name=name, url="") for name in ("a.txt", "b.txt")))
    }
    pins, patience = tmp_path / "pins.json", Patience(attempts=1)
    (fetched,) = fetch(
        "b", tmp_path, pins=pins, sources=sources, base=mirror, only=["a.txt"], patience=patience
    )
    with pytest.raises(DownloadError) as caught:
        fetch("b", tmp_path, pins=pins, sources=sources, base=mirror, only=["b.txt"], patience=patience)
    assert (tmp_path / "a.txt").read_bytes() == b"content"
    texts = [path.read_text("utf-8") for path in tmp_path.iterdir()]
    for text in (str(fetched), str(fetched.url), str(caught.value), *texts):
        assert "ann" not in text
        assert "sesame" not in text


@pytest.mark.parametrize(
    "changed",
    [
        PASSWORD,
        PASSWORD.upper(),
        quote(PASSWORD, ""),
        quote(PASSWORD, "").lower(),
        json.dumps(PASSWORD),
        base64.b64encode(PASSWORD.encode()).decode(),
        base64.b64encode(f"ann:{PASSWORD}".encode()).decode(),
        PASSWORD[::-1],
        f"http://ann:{quote(PASSWORD, '')}@192.0.2.1:80/v1",
    ],
)
def test_a_secret_that_a_server_repeats_is_hidden(changed: str) -> None:
    server = Endpoint(f"http://ann:{quote(PASSWORD, '')}@192.0.2.1:80/v1", key=PASSWORD)
    assert changed not in server.hide(f"no such key: {changed}, try again")
    assert "try again" in server.hide(f"no such key: {changed}, try again")
    assert server.hide("nothing of that kind") == "nothing of that kind"
