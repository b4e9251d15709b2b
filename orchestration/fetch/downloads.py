"""Official benchmark files: downloaded, checked against their known hashes, pinned.

``sources.toml`` lists the origin of each file. A file with a published git blob hash is checked against it.
For any other file the first download is trusted if it can be read to its end. Its SHA-256 and size go into a
pins file in the repository, and every later download must match them. A run compares the number of questions
with the published number. Downloads run only when a user requests them.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from orchestration.base.http import Patience
from orchestration.base.secrets_out import without_user
from orchestration.fetch.archives import extract
from orchestration.fetch.sources import Pin, SourceFile, Sources, at_mirror, official_sources, read_pins
from orchestration.fetch.transfer import RefusedError, Report, Transfer, bare_host
from substrate.base.errors import ParameterError
from substrate.base.files import naming
from substrate.base.inputs import ZIP_ERRORS
from substrate.base.limits import LIMITS
from substrate.log.journal import write_atomically


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A fetched file: ``url`` if it was downloaded, ``blob`` if a published hash vouches for it."""

    name: str
    path: Path
    status: Literal["downloaded", "present"]
    size: int
    sha256: str
    url: str | None = None
    pinned: bool = False
    blob: str | None = None

    def __str__(self) -> str:
        notes = [self.status, f"{self.size} bytes", f"sha256:{self.sha256}"]
        if self.pinned:
            notes.append("trusted on first use: pinned at this first download")
        return f"{self.name}: {', '.join(notes)}"


class _Digest(msgspec.Struct, frozen=True):
    """A file's SHA-256, git blob hash (SHA-1 over ``blob <size>``, a zero byte and the bytes), and size."""

    sha256: str
    blob: str
    size: int

    @classmethod
    def of(cls, path: Path) -> _Digest:
        size = path.stat().st_size
        sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                sha256.update(chunk)
                blob.update(chunk)
        return cls(sha256.hexdigest(), blob.hexdigest(), size)


def fetch(
    benchmark: str,
    out: Path,
    *,
    pins: Path,
    sources: Sources | None = None,
    base: str | None = None,
    only: Sequence[str] = (),
    progress: Report | None = None,
    patience: Patience | None = None,
) -> list[Fetched]:
    """Fetch a benchmark's official files to ``out/NAME``; only whole, checked files get that name.

    An existing file is left alone, and refused if it does not match: it may be the user's only copy.
    An unfinished download stays as ``NAME.part``, and the next fetch continues it.

    Args:
        benchmark: a key of ``sources``.
        out: the folder to write to; made if absent.
        pins: the JSON file that records the first download of files without a published hash.
        sources: where the files are; the official addresses by default.
        base: an address that holds the files under their names, instead of the addresses of ``sources``.
        only: names to fetch; all by default.
        progress: called for every chunk; none by default.
        patience: time limits and number of tries.

    Returns:
        One record per file, in the order of ``sources``.

    Raises:
        ParameterError: the benchmark or a name is unknown, or the benchmark has no direct address.
        RefusedError: the bytes differ from what is expected; ``out/NAME`` and the pins are not written.
        UnavailableError: the source does not give the file.
        OutputError: the disk is full, or the folder cannot be written.
        FormatError: the pins file is damaged.
    """
    files = wanted(benchmark, official_sources() if sources is None else sources, only)
    read_pins(pins)  # a damaged pins file is found before anything is downloaded
    with naming(out):
        out.mkdir(parents=True, exist_ok=True)
    report = progress or (lambda name, done, total: None)
    patience = patience or Patience()
    each = ((at_mirror(base, file), f"{benchmark}/{file.name}", out / file.name) for file in files)
    return [_File(*of_file, pins, report, patience).fetch() for of_file in each]


def wanted(benchmark: str, sources: Sources, only: Sequence[str] = ()) -> list[SourceFile]:
    """Return the official files of a benchmark to fetch.

    Raises:
        ParameterError: the benchmark or a name is unknown, or the benchmark has no direct address.
    """
    if benchmark not in sources:
        hint = f"Choose one of {', '.join(sorted(sources))}"
        raise ParameterError("no official source is known", where=(benchmark,), hint=hint)
    source = sources[benchmark]
    if not source.files:
        hint = f"Download it by hand from {source.manual}"
        raise ParameterError("has no direct address", where=(benchmark,), hint=hint)
    names = [file.name for file in source.files]
    if unknown := sorted(set(only) - set(names)):
        what = f"no official file is called {', '.join(unknown)}"
        hint = f"Choose among {', '.join(names)}"
        raise ParameterError(what, where=(benchmark,), hint=hint)
    return [file for file in source.files if not only or file.name in only]


@dataclass
class _File:
    """A file to fetch, and the known hashes of its bytes; a first download is pinned."""

    file: SourceFile
    key: str
    path: Path
    pins: Path
    report: Report
    patience: Patience
    pinned: bool = False

    @property
    def pin(self) -> Pin | None:
        return read_pins(self.pins).get(self.key)

    @property
    def _url(self) -> str:
        return without_user(self.file.url)

    def fetch(self) -> Fetched:
        """Fetch the file, unless the right file already exists; :meth:`_accept` checks the download."""
        if fresh := not self.path.exists():
            part, pin = self.path.with_name(f"{self.path.name}.part"), self.pin
            most = pin.size if pin else LIMITS.bytes
            transfer = Transfer(part, self._accept, self.report, self.patience, most=most, hosts=_hosts())
            transfer(self.file.url, self.path)
        digest = _Digest.of(self.path)
        if not (fresh or self.file.blob or self.pin):
            hint = f"Move it away and fetch again, or restore {self.pins} if it held the entry {self.key}"
            what = f"a file is there already and no pin vouches for it (SHA-256 {digest.sha256})"
            raise RefusedError(what, where=(self.path,), hint=hint)
        if difference := self._difference(digest):
            hint = "Move it away and fetch again"
            raise RefusedError(f"the bytes differ: {difference}", where=(self.path,), hint=hint)
        return Fetched(
            name=self.file.name,
            path=self.path,
            status="downloaded" if fresh else "present",
            size=digest.size,
            sha256=digest.sha256,
            url=self._url if fresh else None,
            pinned=self.pinned,
            blob=self.file.blob,
        )

    def _difference(self, digest: _Digest) -> str:
        """Describe the expected and the actual hash if they differ; else return an empty text."""
        differ: list[str] = []
        if self.file.blob not in (None, digest.blob):
            differ.append(f"expected git blob SHA-1 {self.file.blob}, found {digest.blob}")
        if (pin := self.pin) and (pin.sha256, pin.size) != (digest.sha256, digest.size):
            known = f"expected SHA-256 {pin.sha256} ({pin.size} bytes)"
            differ.append(f"{known}, found {digest.sha256} ({digest.size} bytes)")
        return "; ".join(differ)

    def _accept(self, part: Path) -> None:
        """Reject a download that differs from its known hash; pin a first download."""
        digest = _Digest.of(part)
        if difference := self._difference(digest):
            hint = (
                "Fetch again or give a mirror as the base address: the source does not serve the published "
                "file"
                if self.file.blob
                else "Fetch again; if the source has published a new version and you accept it, "
                f"remove the entry {self.key} from {self.pins} first"
            )
            where = self.file.name, self._url
            raise RefusedError(f"the bytes differ: {difference}", where=where, hint=hint)
        if self.file.blob or self.pin:
            return
        try:  # its pin outlives it
            _require_readable(part, self.file.name)
        except ZIP_ERRORS as error:
            hint = "Open the address in a browser: the source may send a page in place of the file"
            where = self.file.name, self._url
            raise RefusedError(f"not a whole archive ({error})", where=where, hint=hint) from error
        pin = Pin(sha256=digest.sha256, size=digest.size, url=self._url)
        entries = {**read_pins(self.pins), self.key: pin}
        text = msgspec.json.format(msgspec.json.encode(entries, order="sorted"), indent=2).decode()
        self.pins.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.pins, f"{text}\n")
        self.pinned = True


def _require_readable(path: Path, name: str) -> None:
    """Read a zip or gzip file to its last byte; raises one of :data:`ZIP_ERRORS` if it is damaged."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            if damaged := archive.testzip():
                raise zipfile.BadZipFile(f"{damaged} is damaged")
    elif name.endswith(".gz"):
        with gzip.open(path) as stream:
            while stream.read(1 << 20):
                pass


def _hosts() -> set[str]:
    """Return the hosts of the official files, and the hosts that the user names."""
    official = (file.url for source in official_sources().values() for file in source.files)
    return {*map(bare_host, official), *os.environ.get("SUBSTRATE_HOSTS", "").replace(",", " ").split()}


def unpack(benchmark: str, folder: Path) -> None:
    """Unpack the members named by :attr:`SourceFile.unpack` into the folder of the archives."""
    for file in official_sources()[benchmark].files:
        for part in file.unpack:
            out = folder / part.into
            out.mkdir(parents=True, exist_ok=True)
            extract(folder / file.name, part.name_of, out, what=part.members)
