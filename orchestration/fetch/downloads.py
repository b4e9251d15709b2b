"""Official benchmark files, fetched: from their source, by a resumable transfer, with known bytes.

:mod:`~orchestration.fetch.sources` has the address of each file, :mod:`~orchestration.fetch.transfer`
brings its bytes, and :mod:`~orchestration.fetch.pins` has the hashes that they must have. A file without a
published hash is trusted at its first download if it can be read to its end; then it is pinned, and every
later download must be the same. Downloads run only when a user requests them.
"""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from orchestration.base.http import Patience
from orchestration.base.secrets_out import without_user
from orchestration.fetch.archives import extract
from orchestration.fetch.pins import Digest, Known, read_downloads
from orchestration.fetch.sources import SourceFile, Sources, at_mirror, official_sources, wanted
from orchestration.fetch.transfer import RefusedError, Report, Transfer, bare_host
from substrate.base.files import naming
from substrate.base.inputs import ZIP_ERRORS
from substrate.base.limits import LIMITS


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
    read_downloads(pins)  # a damaged pins file is found before anything is downloaded
    with naming(out):
        out.mkdir(parents=True, exist_ok=True)
    report = progress or (lambda name, done, total: None)
    patience, fetched = patience or Patience(), list[Fetched]()
    for file in files:
        source, path = at_mirror(base, file), out / file.name
        known = Known(f"{benchmark}/{file.name}", file.blob, pins)
        is_new = not path.exists()
        pinned = is_new and _download(source, path, known, report, patience)
        digest = _checked(path, known)
        status, url = ("downloaded", without_user(source.url)) if is_new else ("present", None)
        fetched.append(
            Fetched(
                name=file.name,
                path=path,
                status=status,
                size=digest.size,
                sha256=digest.sha256,
                url=url,
                pinned=pinned,
                blob=file.blob,
            )
        )
    return fetched


def _download(source: SourceFile, path: Path, known: Known, report: Report, patience: Patience) -> bool:
    """Download a file to a path; return whether it was pinned."""
    url, pin, is_first = without_user(source.url), known.pin, not known.is_vouched

    def accept(part: Path) -> None:
        """Refuse bytes other than the known ones; pin a first download, if it is whole."""
        digest = Digest.of(part)
        known.require(digest, source.name, url, hint=_other_bytes(known))
        if is_first:
            _require_readable(part, source.name, url)
            known.keep(digest, url)

    part, most = path.with_name(f"{path.name}.part"), pin.size if pin else LIMITS.bytes
    Transfer(part, accept, report, patience, most=most, hosts=_hosts())(source.url, path)
    return is_first


def _checked(path: Path, known: Known) -> Digest:
    """Return the digest of an existing file, for which a published hash or a pin has to vouch."""
    digest = Digest.of(path)
    if not known.is_vouched:
        hint = f"Move it away and fetch again, or restore {known.pins} if it held the entry {known.key}"
        what = f"a file is there already and no pin vouches for it (SHA-256 {digest.sha256})"
        raise RefusedError(what, where=(path,), hint=hint)
    known.require(digest, path, hint="Move it away and fetch again")
    return digest


def _other_bytes(known: Known) -> str:
    if known.blob:
        what = "the source does not serve the published file"
        return f"Fetch again or give a mirror as the base address: {what}"
    what = "if the source has published a new version and you accept it"
    return f"Fetch again; {what}, remove the entry {known.key} from {known.pins} first"


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
    official = (file.url for source in official_sources().values() for file in source.files)
    return {*map(bare_host, official), *os.environ.get("SUBSTRATE_HOSTS", "").replace(",", " ").split()}


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
