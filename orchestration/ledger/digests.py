"""The digests of files, of the files in a folder and of the lines of a file, and where two of them differ."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from orchestration.ledger.manifest import Files, changed
from substrate.base.files import sha256

# The text in place of the digest of a file that is not there.
NOTHING = "nothing"
# The suffixes of files that are compared line by line.
OF_LINES = frozenset({".jsonl", ".csv", ".txt"})
_SHORT, _SHORT_LINE, _LISTED = 8, 4, 5
# Nanoseconds within which a file may change twice and show the same time.
_RACY = 50_000_000
_Files = TypeVar("_Files", bound=Files)
# The files that this process has read: size and times, which are left out if too recent, and digest.
_seen: dict[Path, tuple[tuple[int, ...], str]] = {}


def digest(path: Path) -> str:
    """Return ``sha256:…`` of a file or folder, as :func:`~substrate.base.files.sha256` computes it.

    A file with unchanged size and times is not read again. For an unreadable file, return the reason.
    """
    if path.is_dir():
        return sha256(path, digest)
    try:
        begun, state = time.time_ns(), path.stat()
        now = state.st_size, state.st_mtime_ns, state.st_ctime_ns
        if path not in _seen or _seen[path][0] != now:
            _seen[path] = (now if max(now[1:]) < begun - _RACY else ()), sha256(path)
    except OSError as error:
        return f"not readable ({error.strerror})"
    return _seen[path][1]


def digests(paths: Mapping[str, Path]) -> dict[str, str]:
    """Return the digests of the paths that exist."""
    return {name: digest(path) for name, path in paths.items() if path.exists()}


def differing(root: Path, held: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """Return the paths whose digest differs from the recorded one, in order, each with recorded and present
    digest.
    """
    return changed(held, digests({name: root / name for name in held}))


def with_details(made: _Files, paths: Mapping[str, Path]) -> _Files:
    """Add the digests of files and lines to a record, for the outs at the given paths."""
    files, lines = dict[str, str](), dict[str, str]()
    for out, path in paths.items():
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                name = f"{out}/{file.relative_to(path).as_posix()}" if file != path else out
                if name != out:
                    files[name] = digest(file).rpartition(":")[2][:_SHORT]
                if file.suffix in OF_LINES:
                    with suppress(OSError):  # the digest of an unreadable file says why
                        lines[name] = line_digests(file.read_bytes())
    return msgspec.structs.replace(made, files=files, lines=lines)


def line_digests(data: bytes) -> str:
    """Return the first digits of the hash of each line of a file, concatenated."""
    return "".join(hashlib.sha256(line).hexdigest()[:_SHORT_LINE] for line in data.splitlines())


def apart_at(old: str | None, new: str | None) -> str:
    """Describe the lines at which a file differs, by their digests; only the first such line if lines were
    added or lost; empty if its lines are not pinned.

    >>> apart_at("aaaabbbbcccc", "aaaaffffcccc"), apart_at("aaaabbbbcccc", "aaaacccc")
    (', line 2', ', line 2 and what follows')
    """
    if old is None or new is None:
        return ""
    cuts = [slice(at, at + _SHORT_LINE) for at in range(0, max(len(old), len(new)), _SHORT_LINE)]
    apart = [str(number) for number, cut in enumerate(cuts, 1) if old[cut] != new[cut]]
    if not apart or len(old) != len(new):
        return f", line {apart[0]} and what follows" if apart else ""
    more = f" and {len(apart) - _LISTED} more" if len(apart) > _LISTED else ""
    return f", line {', '.join(apart[:_LISTED])}{more}"
