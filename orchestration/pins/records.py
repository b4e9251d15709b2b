"""The record a stage leaves of its run: what its outs were made from, and what they were.

It lies beside the artifacts, in `.stages/`; the pins keep the same (:mod:`orchestration.pins.pinned`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from orchestration.code import ROOT
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace.folders import Workspace
from substrate.base.files import sha256

LOCK = "requirements.lock"
OF_LINES = frozenset({".jsonl", ".csv", ".txt"})
"""The endings of files whose lines are told apart."""
_SHORT_LINE = 4


class Fingerprint(msgspec.Struct, frozen=True):
    """What a stage's outs were made from, and what they were; equal ones need no second run."""

    code: dict[str, str]
    """A short hash of each file of code, by its path in the project."""
    parameters: dict[str, Any]
    """The values of the keys of `params.yaml` that the stage takes."""
    inputs: dict[str, str]
    """SHA-256 of each file or folder it read, by path."""
    outs: dict[str, str]
    """SHA-256 of each file or folder it made, by path."""

    @property
    def code_version(self) -> str:
        """One short hash of all of the code."""
        return version_of(self.code)


class Record(Fingerprint, frozen=True):
    """A stage's record as it lies beside the artifacts; it names each file, and guards its own bytes."""

    files: dict[str, str] = {}
    """SHA-256 of each file that the stage made, by path; a folder's files one by one."""
    lines: dict[str, str] = {}
    """By path of a file of lines: four digits of the SHA-256 of each line, one after the other."""
    digest: str = ""
    """SHA-256 of the record itself, as it is written without this."""


Digest = Callable[[Path], str]
"""SHA-256 of a file or folder."""


class Digests:
    """SHA-256 of files and folders, each file read once; what cannot be read says why."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def __call__(self, path: Path) -> str:
        """``sha256:…`` as :func:`~substrate.base.files.sha256` gives it."""
        if path.is_dir():
            return sha256(path, self)
        if path not in self._known:
            try:
                self._known[path] = sha256(path)
            except OSError as error:
                self._known[path] = f"not readable ({error.strerror})"
        return self._known[path]


def files_of(path: Path) -> list[Path]:
    """A file, or the files of a folder, in order; none where there is nothing."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    return [path] if path.exists() else []


def named_files(out: str, path: Path) -> dict[str, Path]:
    """The files of an out, by their paths in the project."""
    there = {file.relative_to(path).as_posix(): file for file in files_of(path)}
    return {out if name == "." else f"{out}/{name}": file for name, file in there.items()}


def line_digests(data: bytes) -> str:
    """The first digits of the hash of each line of a file's bytes."""
    return "".join(hashlib.sha256(line).hexdigest()[:_SHORT_LINE] for line in data.splitlines())


def lines_apart(old: str, new: str) -> list[int]:
    """The numbers of the lines, from 1, at which two files differ by their lines' digests; where lines were
    added or lost, the first one.

    >>> lines_apart("aaaabbbbcccc", "aaaaffffcccc"), lines_apart("aaaabbbbcccc", "aaaacccc")
    ([2], [2])
    """
    count = max(len(old), len(new)) // _SHORT_LINE
    places = [number * _SHORT_LINE for number in range(count)]
    apart = [
        place // _SHORT_LINE + 1
        for place in places
        if old[place : place + _SHORT_LINE] != new[place : place + _SHORT_LINE]
    ]
    return apart if len(old) == len(new) else apart[:1]


def version_of(files: Mapping[str, str]) -> str:
    """One short hash of files' hashes.

    >>> version_of({"a.py": "00"}) == version_of({"b.py": "00"})
    False
    """
    return hashlib.sha256(msgspec.json.encode(files, order="sorted")).hexdigest()[:16]


def lock_hash() -> str:
    """SHA-256 of the lock of the environment; empty where the code runs without one."""
    path = ROOT / LOCK
    return sha256(path) if path.is_file() else ""


def parameter(workspace: Workspace, key: str) -> Any:
    """The value of a dotted key of the settings; ``{profile}`` stands for the profile's name."""
    value: Any = msgspec.to_builtins(workspace.settings)
    for part in key.format(profile=workspace.settings.profile).split("."):
        value = value[part]
    return value


def fingerprint(
    stages: Stages,
    stage: Stage,
    workspace: Workspace,
    digest: Digest = sha256,
) -> Fingerprint:
    """What a stage's outs would be made from now, and what those that are there are.

    Args:
        stages: every stage there is.
        stage: the one that is looked at.
        workspace: where its files lie.
        digest: gives the SHA-256 of a path.
    """
    profile = workspace.settings.profile
    values = {key.format(profile=profile): parameter(workspace, key) for key in stage.parameters}
    # As JSON gives them back, so that a record that was read equals one that was computed.
    parameters = msgspec.json.decode(msgspec.json.encode(values, order="sorted"))
    found: list[dict[str, str]] = []
    for outs in (inputs_of(stages, stage), stage.outs):
        paths = {out.format(profile=profile): workspace.path(out) for out in outs}
        found.append({name: digest(path) for name, path in paths.items() if path.exists()})
    outside = stage.outside(workspace) if stage.outside else {}
    found[0] |= {str(path): digest(path) for path in outside.values() if path.exists()}
    return Fingerprint(dict(stage.code), parameters, *found)


def record_path(workspace: Workspace, stage: str) -> Path:
    """Where a stage's record lies."""
    return workspace.path(f"artifacts/{{profile}}/.stages/{stage.replace('/', '.')}.json")


def record_bytes(made: Fingerprint, workspace: Workspace) -> bytes:
    """A stage's record as it is kept, from what it was made from and the files that are there."""
    files: dict[str, str] = {}
    lines: dict[str, str] = {}
    for out in made.outs:
        for name, file in named_files(out, workspace.path(out)).items():
            files[name] = sha256(file)
            if file.suffix in OF_LINES:
                lines[name] = line_digests(file.read_bytes())
    return _sealed(Record(**msgspec.structs.asdict(made), files=files, lines=lines))


def _sealed(record: Record) -> bytes:
    bare = msgspec.json.encode(msgspec.structs.replace(record, digest=""))
    return msgspec.json.encode(msgspec.structs.replace(record, digest=hashlib.sha256(bare).hexdigest()))


def whole_record(data: bytes) -> Record | None:
    """A record from its bytes; ``None`` where any of them is not as it was written."""
    try:
        record = msgspec.json.decode(data, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return record if _sealed(record) == data else None


def read_record(path: Path) -> Fingerprint | None:
    """A stage's record; ``None`` where there is none, or one that is damaged or of an older form."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Fingerprint)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_records(workspace: Workspace) -> dict[str, Fingerprint]:
    """The records of a profile's stages, by stage: those of the runs here, else those of the pins."""
    folders = workspace.root / "pins" / workspace.settings.profile, workspace.artifacts / ".stages"
    read = {
        path.stem.replace(".", "/", 1): read_record(path)
        for folder in folders
        for path in sorted(folder.glob("*.json"))
    }
    return {name: record for name, record in read.items() if record is not None}
