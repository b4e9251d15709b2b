"""The states in which a power loss may leave a folder. The calls to the system are recorded; each prefix of
them gives states in which the changes that were not synced are kept, lost, cut off, zeroed or reordered.

A file's bytes are durable from its `fsync` on, the names in a folder from the folder's. Until then a file may
have its old bytes, its new ones, a part of what was added, or zeros in its place, sector by sector. A change
of names (a file made, a rename, a removal) has happened or not, whatever the others did; a rename is one
change, as every file system in use has it. Most do less than that.

:class:`Failing` lets one call fail, as a broken or full disk does.
"""

from __future__ import annotations

import errno
import itertools
import math
import os
import random
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

T = TypeVar("T")

_CALLS = ("write", "fsync", "ftruncate", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "close")
_SECTOR = 512
# The number of states, of the names or of the bytes, up to which all are tried.
_MOST = 64
FAULTS = (errno.EIO, errno.ENOSPC, errno.EINTR)

_open, _close, _read = os.open, os.close, os.pread


class State(NamedTuple):
    """A folder as a power loss may leave it.

    Attributes:
        files: the bytes by path; ``None`` for a folder.
        allowed: the outcomes that the workload allowed then.
        zeroed: true where a file has bytes that nobody wrote.
    """

    files: dict[str, bytes | None]
    allowed: frozenset[Any]
    zeroed: bool

    def write(self, folder: Path) -> None:
        """Write the state to a folder."""
        folder.mkdir(parents=True)
        for name, data in self.files.items():
            if data is None:
                (folder / name).mkdir()
            else:
                (folder / name).write_bytes(data)


# A folder's inode number and a name in it.
_Entry = tuple[int, str]


class _Change(NamedTuple):
    """Names that one call to the system took away and names that it gave, with the inode of each."""

    gone: dict[_Entry, int]
    new: dict[_Entry, int]

    def folders(self) -> set[int]:
        return {number for number, _ in (*self.gone, *self.new)}


class _Moment(NamedTuple):
    """The folder between two calls to the system.

    Attributes:
        durable: by inode, the bytes of a file that are synced.
        now: by inode, the bytes that a reader would get.
        kept: the names that are synced, with their inodes.
        pending: the changes of names that are not synced, in order.
        folders: the inodes of folders.
        allowed: see :class:`State`.
    """

    durable: dict[int, bytes]
    now: dict[int, bytes]
    kept: dict[_Entry, int]
    pending: tuple[_Change, ...]
    folders: frozenset[int]
    allowed: frozenset[Any]


class Recorder:
    """The moments between the calls that change a folder while a workload runs in it.

    Attributes:
        allowed: the outcomes that a power loss may leave from now on; the workload sets it before each step.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.moments = folder, list[_Moment]()
        self.allowed: frozenset[Any] = frozenset()
        self._root = folder.stat().st_ino
        self._durable, self._now = dict[int, bytes](), dict[int, bytes]()
        self._kept, self._entries = dict[_Entry, int](), dict[_Entry, int]()
        self._pending, self._folders = list[_Change](), {self._root}
        # Files are held open, so that no inode number is given to another file.
        self._handles = dict[int, int]()
        for name in _CALLS:
            monkeypatch.setattr(os, name, self._recorded(name, getattr(os, name)))
        self.durable_now()

    def _recorded(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*given: Any, **named: Any) -> Any:
            self._look()
            synced = os.fstat(given[0]).st_ino if name == "fsync" else 0
            done = call(*given, **named)
            if synced in self._folders:
                for change in [change for change in self._pending if synced in change.folders()]:
                    _apply(self._kept, change)
                    self._pending.remove(change)
            elif synced in self._now:
                self._durable[synced] = self._now[synced]
            self._look()
            return done

        return recorded

    def _scan(self, folder: Path, number: int) -> Iterator[tuple[_Entry, int]]:
        for name in sorted(os.listdir(folder)):
            path = folder / name
            about = path.stat()
            if about.st_ino not in self._handles:
                self._handles[about.st_ino] = _open(path, os.O_RDONLY)
            yield (number, name), about.st_ino
            if stat.S_ISDIR(about.st_mode):
                self._folders.add(about.st_ino)
                yield from self._scan(path, about.st_ino)

    def _look(self) -> None:
        entries = dict(self._scan(self.folder, self._root))
        files = self._handles.keys() - self._folders
        self._now = {number: _read(self._handles[number], 1 << 24, 0) for number in files}
        was, is_ = self._entries.items(), entries.items()
        if was != is_:
            self._pending.append(_Change(dict(was - is_), dict(is_ - was)))
            self._entries = entries
        moment = _Moment(
            dict(self._durable),
            dict(self._now),
            dict(self._kept),
            tuple(self._pending),
            frozenset(self._folders),
            self.allowed,
        )
        if not self.moments or moment != self.moments[-1]:
            self.moments.append(moment)

    def durable_now(self) -> None:
        """Count all present files as synced, and forget the moments before."""
        self._look()
        self._durable, self._kept, self._pending = dict(self._now), dict(self._entries), []
        self.moments.clear()

    def end(self) -> None:
        """Close the files."""
        for handle in self._handles.values():
            _close(handle)

    def states(self, cuts: int, seed: int) -> Iterator[State]:
        """The states of every moment, each once: all where they are few, else a sample."""
        seen, draw = set[tuple[Any, ...]](), random.Random(seed)
        for moment in self.moments:
            for names in self._names(moment, draw):
                for files, zeroed in self._contents(moment, names, cuts, draw):
                    key = (tuple(sorted(files.items())), moment.allowed)
                    if key not in seen:
                        seen.add(key)
                        yield State(files, moment.allowed, zeroed)

    def _names(self, moment: _Moment, draw: random.Random) -> Iterator[dict[str, int]]:
        """The paths that may be there, a folder before its contents."""
        for taken in _some([[False, True]] * len(moment.pending), _MOST, draw):
            entries = dict(moment.kept)
            for change in itertools.compress(moment.pending, taken):
                _apply(entries, change)
            inside: dict[int, list[tuple[str, int]]] = {}
            for (folder, name), number in sorted(entries.items()):
                inside.setdefault(folder, []).append((name, number))
            yield dict(_paths(inside, self._root, ""))

    def _contents(
        self, moment: _Moment, names: Mapping[str, int], cuts: int, draw: random.Random
    ) -> Iterator[tuple[dict[str, bytes | None], bool]]:
        numbers = sorted(set(names.values()) - moment.folders)
        of_number = ((moment.durable.get(n, b""), moment.now.get(n)) for n in numbers)
        kinds = [_bytes(durable, now, cuts, draw) for durable, now in of_number]
        for made in _some(kinds, max(_MOST, 2 * cuts), draw):
            by_number = dict(zip(numbers, made, strict=True))
            files = {
                path: by_number[number][0] if number in by_number else None for path, number in names.items()
            }
            yield files, any(zeroed for _, zeroed in made)


def _apply(entries: dict[_Entry, int], change: _Change) -> None:
    for entry, number in change.gone.items():
        if entries.get(entry) == number:
            del entries[entry]
    entries |= change.new


def _paths(inside: Mapping[int, list[tuple[str, int]]], folder: int, path: str) -> Iterator[tuple[str, int]]:
    for name, number in inside.get(folder, ()):
        yield path + name, number
        yield from _paths(inside, number, f"{path}{name}/")


def _some(kinds: list[list[T]], most: int, draw: random.Random) -> Iterator[tuple[T, ...]]:
    """Choices of one from each list: all where they are few, else those of each prefix and a sample."""
    if math.prod(map(len, kinds)) <= most:
        yield from itertools.product(*kinds)
        return
    for end in range(len(kinds) + 1):
        yield tuple(kind[-1 if place < end else 0] for place, kind in enumerate(kinds))
    for _ in range(most):
        yield tuple(draw.choice(kind) for kind in kinds)


def _bytes(durable: bytes, now: bytes | None, cuts: int, draw: random.Random) -> list[tuple[bytes, bool]]:
    """The contents that a file may have: each with whether it has zeros that nobody wrote."""
    if now is None or now == durable:
        return [(durable, False)]
    contents = {durable: False}
    if now.startswith(durable):
        added = now[len(durable) :]
        places = {1, len(added) - 1, *(draw.randrange(len(added)) for _ in range(cuts))}
        contents |= {durable + added[:place]: False for place in sorted(places)}
        contents[durable + bytes(len(added))] = True
        sectors = [added[at : at + _SECTOR] for at in range(0, len(added), _SECTOR)]
        for _ in range(cuts // 2):
            written = [sector if draw.random() < 0.5 else bytes(len(sector)) for sector in sectors]
            contents.setdefault(durable + b"".join(written), True)
    contents.pop(now, None)
    return [*contents.items(), (now, False)]


class Failing:
    """Makes one call fail: half of it is done if it is a write, else nothing.

    Attributes:
        number: the number of the call that fails, from 0; counts down with each call.
        error: the error that the system gives.
        failed: true once the call has failed.
    """

    def __init__(self, number: int, error: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number, self.error, self.failed = number, error, False
        for name in _CALLS[:-1]:
            monkeypatch.setattr(os, name, self._failing(name, getattr(os, name)))
        monkeypatch.setattr(Path, "write_bytes", self._failing("write", Path.write_bytes))

    def _failing(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*given: Any, **named: Any) -> Any:
            self.number -= 1
            if self.number != -1:
                return call(*given, **named)
            self.failed = True
            if name == "write":
                call(given[0], given[1][: len(given[1]) // 2])
            raise OSError(self.error, os.strerror(self.error))

        return failing
