"""The states in which a power loss may leave a folder of logs: what was asked of the system is recorded, and
every prefix of it is brought back with what was not synced kept, lost, cut off, zeroed or reordered.

A file's bytes are durable from its `fsync` on, a folder's entries from the folder's. Until then a file may
have its old bytes, its new ones, a part of what was added, or zeros in its place, sector by sector; an entry
may be there or not, in any combination. That is what a file system may do by POSIX; most do less.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

_CALLS = ("write", "fsync", "ftruncate", "replace", "link", "unlink", "close")
_SECTOR = 512


class State(NamedTuple):
    """A folder as a power loss may leave it.

    Attributes:
        files: the bytes by name.
        allowed: the digests of which the log must have one.
        zeroed: true where a file has bytes that nobody wrote.
    """

    files: dict[str, bytes]
    allowed: frozenset[str]
    zeroed: bool


class _Moment(NamedTuple):
    durable: dict[int, bytes]
    now: dict[int, bytes]
    kept_entries: dict[str, int]
    entries: dict[str, int]
    allowed: frozenset[str]


class Recorder:
    """The moments between the calls that change a folder while a workload runs in it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.moments = folder, list[_Moment]()
        self.allowed: frozenset[str] = frozenset()
        self._durable, self._kept_entries = dict[int, bytes](), dict[str, int]()
        for name in _CALLS:
            monkeypatch.setattr(os, name, self._recorded(name, getattr(os, name)))

    def _recorded(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*given: Any, **named: Any) -> Any:
            self._look()
            synced = os.fstat(given[0]).st_ino if name == "fsync" else 0
            done = call(*given, **named)
            if synced == self.folder.stat().st_ino:
                self._kept_entries = self._entries()
            elif synced:
                self._durable[synced] = self._bytes().get(synced, b"")
            self._look()
            return done

        return recorded

    def _entries(self) -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in self.folder.iterdir()}

    def _bytes(self) -> dict[int, bytes]:
        return {path.stat().st_ino: path.read_bytes() for path in self.folder.iterdir()}

    def _look(self) -> None:
        moment = _Moment(
            dict(self._durable), self._bytes(), dict(self._kept_entries), self._entries(), self.allowed
        )
        if not self.moments or moment != self.moments[-1]:
            self.moments.append(moment)

    def durable_now(self) -> None:
        """Take all that is there for synced."""
        self._durable, self._kept_entries = self._bytes(), self._entries()

    def states(self, cuts: int, seed: int) -> Iterator[State]:
        """The states of every moment, each once: all of the few, and a share of the many."""
        seen, draw = set[tuple[Any, ...]](), random.Random(seed)
        for moment in self.moments:
            for files, zeroed in _states(moment, cuts, draw):
                key = (tuple(sorted(files.items())), moment.allowed)
                if key not in seen:
                    seen.add(key)
                    yield State(files, moment.allowed, zeroed)


def _states(moment: _Moment, cuts: int, draw: random.Random) -> Iterator[tuple[dict[str, bytes], bool]]:
    changed = sorted(
        name
        for name in moment.entries.keys() | moment.kept_entries.keys()
        if moment.entries.get(name) != moment.kept_entries.get(name)
    )
    for taken in itertools.product((False, True), repeat=len(changed)):
        entries = dict(moment.kept_entries)
        for name, new in zip(changed, taken, strict=True):
            if new and name in moment.entries:
                entries[name] = moment.entries[name]
            elif new:
                entries.pop(name, None)
        kinds = [
            _contents(moment.durable.get(number, b""), moment.now.get(number), cuts, draw)
            for number in entries.values()
        ]
        for made in itertools.product(*kinds):
            files = {name: data for name, (data, _) in zip(entries, made, strict=True)}
            yield files, any(zeroed for _, zeroed in made)


def _contents(durable: bytes, now: bytes | None, cuts: int, draw: random.Random) -> list[tuple[bytes, bool]]:
    if now is None or now == durable:
        return [(durable, False)]
    found = {durable: False, now: False}
    if now.startswith(durable):
        added = now[len(durable) :]
        places = {1, len(added) - 1, *(draw.randrange(len(added)) for _ in range(cuts))}
        found |= {durable + added[:place]: False for place in sorted(places)}
        found[durable + bytes(len(added))] = True
        sectors = [added[at : at + _SECTOR] for at in range(0, len(added), _SECTOR)]
        for _ in range(cuts // 2):
            kept = [one if draw.random() < 0.5 else bytes(len(one)) for one in sectors]
            found.setdefault(durable + b"".join(kept), True)
    return list(found.items())
