"""The compact record of pinned results, in `pins/PROFILE/`: enough to say what drifted where no pinned file
is at hand.

A stage has one JSON file with its fingerprint, the counts behind its scores and the cells of its tables; a
stage of answers has a second one with a short line for each row. DVC holds the bytes, git holds these, and
:mod:`orchestration.pins.seal` tells whether they are as they were written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from orchestration.pins.records import (
    OF_LINES,
    Digest,
    Digests,
    Fingerprint,
    files_of,
    fingerprint,
    line_digests,
    lock_hash,
    named_files,
)
from orchestration.stage import Stage, Stages
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import replacing
from substrate.domains.rows import decode

_SHORT = 8
ROWS = "answers.jsonl"
"""The name of a file of answers."""
NO_ROW = "not readable"
"""What a line that is no row predicts."""


class PinError(SubstrateError):
    """Pins cannot be read or written."""


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


def row_change(was: PinnedRow | None, is_: PinnedRow | None) -> str:
    """In which way a row changed, in words; empty where it did not.

    >>> row = PinnedRow("by_id", 1, "2", "yes", "no", False, "", "")
    >>> row_change(row, msgspec.structs.replace(row, predicted="no", correct=True)), row_change(None, row)
    ('wrong to right', 'new')
    """
    if was is None or is_ is None:
        return "new" if was is None else "gone"
    if was == is_:
        return ""
    before, after = _GRADES[was.correct], _GRADES[is_.correct]
    return f"{before} to {after}" if before != after else f"otherwise {after}"


_GRADES = {True: "right", False: "wrong", None: "ungraded"}


class Pin(Fingerprint, frozen=True, omit_defaults=True):
    """What a stage made, from what, and what its numbers were."""

    lock: str = ""
    """SHA-256 of the environment's lock."""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    """For data: a short hash of each file."""
    lines: dict[str, str] = msgspec.field(default_factory=dict)
    """By path of a file of lines: four digits of the SHA-256 of each line, one after the other."""
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


def measure(
    workspace: Workspace,
    stages: Stages,
    wanted: Iterable[Stage] | None = None,
    known: Pins | None = None,
    digest: Digest | None = None,
) -> Pins:
    """What the stages' outs in a workspace are now; a stage with none of its outs there is left out.

    What cannot be read of a damaged file is left out of the details, and a line that is no row says so.

    Args:
        workspace: where the outs lie.
        stages: every stage there is.
        wanted: those that are measured; all unless given.
        known: an earlier measurement; what it says of outs that are the same is taken from it.
        digest: gives the SHA-256 of a path.
    """
    found: Pins = {}
    digest, lock = digest or Digests(), lock_hash()
    for stage in stages.values() if wanted is None else wanted:
        before = known.get(stage.name) if known else None
        if stage.pinned_by == "nothing":
            continue
        made = fingerprint(stages, stage, workspace, digest)
        if made.outs and before and before.pin.outs == made.outs:
            pin = msgspec.structs.replace(before.pin, **msgspec.structs.asdict(made), lock=lock)
            found[stage.name] = Pinned(pin, before.rows)
        elif made.outs:
            found[stage.name] = _measured(workspace, made, digest, lock)
    return found


def _measured(workspace: Workspace, made: Fingerprint, digest: Digest, lock: str) -> Pinned:
    details: dict[str, Any] = {"files": {}, "lines": {}, "scores": {}, "cells": {}}
    rows: dict[Key, PinnedRow] = {}
    for out in made.outs:
        path = workspace.path(out)
        if path.name == ROWS:
            rows = read_rows(path)
        if out.startswith("data/") and path.is_dir():
            details["files"] |= _files(path, digest)
        for name, file in named_files(out, path).items():
            if file.suffix in OF_LINES and file.name != ROWS:
                details["lines"][name] = line_digests(file.read_bytes())
        for kind, (applies, read) in _DETAILS.items():
            if applies(out, path):
                try:
                    details[kind] |= read(path)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue  # it is damaged, and its hash says so
    return Pinned(Pin(**msgspec.structs.asdict(made), lock=lock, **details), rows)


def pinned_lines(root: Path, pin: Pin) -> str:
    """The digests of the lines of the rows that a stage's answers would be pinned as; empty without any."""
    answers = [root / out for out in pin.outs if Path(out).name == ROWS]
    there = [path for path in answers if path.is_file()]
    return "".join(line_digests(_encoded(read_rows(path))) for path in there)


def _encoded(rows: dict[Key, PinnedRow]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows.values())


def read_rows(path: Path) -> dict[Key, PinnedRow]:
    """The rows of a file of answers in short; a line that is no row says so."""
    rows = [_row(number, line) for number, line in enumerate(path.read_bytes().splitlines(), 1)]
    return {row.key: row for row in rows}


def _row(number: int, line: bytes) -> PinnedRow:
    digest = hashlib.sha256(line).hexdigest()[:_SHORT]
    try:
        row = decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return PinnedRow("", f"line {number}", "", NO_ROW, None, None, "", digest)
    return PinnedRow(
        row.subset,
        row.scene,
        row.question,
        row.predicted,
        row.expected,
        row.correct,
        row.log.removeprefix("sha256:")[:_SHORT],
        digest,
    )


def _files(folder: Path, digest: Digest) -> dict[str, str]:
    return {
        file.relative_to(folder).as_posix(): digest(file).removeprefix("sha256:")[:_SHORT]
        for file in files_of(folder)
    }


class _Counts(msgspec.Struct):
    name: str | None = None
    correct: int | None = None
    n: int | None = None


class _Cells(msgspec.Struct):
    heads: list[str]
    rows: list[list[str]]
    numbers: list[list[str | None] | None]


def _counts(path: Path) -> dict[str, tuple[int, int]]:
    record = msgspec.json.decode(path.read_bytes(), type=_Counts)
    if record.name is None or record.correct is None or record.n is None:
        return {}
    return {record.name: (record.correct, record.n)}


def _cells(path: Path) -> dict[str, dict[str, dict[str, str]]]:
    table = msgspec.json.decode(path.read_bytes(), type=_Cells)
    found: dict[str, dict[str, str]] = {}
    for row, numbers in zip_longest(table.rows, table.numbers, fillvalue=None):
        row = row or [""]
        for head, text, number in zip_longest(table.heads, row, numbers or (), fillvalue=None):
            found.setdefault(number or row[0], {})[head or ""] = text or ""
    return {path.stem: found}


_DETAILS: dict[str, tuple[Callable[[str, Path], bool], Callable[[Path], dict[str, Any]]]] = {
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
                fresh.write_bytes(_encoded(made.rows))


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


def read_pins(root: Path, profile: str, unreadable: list[str] | None = None) -> Pins:
    """The pins of a profile.

    Args:
        root: the project.
        profile: the profile's name.
        unreadable: takes the names of pins that cannot be read, which are then left out.

    Raises:
        PinError: a pin cannot be read, and nothing takes its name.
    """
    folder = root / "pins" / profile
    files = {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if path.is_file()}
    bad: list[str] = []
    found = decode_pins(files, bad)
    if unreadable is not None:
        unreadable += [f"pins/{profile}/{name}" for name in bad]
    elif bad:
        hint = "`substrate verify --no-recompute` names all that is damaged; restore it from git"
        raise PinError("is damaged", where=(folder / bad[0],), hint=hint)
    return found


def decode_pins(files: dict[str, bytes], unreadable: list[str] | None = None) -> Pins:
    """Pins from their files' bytes by name; a name that cannot be read goes to ``unreadable``."""
    unreadable = [] if unreadable is None else unreadable
    found: Pins = {}
    for file, data in files.items():
        if not file.endswith(".json"):
            continue
        rows = _pinned_rows(f"{file}l", files.get(f"{file}l", b""), unreadable)
        try:
            pin = msgspec.json.decode(data, type=Pin)
        except (msgspec.DecodeError, UnicodeDecodeError):
            unreadable.append(file)
            continue
        found[file.removesuffix(".json").replace(".", "/", 1)] = Pinned(pin, rows)
    return found


def _pinned_rows(file: str, data: bytes, unreadable: list[str]) -> dict[Key, PinnedRow]:
    rows: dict[Key, PinnedRow] = {}
    for number, line in enumerate(data.splitlines(), 1):
        try:
            row = _pinned_row(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            unreadable.append(f"{file}, line {number}")
        else:
            rows[row.key] = row
    return rows


_pinned_row = msgspec.json.Decoder(PinnedRow).decode


def _paths(root: Path, profile: str, stage: str) -> tuple[Path, Path]:
    path = root / "pins" / profile / f"{stage.replace('/', '.')}.json"
    return path, path.with_suffix(".jsonl")
