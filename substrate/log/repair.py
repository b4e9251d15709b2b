"""Recover from a damaged file the part of the log that its chain proves, and name the lost ticks."""

from __future__ import annotations

import os
import re
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from substrate.base.errors import LogError
from substrate.log._chain import Chain
from substrate.log.journal import Contents, read_contents, write_atomically
from substrate.log.patch import verify

_TICK = re.compile(rb'^H tick "(\d{1,18})" \.$', re.MULTILINE)


class Repair(NamedTuple):
    """The report of a repair, or of a dry run.

    Attributes:
        deltas: the number of deltas that the chain proves.
        last_tick: the last tick that the chain proves; ``None`` if it proves none.
        digest: the chain's value after that tick.
        bytes: the file's size in bytes before the repair.
        gone: the later ticks that the file names, as far as they are readable, ascending.
        why: the fault at which the proof ends; empty if the file is whole.
        kept: the damaged file under its new name; ``None`` if nothing was changed.
    """

    deltas: int
    last_tick: int | None
    digest: str
    bytes: int
    gone: list[int]
    why: str
    kept: Path | None = None


def repair(path: Path, *, dry_run: bool = False) -> Repair:
    """Replace a damaged log by the part that its chain proves; keep the damaged file next to it.

    Nothing is guessed: after the fault the chain is broken, so later ticks are only named. In a gzip log the
    proof covers the whole members before the fault and the readable part of the damaged member.

    Args:
        path: a log's file, which no writer has open.
        dry_run: only report.

    Raises:
        LogError: the file cannot be read, or no transaction can be proven; the file stays unchanged.
    """
    with read_contents(path) as contents:
        data = contents.data.read() + (contents.damage.data if contents.damage else b"")
    chain, end, why = Chain(), 0, ""
    try:
        for batch in verify(BytesIO(data), str(path)):
            chain, end = batch.chain, batch.end
    except LogError as error:
        why = str(error)
    why = why or (contents.damage.why if contents.damage else "") or _cut_off(data, end, contents)
    gone = sorted({int(tick) for tick in _TICK.findall(data[end:])})
    size = path.stat().st_size
    report = Repair(chain.fed, chain.tick if chain.fed else None, chain.value, size, gone, why)
    if not why or dry_run:
        return report
    if not chain.fed:
        raise LogError("no transaction can be proven", where=(path,), hint="Restore it from a copy")
    damaged = _damaged_path(path)
    os.link(path, damaged)
    write_atomically(path, data[:end].decode())
    return report._replace(kept=damaged)


def _cut_off(data: bytes, end: int, contents: Contents) -> str:
    # Bytes after the last proven transaction, or bytes of the file after its last whole gzip member
    cut = end < len(data) or (bool(contents.ends) and contents.ends[-1][1] < contents.size)
    return "the last append was cut off" if cut else ""


def _damaged_path(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.damaged{f'-{n}' if n else ''}") for n in range(1 << 20))
    return next(name for name in names if not name.exists())
