"""The ledger of a profile: a manifest of each stage's inputs, the hashes of its outs, and the outcome of the
last runs. Its first line is the SHA-256 of the rest.

The ledger is in `artifacts/PROFILE/.ledger/`, which git ignores. Runs use it to skip stages; traces, the
comparison with the pins and `verify` read it. The pins (:mod:`orchestration.pins.pin_files`) are in git.

This module imports nothing heavy: neither Dagster, nor Spark, nor the stages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from substrate.base.files import locked, make_folders, naming, replacing
from substrate.base.inputs import NOT_JSON

# An experiment has its own ledger next to its artifacts.
LEDGER = "artifacts/{profile}/.ledger"
MANIFEST = "manifest.jsonl"
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def changed(
    old: Mapping[_Key, _Value], new: Mapping[_Key, _Value]
) -> dict[_Key, tuple[_Value | None, _Value | None]]:
    """Return the keys at which two mappings differ, in order, each with both values; a missing value is
    ``None``.

    >>> changed({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4})
    {'b': (2, 3), 'c': (None, 4)}
    """
    both = ((key, (old.get(key), new.get(key))) for key in {**old, **new})
    return {key: (was, is_) for key, (was, is_) in both if was != is_}


def version_of(files: Mapping[str, str]) -> str:
    """Return a short hash of files' hashes.

    >>> version_of({"a.py": "00"}) == version_of({"b.py": "00"})
    False
    """
    return hashlib.sha256(msgspec.json.encode(files, order="sorted")).hexdigest()[:16]


class Files(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Files and folders, with the digests that tell where they differ.

    Attributes:
        outs: SHA-256 of each file or folder that a stage made, by path.
        files: for each file in a folder of outs, by path, the first digits of its SHA-256.
        lines: for each file of lines, by path, four digits of the SHA-256 of each line, concatenated.
    """

    outs: dict[str, str] = {}
    files: dict[str, str] = {}
    lines: dict[str, str] = {}


class Made(Files, frozen=True, kw_only=True, omit_defaults=True):
    """The record of a stage's run: its outs, and everything that they were made from.

    Attributes:
        code: for each code file, by its path in the project, a short hash of the statements reached.
        parameters: the values of the stage's keys of `params.yaml`.
        inputs: SHA-256 of each file or folder that the stage read, by path.
        environment: the installed versions by name, and the hash of the lock file.
        needs: the stages whose outs this stage reads.
        explained: true if the outs may differ from their pins, because they have other inputs, or because a
            recomputation gave the same bytes (:func:`orchestration.stages.making.make`).
    """

    code: dict[str, str] = {}
    parameters: dict[str, Any] = {}
    inputs: dict[str, str] = {}
    environment: dict[str, str] = {}
    needs: list[str] = []
    explained: bool = False

    @property
    def basis(self) -> tuple[object, ...]:
        """Everything that makes the stage stale when it changes; the environment is not included."""
        return self.code, self.parameters, self.inputs

    def repeats(self, other: Made | None) -> bool:
        """Tell whether the other record has the same inputs and outs, so that no second run is needed."""
        return other is not None and (self.basis, self.outs) == (other.basis, other.outs)


class Manifest(msgspec.Struct, omit_defaults=True):
    """A profile's ledger.

    Attributes:
        stages: each stage's record of its last run.
        pinned: the record of the run that made a stage's pinned outs, if it ran here.
        tables: SHA-256 of each file of the tables of cases and logs, by its path in the storage.
        beside: SHA-256 of `params.yaml`, by its path, as of the last run without drift.
        outcomes: for each run, by the argument of `--only` (empty for a whole run), a digest of all files
            that it read and wrote, and its outcome.
    """

    stages: dict[str, Made] = {}
    pinned: dict[str, Made] = {}
    tables: dict[str, str] = {}
    beside: dict[str, str] = {}
    outcomes: dict[str, tuple[str, Any]] = {}


def ledger_at(root: Path, profile: str) -> Path:
    """Return the folder of a profile's ledger."""
    return root / LEDGER.format(profile=profile)


def look_at(folder: Path) -> tuple[Manifest, bool]:
    """Read a ledger's manifest, and tell whether it is undamaged.

    A missing manifest reads as empty. A damaged manifest that can still be read is returned, so that its
    damage hides no other damage.
    """
    path = folder / MANIFEST
    if not path.exists():
        return Manifest(), True
    try:
        head, _, text = path.read_bytes().partition(b"\n")
        return msgspec.json.decode(text, type=Manifest), head == _digest(text)
    except (OSError, *NOT_JSON):
        return Manifest(), False


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a ledger's folder; empty if it is missing or damaged."""
    manifest, sound = look_at(folder)
    return manifest if sound else Manifest()


@contextmanager
def changing(folder: Path) -> Iterator[Manifest]:
    """Yield the manifest for changes, and write it after the block; a damaged manifest is started anew.

    A lock serializes processes that change the manifest. Raises errors as :func:`replacing`.
    """
    with naming(folder):
        make_folders(folder)
    with locked(folder):
        manifest = read_manifest(folder)
        yield manifest
        text = msgspec.json.encode(manifest, order="sorted")
        put(folder / MANIFEST, _digest(text) + b"\n" + text)


def put(path: Path, data: bytes) -> bool:
    """Write a file unless it already holds these bytes; tell whether it was written."""
    if path.is_file() and path.read_bytes() == data:
        return False
    with replacing(path) as fresh:
        fresh.write_bytes(data)
    return True
