"""Official benchmark files, fetched: from their source, by a resumable transfer, with known bytes.

:mod:`~orchestration.fetch.sources` has the address of each file, and :mod:`~orchestration.fetch.transfer`
brings its bytes. They must have the known hash: a published one, or the pin of the first download. A file
without a published hash is trusted at its first download if it can be read to its end; then it is pinned, and
every later download must be the same. Downloads run only when a user requests them.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from orchestration.base.http import Patience
from orchestration.base.secrets_out import without_user
from orchestration.fetch.archives import extract
from orchestration.fetch.sources import OfficialRelease, official_sources, wanted
from orchestration.fetch.transfer import RefusedError, Report, Transfer, bare_host
from substrate.base.errors import FormatError
from substrate.base.files import naming, sha256
from substrate.base.inputs import NOT_JSON, ZIP_ERRORS
from substrate.base.limits import LIMITS
from substrate.log.journal import write_atomically


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the first download of a file: SHA-256 (hex), size in bytes, address."""

    sha256: str
    size: int
    url: str


def read_downloads(path: Path) -> dict[str, Pin]:
    """Read pins by ``BENCHMARK/NAME``; none if the file does not exist.

    Raises:
        FormatError: the file is not a pins file.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Pin])
    except FileNotFoundError:
        return {}
    except NOT_JSON as error:
        hint = "Restore the pins file from the repository's history"
        raise FormatError(str(error), where=(path,), hint=hint) from error


class KnownBytes(NamedTuple):
    """The known bytes of a file.

    Attributes:
        key: the file as BENCHMARK/NAME.
        blob: its published git blob hash, if there is one.
        pin: the pin of its first download, if there is one.
    """

    key: str
    blob: str | None
    pin: Pin | None

    @property
    def is_vouched(self) -> bool:
        """Tell whether a published hash or a pin vouches for the file."""
        return bool(self.blob or self.pin)

    def checked(self, path: Path, url: str, *where: object, hint: str) -> Pin:
        """Hash a file, and check it against the published hash and the pin; pass if there is neither.

        Raises:
            RefusedError: they differ; the error has the expected and the actual hash.
        """
        actual = Pin(sha256=sha256(path).removeprefix("sha256:"), size=path.stat().st_size, url=url)
        differ: list[str] = []
        if self.blob and (blob := git_blob(path)) != self.blob:
            differ.append(f"expected git blob SHA-1 {self.blob}, found {blob}")
        if (pin := self.pin) and (pin.sha256, pin.size) != (actual.sha256, actual.size):
            expected = f"expected SHA-256 {pin.sha256} ({pin.size} bytes)"
            differ.append(f"{expected}, found {actual.sha256} ({actual.size} bytes)")
        if differ:
            raise RefusedError(f"the bytes differ: {'; '.join(differ)}", where=where, hint=hint)
        return actual


def git_blob(path: Path) -> str:
    """Compute a file's git blob hash: SHA-1 over ``blob <size>``, a zero byte and the bytes."""
    begun = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: begun).hexdigest()


def add_pin(pins: Path, key: str, pin: Pin) -> None:
    """Pin a first download."""
    text = msgspec.json.encode({**read_downloads(pins), key: pin}, order="sorted")
    pins.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(pins, f"{msgspec.json.format(text, indent=2).decode()}\n")


class Fetched(msgspec.Struct, frozen=True):
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


def fetch(
    benchmark: str,
    out: Path,
    *,
    pins: Path,
    sources: Mapping[str, OfficialRelease] | None = None,
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
        ParameterError: the benchmark is unknown or has no direct address.
        RefusedError: the bytes differ from what is expected; ``out/NAME`` and the pins are not written.
        UnavailableError: the source does not give the file.
        OutputError: the disk is full, or the folder cannot be written.
        FormatError: the pins file is damaged.
    """
    files = wanted(benchmark, official_sources() if sources is None else sources)
    pinned = read_downloads(pins)  # a damaged pins file is found before anything is downloaded
    with naming(out):
        out.mkdir(parents=True, exist_ok=True)
    report, patience, fetched = progress or (lambda *_: None), patience or Patience(), list[Fetched]()
    for file in (file for file in files if not only or file.name in only):
        key, path = f"{benchmark}/{file.name}", out / file.name
        known = KnownBytes(key, file.blob, pinned.get(key))
        if path.exists():
            pin = _present(path, known, pins)
            fetched.append(Fetched(file.name, path, "present", pin.size, pin.sha256, blob=file.blob))
        else:
            url, is_first = f"{base.rstrip('/')}/{file.name}" if base else file.url, not known.is_vouched
            pin = _fetched(url, path, known, pins, report, patience)
            digest = pin.size, pin.sha256
            fetched.append(Fetched(file.name, path, "downloaded", *digest, pin.url, is_first, file.blob))
    return fetched


def _present(path: Path, known: KnownBytes, pins: Path) -> Pin:
    """Check an existing file, for which a published hash or a pin has to vouch."""
    pin = known.checked(path, "", path, hint="Move it away and fetch again")
    if not known.is_vouched:
        hint = f"Move it away and fetch again, or restore {pins} if it held the entry {known.key}"
        what = f"a file is there already and no pin vouches for it (SHA-256 {pin.sha256})"
        raise RefusedError(what, where=(path,), hint=hint)
    return pin


def _fetched(url: str, path: Path, known: KnownBytes, pins: Path, report: Report, patience: Patience) -> Pin:
    """Download a file to a path."""
    address = without_user(url)
    hint = "Fetch again or give a mirror as the base address: the source does not serve the published file"
    if not known.blob:
        what = "if the source has published a new version and you accept it"
        hint = f"Fetch again; {what}, remove the entry {known.key} from {pins} first"

    def accept(part: Path) -> Pin:
        """Refuse bytes other than the known ones; pin a first download, if it is whole."""
        pin = known.checked(part, address, path.name, address, hint=hint)
        if not known.is_vouched:
            _require_readable(part, path.name, address)
            add_pin(pins, known.key, pin)
        return pin

    part, most = path.with_name(f"{path.name}.part"), known.pin.size if known.pin else LIMITS.bytes
    return Transfer(part, accept, report, patience, most=most, hosts=_hosts())(url, path)


def _require_readable(path: Path, name: str, url: str) -> None:
    """Read a zip or gzip file to its last byte.

    Raises:
        RefusedError: it is damaged.
    """
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                if damaged := archive.testzip():
                    raise zipfile.BadZipFile(f"{damaged} is damaged")
        elif name.endswith(".gz"):
            with gzip.open(path) as stream:
                while stream.read(1 << 20):
                    pass
    except ZIP_ERRORS as error:
        hint = "Open the address in a browser: the source may send a page in place of the file"
        raise RefusedError(f"not a whole archive ({error})", where=(name, url), hint=hint) from error


def _hosts() -> set[str]:
    """Return the hosts of the official files, and the hosts that the user names."""
    official = [file.url for source in official_sources().values() for file in source.files]
    named = os.environ.get("SUBSTRATE_HOSTS", "").replace(",", " ").split()
    return {bare_host(url) for url in (*official, *(f"//{host}" for host in named))}


def unpack(benchmark: str, folder: Path, out: Path) -> None:
    """Unpack the fetched files of a benchmark as :attr:`SourceFile.unpack` says; link whole files.

    Args:
        folder: the folder of the fetched files.
        out: the folder to fill, which may be the same.
    """
    for file in official_sources()[benchmark].files:
        for part in file.unpack:
            below = out / part.into
            below.mkdir(parents=True, exist_ok=True)
            extract(folder / file.name, part.name_of, below, what=part.members)
        if not file.unpack and out != folder:
            (out / file.name).hardlink_to(folder / file.name)
