"""The official files: their addresses, their known hashes, and who vouches for them.

``sources.toml`` holds the addresses; the pins file records the first downloads.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase as fnmatch
from importlib.resources import files
from pathlib import Path, PurePosixPath

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import NOT_JSON


class Unpacked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The members of an archive to unpack into a folder: members that match one pattern and not the other."""

    into: str
    members: str
    without: str = ""

    def name_of(self, member: PurePosixPath) -> str | None:
        """The name of a member in the folder; ``None`` if it is not wanted."""
        path = "/".join(member.parts[-2:])
        wanted = fnmatch(path, self.members) and not fnmatch(path, self.without)
        return member.name if wanted else None


class SourceFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An official file: its address, git blob hash if published."""

    name: str
    url: str
    blob: str | None = None
    unpack: tuple[Unpacked, ...] = ()


class OfficialRelease(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark's official files; ``manual`` is the page to visit if there is no direct address."""

    files: tuple[SourceFile, ...] = ()
    licence: str = ""
    manual: str = ""


Sources = Mapping[str, OfficialRelease]
"""Official files by benchmark."""


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the first download of a file: SHA-256 (hex), size in bytes, address."""

    sha256: str
    size: int
    url: str


def official_sources() -> Sources:
    """The official files that the package lists.

    >>> all(source.files or source.manual for source in official_sources().values())
    True
    """
    return msgspec.toml.decode(
        files("orchestration.fetch").joinpath("sources.toml").read_bytes(), type=dict[str, OfficialRelease]
    )


def read_pins(path: Path) -> dict[str, Pin]:
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


def at_mirror(base: str | None, file: SourceFile) -> SourceFile:
    """A file at a mirror, which holds it under its name; at its own address where there is none."""
    if base is None:
        return file
    return msgspec.structs.replace(file, url=f"{base.rstrip('/')}/{file.name}")
