"""A download over HTTP that resumes where the last attempt ended.

The bytes grow in a ``.part`` file; a ``.part.json`` file next to it records address, length and validator
(strong ETag, else Last-Modified). A part is continued with ``Range`` and ``If-Range``: if the file changed at
its source, the download starts again, so no file mixes two versions.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

import msgspec

from orchestration.base import http
from orchestration.base.secrets_out import hide, without_user
from substrate.base.errors import SubstrateError
from substrate.base.files import lock, naming
from substrate.base.inputs import NOT_JSON
from substrate.base.limits import LIMITS

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)$")
_WAY_OUT = "Free some space, or give another folder, and fetch again: the download resumes"

# A callback that takes the file's name, the bytes received and the total bytes (``None`` if unknown).
Report = Callable[[str, int, "int | None"], None]


class DownloadError(SubstrateError):
    """An official file could not be downloaded."""


class UnavailableError(DownloadError):
    """A source does not serve the file; another source may."""


class RefusedError(DownloadError):
    """The downloaded or existing bytes are not the expected bytes."""


class Remains(msgspec.Struct, frozen=True, kw_only=True):
    """A description of the whole file that a ``.part`` file begins."""

    url: str
    total: int | None
    validator: str | None


@dataclass
class Transfer(Generic[T]):
    """A resumable download of a file: ``transfer(url, path)`` returns what ``accept`` did.

    Args:
        part: the path for unfinished bytes, in the folder of the finished file.
        accept: called with the complete part before it is renamed; raises to refuse it.
        report: called for every chunk.
        patience: time limits and number of tries.
        most: the most bytes that the file may have.
        hosts: the hosts, without ``www.``, that the address may redirect to, besides its own.

    Raises:
        UnavailableError: the source has no such file, does not answer, or breaks off repeatedly;
            the part stays for the next fetch.
        RefusedError: ``accept`` refused the part, or it has too many bytes; the part is deleted.
        DownloadError: another fetch is writing the part.
        OutputError: the disk is full, or the part cannot be written.
    """

    part: Path
    accept: Callable[[Path], T]
    report: Report
    patience: http.Patience
    most: int = field(default=LIMITS.bytes, kw_only=True)
    hosts: Collection[str] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        self.name = self.part.name.removesuffix(".part")
        self._note = self.part.with_name(f"{self.part.name}.json")

    def __call__(self, url: str, path: Path) -> T:
        """Fetch ``url`` and rename the checked part to ``path``."""
        import httpx

        client = httpx.Client(
            timeout=http.limits(self.patience),
            follow_redirects=True,
            headers={"Accept-Encoding": "identity"},
            event_hooks={"request": [_stay_with(url, self.hosts)]},
        )
        with client, naming(self.part, _WAY_OUT), _locked(self.part) as file:
            try:
                self._complete(client, url, file)
                os.fsync(file.fileno())
                taken = self.accept(self.part)
                os.replace(self.part, path)
                return taken
            except RefusedError:
                self.part.unlink(missing_ok=True)
                raise
            finally:
                # An empty part is of no use, nor is a note without its part.
                if self.part.exists() and self.part.stat().st_size == 0:
                    self.part.unlink()
                if not self.part.exists():
                    self._note.unlink(missing_ok=True)

    def _complete(self, client: httpx.Client, url: str, file: IO[bytes]) -> None:
        """Retry until the part is complete."""
        import httpx

        size = partial(file.seek, 0, os.SEEK_END)
        where = (self.name, without_user(url))
        try:
            http.persist(lambda _: self._try(client, url, file), self.patience, brought=size)
        except http.GivenUpError as error:
            hint = "Check the connection and fetch again later"
            if received := size():
                hint = f"Fetch again later: {received} bytes are kept and the download resumes"
            raise UnavailableError(f"the source {error}", where=where, hint=hint) from error
        except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.TooManyRedirects) as error:
            what = f"not a usable address ({hide(str(error), (url, urlsplit(url).password or ''))})"
            raise UnavailableError(what, where=where, hint="Give an http or https address") from error

    def _try(self, client: httpx.Client, url: str, file: IO[bytes]) -> None:
        """Send a request; return if the file is complete, else raise."""
        remains = self._remains(url)
        start = file.seek(0, os.SEEK_END) if remains else 0
        if remains and start == remains.total:
            return
        headers: dict[str, str] = {}
        if remains and start:
            headers = {"Range": f"bytes={start}-", "If-Range": remains.validator or ""}
        with http.passing(self.patience), client.stream("GET", url, headers=headers) as response:
            self._check_status(url, response, file)
            offered, first = _describe(url, response)
            if response.status_code == 206:
                if not (remains and _continues(remains, offered) and first == start):
                    self._start_over(file)
                    raise http.TryAgainError("the file changed at its source during the download")
            else:
                start = self._start_over(file)
                self._note.write_bytes(msgspec.json.encode(offered))
            size = self._receive(response, file, start, offered.total)
        if offered.total is not None and size != offered.total:
            raise http.TryAgainError(f"the source sent {size} of {offered.total} bytes")

    def _check_status(self, url: str, response: httpx.Response, file: IO[bytes]) -> None:
        status = response.status_code
        if status in (200, 206):
            return
        http.require_ready(response)
        if status == 416:
            self._start_over(file)
            raise http.TryAgainError("the source refuses to continue the part (HTTP 416)")
        gone = status in (404, 410)
        what = "no such file at this address" if gone else "the source does not give this file"
        hint = "It may have moved: look for it on the benchmark's page, or give a mirror as the base address"
        raise UnavailableError(f"{what} (HTTP {status})", where=(self.name, without_user(url)), hint=hint)

    def _receive(self, response: httpx.Response, file: IO[bytes], start: int, total: int | None) -> int:
        file.seek(start)
        self.report(self.name, start, total)
        # Raw: some servers label a .tar.gz as a content encoding, and we want the archive itself.
        # No chunk size: bytes that wait for a full chunk would be lost with the connection.
        since, before = time.monotonic(), start
        for chunk in response.iter_raw():
            view = memoryview(chunk)
            while view:
                view = view[file.write(view) :]
            start += len(chunk)
            if max(start, total or 0) > self.most:
                hint = "The source sends a wrong file; give a mirror as the base address"
                raise RefusedError(f"has more than {self.most} bytes", where=(self.name,), hint=hint)
            self.report(self.name, start, total)
            if (took := time.monotonic() - since) >= self.patience.read:
                rate, least = (start - before) / took, self.patience.rate
                since, before = since + took, start
                if rate < least:
                    what = f"the source sends {rate:.0f} bytes a second, less than {least:.0f}"
                    kept = f"{start} bytes are kept and the download resumes"
                    hint = f"Fetch again later or give a mirror: {kept}"
                    where = self.name, without_user(str(response.url))
                    raise UnavailableError(what, where=where, hint=hint)
        return start

    def _remains(self, url: str) -> Remains | None:
        """Return the note next to the part, if it allows a resumption from this address."""
        try:
            note = msgspec.json.decode(self._note.read_bytes(), type=Remains)
        except (FileNotFoundError, *NOT_JSON):
            return None
        return note if note.url == without_user(url) and note.validator else None

    def _start_over(self, file: IO[bytes]) -> int:
        self._note.unlink(missing_ok=True)
        if file.seek(0, os.SEEK_END):
            file.truncate(0)
        return 0


@contextmanager
def _locked(part: Path) -> Iterator[IO[bytes]]:
    """Open the part for writing and lock it against a second fetch of the same file."""
    with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b", buffering=0) as file:
        try:
            # A fetch that ended between open and lock may have renamed this very file to its final name.
            held = lock(file.fileno()) and os.path.samestat(os.fstat(file.fileno()), os.stat(part))
        except FileNotFoundError:
            held = False
        if not held:
            hint = "Wait for it to end, then fetch again"
            raise DownloadError("another fetch is writing this file", where=(part,), hint=hint)
        yield file


def _stay_with(url: str, hosts: Collection[str]) -> Callable[[httpx.Request], None]:
    """Reject unlisted hosts, and redirects from https to http, which others can read and change."""
    named = {bare_host(url), *hosts}

    def check(request: httpx.Request) -> None:
        if urlsplit(url).scheme == "https" and request.url.scheme != "https":
            what = f"leads from https to {request.url.scheme}://{request.url.host}"
            hint = "Give the address of a mirror that stays with https"
        elif bare_host(str(request.url)) not in named:
            what = f"leads to {request.url.host}, which is not an allowed host"
            hint = "If you trust it, name it in SUBSTRATE_HOSTS; or give a mirror"
        else:
            return
        raise UnavailableError(what, where=(without_user(url),), hint=hint)

    return check


def bare_host(url: str) -> str:
    """Return the host of an address without ``www.``.

    >>> bare_host("http://www.thespermwhale.com/jaseweston/babi/")
    'thespermwhale.com'
    """
    return (urlsplit(url).hostname or "").removeprefix("www.")


def _describe(url: str, response: httpx.Response) -> tuple[Remains, int | None]:
    """Describe a response's whole file, and give a partial response's first byte; ignore a weak ETag, which
    does not identify bytes.
    """
    tag = response.headers.get("ETag", "")
    validator = tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")
    span = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
    length = span[2] if span else response.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    return Remains(url=without_user(url), total=total, validator=validator), int(span[1]) if span else None


def _continues(remains: Remains, offered: Remains) -> bool:
    """Tell whether a partial response has the same version; it may omit the validator but not change it."""
    return offered.validator in (None, remains.validator) and remains.total in (None, offered.total)
