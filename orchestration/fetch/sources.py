"""The addresses of the official files, as ``sources.toml`` lists them, or at a mirror."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import PurePosixPath

import msgspec

from substrate.base.errors import ParameterError


class Unpacked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The members of an archive to use.

    Attributes:
        members: a pattern that the end of a member's path must match.
        without: a pattern that it must not match, if there is one.
        into: a folder below the one that is unpacked into.
        name: the new name, if the pattern matches a single member.
    """

    members: str
    without: str = ""
    into: str = ""
    name: str = ""

    def name_of(self, member: PurePosixPath) -> str | None:
        """The name of a member in the folder; ``None`` if it is not wanted."""
        if not member.match(self.members) or (self.without and member.match(self.without)):
            return None
        return self.name or member.name


class SourceFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An official file: its name, its address, its git blob hash if published, and its members to use."""

    name: str
    url: str
    blob: str | None = None
    unpack: tuple[Unpacked, ...] = ()


class OfficialRelease(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark's official files; ``manual`` is the page to visit if there is no direct address."""

    files: tuple[SourceFile, ...] = ()
    licence: str = ""
    manual: str = ""


def official_sources() -> Mapping[str, OfficialRelease]:
    """The official files that the package lists, by benchmark.

    >>> all(source.files or source.manual for source in official_sources().values())
    True
    """
    return msgspec.toml.decode(
        files("orchestration.fetch").joinpath("sources.toml").read_bytes(), type=dict[str, OfficialRelease]
    )


def has_address(benchmark: str) -> bool:
    """Tell whether a benchmark's official files can be downloaded.

    >>> [has_address(name) for name in ("babi", "comphy", "twin")]
    [True, False, False]
    """
    return bool(official_sources().get(benchmark, OfficialRelease()).files)


def wanted(benchmark: str, sources: Mapping[str, OfficialRelease]) -> tuple[SourceFile, ...]:
    """Return the official files of a benchmark to fetch.

    Raises:
        ParameterError: the benchmark is unknown or has no direct address.
    """
    if benchmark not in sources:
        hint = f"Choose one of {', '.join(sorted(sources))}"
        raise ParameterError("no official source is known", where=(benchmark,), hint=hint)
    source = sources[benchmark]
    if not source.files:
        hint = f"Download it by hand from {source.manual}"
        raise ParameterError("has no direct address", where=(benchmark,), hint=hint)
    return source.files
