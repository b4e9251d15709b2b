"""Counts of an official archive: one that is not whole is never recorded as the official one."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import Literal

import msgspec

from orchestration.fetch.archives import opened


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
    found = [0] * len(holdings)
    with opened(archive, name) if holdings else nullcontext({}) as members:
        for member, read in members.items():
            for place, holding in enumerate(holdings):
                if PurePosixPath(member).match(holding.members):
                    found[place] += _counted(holding, read)
    wrong = [
        f"{number:,} {holding.of} instead of {holding.number:,} ({holding.source})"
        for number, holding in zip(found, holdings, strict=True)
        if number != holding.number
    ]
    return "; ".join(wrong)


def _counted(holding: Holding, read: Callable[[], bytes]) -> int:
    if holding.count == "files":
        return 1
    if holding.count == "records":
        return len(msgspec.json.decode(read(), type=dict[str, msgspec.Raw]))
    return sum(b"\t" in line for line in read().splitlines())
