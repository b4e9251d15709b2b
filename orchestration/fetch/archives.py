"""Members of official archives: looked at before any is written, and counted before one is recorded."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import (
    ZIP_ERRORS,
    members,
    open_zip,
    read_member,
    require_file,
    require_members,
)
from substrate.base.limits import LIMITS, SMALL

Wanted = Callable[[PurePosixPath], str | None]
"""From a member to the name to write it under; ``None`` to skip it."""


def extract(archive: Path, wanted: Wanted, out: Path, *, what: str) -> list[Path]:
    """Write the wanted members of a zip or tar archive to an existing folder, each under its new name.

    Args:
        archive: a ``.zip``, or a tar with any compression.
        wanted: chooses and names members.
        out: the folder.
        what: a description of the wanted members, for errors.

    Returns:
        The files written, sorted by name.

    Raises:
        FormatError: the archive is damaged or exceeds the limits of :mod:`substrate.base.limits`, a member
            leads out of the folder or occurs twice, no member is wanted, or two members get the same name.
    """
    try:
        with opened(archive, archive.name) as members:
            contents = {name: members[member]() for name, member in _chosen(archive, members, wanted).items()}
    except (*ZIP_ERRORS, tarfile.TarError) as error:
        hint = "Fetch the archive again"
        raise FormatError(f"not a readable archive ({error})", where=(archive,), hint=hint) from error
    if not contents:
        hint = "Fetch the archive again, or give the official one"
        raise FormatError(f"holds no {what}", where=(archive,), hint=hint)
    for name, data in sorted(contents.items()):
        (out / name).write_bytes(data)
    return [out / name for name in sorted(contents)]


@contextmanager
def opened(path: Path, name: str) -> Iterator[Mapping[str, Callable[[], bytes]]]:
    """The members of an archive by name, each with what reads it.

    Args:
        path: a file with the bytes, whatever it is called.
        name: what it is called, which says how it is packed.
    """
    if name.endswith(".zip"):
        with open_zip(path) as zipped:
            names = [info.filename for info in members(zipped, path)]
            yield {member: partial(read_member, zipped, path, member) for member in names}
        return
    require_file(path)
    with tarfile.open(path) as tar:
        files: list[tarfile.TarInfo] = []
        room = min(LIMITS.unpacked, max(LIMITS.ratio * path.stat().st_size, SMALL))
        for member in tar:
            room -= member.size
            if room < 0 or len(files) > LIMITS.members:
                hint = "If it is meant to, raise unpacked, ratio or members in SUBSTRATE_LIMITS"
                raise FormatError("unpacks to more than is allowed", where=(path, member.name), hint=hint)
            if not member.isdir():
                files.append(member)
        require_members([member.name for member in files], path)
        yield {member.name: partial(_read, tar, member, path) for member in files}


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> bytes:
    source = tar.extractfile(member) if member.isfile() else None
    if source is None:
        hint = "Fetch the archive again: no official one has such a member"
        raise FormatError("is a link or a device, not a file", where=(path, member.name), hint=hint)
    return source.read()


def _chosen(path: Path, names: Iterable[str], wanted: Wanted) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for member in names:
        name = wanted(PurePosixPath(member))
        if name in chosen:
            hint = "Fetch the archive again: the official one has one of them"
            raise FormatError(f"{chosen[name]} and {member} would both be {name}", where=(path,), hint=hint)
        if name is not None:
            chosen[name] = member
    return chosen


class Holding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The amount that an archive has to hold.

    Attributes:
        members: a pattern of the members that count, such as ``*/en/qa*_test.txt``.
        count: ``files``: the members; ``records``: the keys of the JSON objects in them; ``questions``: their
            lines with a tab, as bAbI has them.
        number: how many there are.
        of: what is counted, in words.
        source: who says so.
    """

    members: str
    count: Literal["files", "records", "questions"]
    number: int
    of: str
    source: str


def differing(archive: Path, name: str, holdings: tuple[Holding, ...]) -> str:
    """The members of which an archive holds too few or too many, in words; empty where it is whole.

    Args:
        archive: a file with the bytes, whatever it is called.
        name: what it will be called, which says how it is packed.
        holdings: what it has to hold.

    Raises:
        FormatError: as :func:`~orchestration.fetch.archives.extract`.
        msgspec.DecodeError, zipfile.BadZipFile, tarfile.TarError: it cannot be read.
    """
    counts = [0] * len(holdings)
    with opened(archive, name) if holdings else nullcontext({}) as members:
        for member, read in members.items():
            for place, holding in enumerate(holdings):
                if PurePosixPath(member).match(holding.members):
                    counts[place] += _counted(holding, read)
    wrong = [
        f"{number:,} {holding.of} instead of {holding.number:,} ({holding.source})"
        for number, holding in zip(counts, holdings, strict=True)
        if number != holding.number
    ]
    return "; ".join(wrong)


def _counted(holding: Holding, read: Callable[[], bytes]) -> int:
    if holding.count == "files":
        return 1
    if holding.count == "records":
        return len(msgspec.json.decode(read(), type=dict[str, msgspec.Raw]))
    return sum(b"\t" in line for line in read().splitlines())
