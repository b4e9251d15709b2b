"""Fetching against a server on 127.0.0.1 that serves archives laid out like the official ones, and
misbehaves.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import random
import re
import socket
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import Quiet, serving

from orchestration.base import http
from orchestration.base.http import Patience
from orchestration.fetch.downloads import Fetched, fetch, read_downloads
from orchestration.fetch.sources import OfficialRelease, SourceFile
from orchestration.fetch.transfer import DownloadError, RefusedError, Transfer, UnavailableError
from substrate.base.errors import FormatError, ParameterError
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import annotation_names, read_questions

SCENES = (10000, 10001, 10999, 11000, 14999)
QUICK = Patience(connect=2.0, read=0.3, attempts=3, backoff=0.01, longest=0.02)
ZIP = "annotation_validation.zip"


def archive(seed: int) -> bytes:
    """Annotations in folders of 1,000 like the official archive; their content is noise, so that it does not
    compress away.
    """
    noise = random.Random(seed)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for scene in SCENES:
            first = scene // 1000 * 1000
            text = json.dumps({"scene_index": scene, "noise": noise.randbytes(20_000).hex()})
            file.writestr(zipfile.ZipInfo(f"annotation_{first}-{first + 1000}/annotation_{scene}.json"), text)
    return buffer.getvalue()


def questions() -> bytes:
    kind = {"question_type": "descriptive", "question_subtype": "count", "program": ["objects", "count"]}
    question = {"question_id": 0, "question": "How many objects are there?", **kind, "answer": "4"}
    return json.dumps(
        [{"scene_index": s, "video_filename": f"video_{s}.mp4", "questions": [question]} for s in SCENES]
    ).encode()


def git_blob(data: bytes) -> str:
    """The hash that git gives to a file of these bytes; some sources publish it."""
    return hashlib.sha1(b"blob " + str(len(data)).encode() + b"\0" + data).hexdigest()


ARCHIVE, OTHER_ARCHIVE, QUESTIONS = archive(1), archive(2), questions()
HALF = len(ARCHIVE) // 2


class Request(Quiet, BaseHTTPRequestHandler):
    """Serves ``server.files`` with Range and If-Range; the next behaviour of a path's queue may change one
    answer.
    """

    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.0"
    timeout = 5

    def do_GET(self) -> None:
        name = self.path.rsplit("/", 1)[-1]
        self.server.requests[name].append({key.lower(): value for key, value in self.headers.items()})
        queue = self.server.behaviours[name]
        (queue.pop(0) if queue else whole)(self, self.server.files.get(name))


class Server(ThreadingHTTPServer):
    """The server, with the folder and the pins of the client that fetches from it."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.out, self.pins = folder / "out", folder / "pins" / "downloads.json"
        self.files: dict[str, bytes] = {"validation.json": QUESTIONS, ZIP: ARCHIVE}
        self.behaviours: dict[str, list[Behaviour]] = defaultdict(list)
        self.requests: dict[str, list[dict[str, str]]] = defaultdict(list)
        self.base = f"http://127.0.0.1:{self.server_address[1]}/mirror"


Behaviour = Callable[[Request, "bytes | None"], None]


def tag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def whole(
    request: Request,
    data: bytes | None,
    *,
    ranges: bool = True,
    obeys: bool = True,
    cut: int | None = None,
    etag: str | None = None,
    label: str = "ETag",
) -> None:
    """Send the file as a correct server does, or with a fault.

    Args:
        ranges: false to send the whole file although a part is asked for.
        obeys: false to send a part even if the file is no longer the one that If-Range names.
        cut: the number of bytes after which the connection closes.
        etag: the mark of the file's version; by default its hash.
        label: the header that has the mark, ETag or Last-Modified.
    """
    if data is None:
        status(404)(request, data)
        return
    etag = etag or tag(data)
    span = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
    same = not obeys or request.headers.get("If-Range", etag) == etag
    start = int(span[1]) if span and ranges and same else 0
    if start >= len(data):
        status(416)(request, data)
        return
    request.send_response(206 if start else 200)
    request.send_header(label, etag)
    request.send_header("Content-Length", str(len(data) - start))
    if start:
        request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
    request.end_headers()
    request.wfile.write(data[start:][:cut])


def status(code: int) -> Behaviour:
    def behave(request: Request, data: bytes | None) -> None:
        request.send_response(code)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return behave


@pytest.fixture(autouse=True)
def only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, and a refusal for any address but 127.0.0.1."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    connect = socket.create_connection

    def guarded(address: tuple[str, int], *args: object, **kwargs: object) -> socket.socket:
        assert address[0] == "127.0.0.1", address
        return connect(address, *args, **kwargs)  # pyright: ignore[reportArgumentType, reportCallIssue]

    monkeypatch.setattr(socket, "create_connection", guarded)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(Server(tmp_path)) as server:
        yield server


def get(server: Server, *only: str, out: Path | None = None) -> list[Fetched]:
    known = SourceFile(name="validation.json", blob=git_blob(QUESTIONS), url=f"{server.base}/validation.json")
    files = (known, SourceFile(name=ZIP, url=f"{server.base}/{ZIP}"))
    sources = {"clevrer": OfficialRelease(files=files)}
    return fetch("clevrer", out or server.out, pins=server.pins, sources=sources, only=only, patience=QUICK)


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_official_layout_arrives_whole_and_the_readers_take_it(server: Server) -> None:
    fetched = get(server)
    assert [(f.name, f.status, f.pinned) for f in fetched] == [
        ("validation.json", "downloaded", False),
        (ZIP, "downloaded", True),
    ]
    assert listing(server.out) == [ZIP, "validation.json"]
    names = annotation_names(server.out / ZIP)
    assert names[14999] == "annotation_14000-15000/annotation_14999.json"
    assert tuple(names) == SCENES == tuple(read_questions(server.out / "validation.json"))
    assert len(list(sources_in(server.out / ZIP, names.values()))) == len(SCENES)


@pytest.mark.parametrize("label", ["ETag", "Last-Modified"])
def test_a_cut_connection_is_resumed_where_it_broke(server: Server, label: str) -> None:
    mark = tag(ARCHIVE) if label == "ETag" else "Wed, 01 Jan 2020 00:00:00 GMT"
    server.behaviours[ZIP] = [
        partial(whole, cut=HALF, label=label, etag=mark),
        partial(whole, label=label, etag=mark),
    ]
    get(server, ZIP)
    first, second = server.requests[ZIP]
    assert "range" not in first
    assert (second["range"], second["if-range"]) == (f"bytes={HALF}-", mark)
    assert (server.out / ZIP).read_bytes() == ARCHIVE
    assert listing(server.out) == [ZIP]


def test_the_next_fetch_resumes_the_part_of_the_last_one(server: Server) -> None:
    server.behaviours[ZIP] = [partial(whole, cut=HALF), status(503), status(503), status(503)]
    with pytest.raises(UnavailableError, match=f"HTTP 503.*{HALF} bytes are kept and the download resumes"):
        get(server, ZIP)
    assert listing(server.out) == [f"{ZIP}.part", f"{ZIP}.part.json"]
    assert not server.pins.exists()
    server.requests.clear()
    get(server, ZIP)
    assert [r["range"] for r in server.requests[ZIP]] == [f"bytes={HALF}-"]
    assert (server.out / ZIP).read_bytes() == ARCHIVE


@pytest.mark.parametrize(
    "second",
    [partial(whole, ranges=False), status(416)],
    ids=["range ignored", "range refused"],
)
def test_a_server_that_cannot_continue_is_read_from_the_start(server: Server, second: Behaviour) -> None:
    server.behaviours[ZIP] = [partial(whole, cut=HALF), second]
    get(server, ZIP)
    assert server.requests[ZIP][1]["range"] == f"bytes={HALF}-"
    assert (server.out / ZIP).read_bytes() == ARCHIVE


@pytest.mark.parametrize("obeys", [True, False], ids=["If-Range honoured", "If-Range ignored"])
def test_a_file_that_changed_half_way_is_begun_again(server: Server, obeys: bool) -> None:
    def cut_then_change(request: Request, data: bytes | None) -> None:
        whole(request, data, cut=HALF)
        server.files[ZIP] = OTHER_ARCHIVE

    server.behaviours[ZIP] = [cut_then_change, partial(whole, obeys=obeys)]
    get(server, ZIP)
    assert (server.out / ZIP).read_bytes() == OTHER_ARCHIVE


def test_a_weak_etag_does_not_vouch_for_a_part(server: Server) -> None:
    server.behaviours[ZIP] = [partial(whole, cut=HALF, etag='W/"1"'), whole]
    get(server, ZIP)
    assert ["range" in r for r in server.requests[ZIP]] == [False, False]
    assert (server.out / ZIP).read_bytes() == ARCHIVE


def test_a_missing_file_is_named_at_once_with_its_address(server: Server) -> None:
    del server.files[ZIP]
    with pytest.raises(UnavailableError) as caught:
        get(server, ZIP)
    assert f"{ZIP}: {server.base}/{ZIP}: no such file at this address (HTTP 404)" in str(caught.value)
    assert len(server.requests[ZIP]) == 1
    assert listing(server.out) == []


def test_a_source_that_trickles_is_given_up_and_its_part_is_kept(server: Server) -> None:
    def trickle(request: Request, data: bytes | None) -> None:
        assert data is not None
        request.send_response(200)
        request.send_header("ETag", tag(data))
        request.send_header("Content-Length", str(len(data)))
        request.end_headers()
        with suppress(OSError):  # the client has left
            for place in range(200):  # 50 bytes a second; QUICK looks at the rate after 0.3 seconds
                request.wfile.write(data[place : place + 1])
                time.sleep(0.02)

    server.behaviours[ZIP] = [trickle]
    slow = r"sends \d+ bytes a second, less than 1000\. .*\d+ bytes are kept and the download resumes"
    with pytest.raises(UnavailableError, match=slow):
        get(server, ZIP)
    assert (server.out / f"{ZIP}.part").stat().st_size < 200
    get(server, ZIP)
    assert (server.out / ZIP).read_bytes() == ARCHIVE


def test_other_bytes_on_a_later_download_are_refused(server: Server, tmp_path: Path) -> None:
    get(server, ZIP)
    pinned = server.pins.read_bytes()
    server.files[ZIP] = OTHER_ARCHIVE
    with pytest.raises(RefusedError) as caught:
        get(server, ZIP, out=tmp_path / "elsewhere")
    message = str(caught.value)
    expected, actual = (
        f"{hashlib.sha256(data).hexdigest()} ({len(data)} bytes)" for data in (ARCHIVE, OTHER_ARCHIVE)
    )
    assert f"expected SHA-256 {expected}, found {actual}" in message
    assert ZIP in message
    assert f"remove the entry clevrer/{ZIP} from {server.pins}" in message
    assert listing(tmp_path / "elsewhere") == []
    assert (server.out / ZIP).read_bytes() == ARCHIVE
    assert server.pins.read_bytes() == pinned


@pytest.mark.parametrize(
    "spoilt",
    [
        b"<html>Please log in to the network</html>",
        ARCHIVE[:-30],
        ARCHIVE[:5000] + bytes([ARCHIVE[5000] ^ 1]) + ARCHIVE[5001:],
    ],
    ids=["a page", "cut off", "a bit flipped"],
)
def test_a_file_that_is_no_whole_archive_is_never_pinned(server: Server, spoilt: bytes) -> None:
    server.files[ZIP] = spoilt
    with pytest.raises(RefusedError, match="not a whole archive"):
        get(server, ZIP)
    assert listing(server.out) == []
    assert not server.pins.exists()


def test_a_damaged_file_is_refused_and_not_touched(server: Server) -> None:
    get(server)
    (server.out / ZIP).write_bytes(b"damaged")
    with pytest.raises(RefusedError, match=r"bytes differ: .*Move it away"):
        get(server, ZIP)
    assert (server.out / ZIP).read_bytes() == b"damaged"


def test_a_file_no_pin_vouches_for_is_neither_used_nor_touched(server: Server) -> None:
    server.out.mkdir()
    (server.out / ZIP).write_bytes(ARCHIVE)
    with pytest.raises(RefusedError, match="no pin vouches for it"):
        get(server, ZIP)
    assert (server.out / ZIP).read_bytes() == ARCHIVE
    assert not server.requests


def test_a_base_address_replaces_the_official_ones(server: Server) -> None:
    (fetched,) = fetch(
        "clevrer", server.out, pins=server.pins, base=f"{server.base}/", only=[ZIP], patience=QUICK
    )
    assert fetched.url == f"{server.base}/{ZIP}"
    assert (server.out / ZIP).read_bytes() == ARCHIVE


def test_a_second_fetch_of_the_same_file_is_refused_while_one_runs(server: Server) -> None:
    server.out.mkdir()
    with (server.out / f"{ZIP}.part").open("wb") as held:
        held.write(b"of another fetch")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DownloadError, match="another fetch is writing this file"):
            get(server, ZIP)
    assert (server.out / f"{ZIP}.part").read_bytes() == b"of another fetch"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clever", "clever: no official source is known. Choose one of babi, clevrer, comphy, gqa"),
        ("comphy", "Download it by hand from https://comphyreasoning.github.io"),
    ],
)
def test_an_unknown_source_is_refused_with_the_choices(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        fetch(name, tmp_path / "out", pins=tmp_path / "pins.json")
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_damaged_pins_file_is_refused_before_anything_is_fetched(server: Server) -> None:
    server.pins.parent.mkdir()
    server.pins.write_text('{"clevrer/annotation_validation.zip": {"sha256": 1}}')
    with pytest.raises(FormatError, match=r"downloads\.json.*Restore the pins file"):
        get(server)
    assert not server.requests
    assert not read_downloads(server.pins.with_name("absent.json"))


Make = Callable[..., Transfer]


@pytest.fixture
def transferring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a transfer whose requests a function answers."""

    def make(answer: Callable[[httpx.Request], httpx.Response], **more: Any) -> Transfer:
        behind = partial(httpx.Client, transport=httpx.MockTransport(answer))
        monkeypatch.setattr(httpx, "Client", behind)
        return Transfer(tmp_path / "file.part", lambda part: None, lambda *_: None, QUICK, **more)

    return make


def test_a_source_that_leads_down_to_http_is_refused(transferring: Make, tmp_path: Path) -> None:
    requested: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requested.append(str(request.url))
        if request.url.scheme == "https":
            return httpx.Response(302, headers={"Location": "http://127.0.0.1/elsewhere"})
        return httpx.Response(200, content=b"anything")

    transfer = transferring(answer)
    with pytest.raises(UnavailableError, match=r"leads from https to http://127\.0\.0\.1"):
        transfer("https://example.org/file", tmp_path / "file")
    assert requested == ["https://example.org/file"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("to", "hosts"), [("www.example.org", ()), ("files.example.net", ("files.example.net",))]
)
def test_a_source_may_lead_to_the_hosts_that_are_named(
    to: str, hosts: tuple[str, ...], transferring: Make, tmp_path: Path
) -> None:
    requested: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requested.append(request.url.host)
        # `to` serves the first transfer, and leads the second one on to a host that nobody named.
        target = {"example.org": to, to: "nobody.example.com"}.get(request.url.host)
        if target == to or (target and len(requested) > 2):
            return httpx.Response(302, headers={"Location": f"https://{target}/file"})
        return httpx.Response(200, content=iter([b"anything"]))

    transfer = transferring(answer, hosts=hosts)
    before = os.umask(0o002)
    try:
        transfer("https://example.org/file", tmp_path / "file")
    finally:
        os.umask(before)
    assert (tmp_path / "file").read_bytes() == b"anything"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o664
    with pytest.raises(UnavailableError, match=r"leads to nobody\.example\.com"):
        transfer("https://example.org/file", tmp_path / "other")
    assert requested == ["example.org", to] * 2, "the host that nobody named was not asked"


@pytest.mark.parametrize("with_length", [True, False])
def test_a_download_beyond_its_size_limit_is_cut_off(
    with_length: bool, transferring: Make, tmp_path: Path
) -> None:
    sent: list[int] = []

    def parts() -> Iterator[bytes]:
        for number in range(1000):
            sent.append(number)
            yield b"x" * 100

    headers = {"Content-Length": "100000"} if with_length else {}
    transfer = transferring(lambda _: httpx.Response(200, content=parts(), headers=headers), most=1000)
    with pytest.raises(RefusedError, match="more than 1000 bytes"):
        transfer("https://example.org/file", tmp_path / "file")
    assert len(sent) <= 12, "ten parts fill the limit of 1,000 bytes"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("retry_after", "waits"), [("7", [7.0]), ("3600", [])])
def test_a_busy_source_is_given_the_time_that_it_asks_for_or_left(
    retry_after: str, waits: list[float], transferring: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        httpx.Response(503, headers={"Retry-After": retry_after}),
        httpx.Response(200, content=iter([b"x"])),
    ]
    slept: list[float] = []
    monkeypatch.setattr(http, "sleep", slept.append)
    transfer = transferring(lambda _: answers.pop(0))
    left = pytest.raises(UnavailableError, match=r"asks to wait 3600 s \(HTTP 503\)")
    with nullcontext() if waits else left:
        transfer("https://example.org/file", tmp_path / "file")
    assert slept == waits
    assert (tmp_path / "file").exists() == bool(waits)
