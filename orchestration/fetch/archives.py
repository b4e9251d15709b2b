"""Extraction of official archives: all members are checked before any is written."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath

from substrate.base.errors import FormatError
from substrate.base.inputs import ZIP_ERRORS, members, open_zip, read_member, require_file, require_members
from substrate.base.limits import LIMITS, SMALL

# A function from a member's name to its new name; ``None`` skips the member.
Wanted = Callable[[PurePosixPath], str | None]


def extract(archive: Path, wanted: Wanted, out: Path, *, what: str) -> None:
    """Write the wanted members of a zip or tar archive to an existing folder, each under its new name.

    Args:
        archive: a ``.zip``, or a tar with any compression.
        wanted: chooses and names members.
        out: the folder.
        what: a description of the wanted members, for errors.

    Raises:
        FormatError: the archive is damaged or exceeds the limits of :mod:`substrate.base.limits`, a member
            leads out of the folder or occurs twice, no member is wanted, or two members get the same name.
    """
    try:
        with _opened(archive) as members:
            contents = {name: members[member]() for name, member in _chosen(archive, members, wanted).items()}
    except (*ZIP_ERRORS, tarfile.TarError) as error:
        hint = "Fetch the archive again"
        raise FormatError(f"not a readable archive ({error})", where=(archive,), hint=hint) from error
    if not contents:
        hint = "Fetch the archive again, or give the official one"
        raise FormatError(f"holds no {what}", where=(archive,), hint=hint)
    for name, data in contents.items():
        (out / name).write_bytes(data)


@contextmanager
def _opened(path: Path) -> Iterator[Mapping[str, Callable[[], bytes]]]:
    """Yield the members of an archive by name, each with a function that reads it."""
    if path.suffix == ".zip":
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
