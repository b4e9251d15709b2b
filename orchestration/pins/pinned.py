"""The compact record of pinned results, in `pins/PROFILE/`: enough to say what drifted where no pinned file
is at hand.

A stage has one JSON file with its fingerprint, the counts behind its scores and the cells of its tables; a
stage of
answers has a second one with a short line for each row. DVC holds the bytes, git holds these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from orchestration.files import replacing, sha256
from orchestration.pins.records import Fingerprint, fingerprint, lock_hash
from orchestration.stage import Stage, Stages
from orchestration.workspace import Workspace
from substrate.rows import decode

_SHORT = 8
ROWS = "answers.jsonl"
"""The name of a file of answers."""

Key = tuple[str, str, str]
"""A row's subset, scene and question, as text."""


class PinnedRow(msgspec.Struct, frozen=True, array_like=True):
    """A row of answers in short; ``log`` and ``row`` are the first digits of hashes."""

    subset: str
    scene: int | str
    question: int | str
    predicted: str
    expected: str | None
    correct: bool | None
    log: str
    row: str

    @property
    def key(self) -> Key:
        """What it is found by."""
        return self.subset, str(self.scene), str(self.question)


class Pin(Fingerprint, frozen=True, omit_defaults=True):
    """What a stage made, from what, and what its numbers were."""

    lock: str = ""
    """SHA-256 of the environment's lock."""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    """For data: a short hash of each file."""
    scores: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    """Correct and total by number."""
    cells: dict[str, dict[str, dict[str, str]]] = msgspec.field(default_factory=dict)
    """By table and row: the text under each head."""


class Pinned(msgspec.Struct, frozen=True):
    """A stage's pin and the rows of its answers."""

    pin: Pin
    rows: dict[Key, PinnedRow] = {}


Pins = dict[str, Pinned]
"""By stage."""


def measure(workspace: Workspace, stages: Stages, wanted: Iterable[Stage] | None = None) -> Pins:
    """What the stages' outs in a workspace are now; a stage with none of its outs there is left out.

    Args:
        stages: every stage there is.
        wanted: those that are measured; all unless given.
    """
    found: Pins = {}
    for stage in stages.values() if wanted is None else wanted:
        if stage.pinned_by != "nothing" and (made := fingerprint(stages, stage, workspace)).outs:
            found[stage.name] = _measured(workspace, made)
    return found


def _measured(workspace: Workspace, made: Fingerprint) -> Pinned:
    details: dict[str, Any] = {"files": {}, "scores": {}, "cells": {}}
    rows: dict[Key, PinnedRow] = {}
    for out in made.outs:
        path = workspace.path(out)
        if path.name == ROWS:
            rows = _rows(path)
        for kind, (applies, read) in _DETAILS.items():
            if applies(out, path):
                details[kind] |= read(path)
    return Pinned(Pin(**msgspec.structs.asdict(made), lock=lock_hash(), **details), rows)


def _rows(path: Path) -> dict[Key, PinnedRow]:
    rows = (_row(line) for line in path.read_bytes().splitlines())
    return {row.key: row for row in rows}


def _row(line: bytes) -> PinnedRow:
    row = decode(line)
    return PinnedRow(
        row.subset,
        row.scene,
        row.question,
        row.predicted,
        row.expected,
        row.correct,
        row.log.removeprefix("sha256:")[:_SHORT],
        hashlib.sha256(line).hexdigest()[:_SHORT],
    )


def _files(folder: Path) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): sha256(file).removeprefix("sha256:")[:_SHORT]
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def _counts(path: Path) -> dict[str, tuple[int, int]]:
    record = msgspec.json.decode(path.read_bytes())
    return (
        {record["name"]: (record["correct"], record["n"])} if {"name", "correct", "n"} <= set(record) else {}
    )


def _cells(path: Path) -> dict[str, dict[str, dict[str, str]]]:
    table = msgspec.json.decode(path.read_bytes())
    found: dict[str, dict[str, str]] = {}
    for row, numbers in zip_longest(table["rows"], table["numbers"]):
        for head, text, number in zip_longest(table["heads"], row, numbers or ()):
            found.setdefault(number or row[0], {})[head] = text
    return {path.stem: found}


_DETAILS: dict[str, tuple[Callable[[str, Path], bool], Callable[[Path], dict[str, Any]]]] = {
    "files": (lambda out, path: out.startswith("data/") and path.is_dir(), _files),
    "scores": (lambda out, path: "/scores/" in out and path.suffix == ".json", _counts),
    "cells": (lambda out, path: "/tables/" in out and path.suffix == ".json", _cells),
}
"""By kind of detail: the outs that have it, and how it is read."""


def write_pins(workspace: Workspace, measured: Pins) -> None:
    """Keep what was measured as the pins."""
    for name, made in measured.items():
        path, rows = _paths(workspace.root, workspace.settings.profile, name)
        with replacing(path) as fresh:
            fresh.write_bytes(
                msgspec.json.format(msgspec.json.encode(made.pin, order="sorted"), indent=1) + b"\n"
            )
        if any(Path(out).name == ROWS for out in made.pin.outs):
            with replacing(rows) as fresh:
                fresh.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in made.rows.values()))


def settle_pins(workspace: Workspace, stages: Stages, ran: Iterable[Stage]) -> None:
    """Keep what is there of stages that are new, or whose outs are what was pinned; a changed result stays as
    it was pinned.
    """
    pinned = read_pins(workspace.root, workspace.settings.profile)
    measured = measure(workspace, stages, ran)
    write_pins(
        workspace,
        {
            name: made
            for name, made in measured.items()
            if name not in pinned or _same_where_both(pinned[name].pin.outs, made.pin.outs)
        },
    )


def _same_where_both(old: dict[str, str], new: dict[str, str]) -> bool:
    """Whether no out that both have differs: an out that is new is no changed result."""
    return all(new.get(out, digest) == digest for out, digest in old.items())


def read_pins(root: Path, profile: str) -> Pins:
    """The pins of a profile."""
    folder = root / "pins" / profile
    return decode_pins({path.name: path.read_bytes() for path in sorted(folder.glob("*"))})


def decode_pins(files: dict[str, bytes]) -> Pins:
    """Pins from their files' bytes by name."""
    return {name: Pinned(pin, rows) for name, pin, rows in _decoded(files)}


def _decoded(files: dict[str, bytes]) -> Iterator[tuple[str, Pin, dict[Key, PinnedRow]]]:
    row_decoder = msgspec.json.Decoder(PinnedRow)
    for file, data in files.items():
        if file.endswith(".json"):
            rows = map(row_decoder.decode, files.get(f"{file}l", b"").splitlines())
            yield (
                file.removesuffix(".json").replace(".", "/", 1),
                msgspec.json.decode(data, type=Pin),
                {row.key: row for row in rows},
            )


def _paths(root: Path, profile: str, stage: str) -> tuple[Path, Path]:
    path = root / "pins" / profile / f"{stage.replace('/', '.')}.json"
    return path, path.with_suffix(".jsonl")
