"""The ledger of a profile: one manifest, found by the SHA-256 of its bytes, that says of each stage what its
outs were made from and what they were.

It lies in `artifacts/PROFILE/.ledger/`: machines write it, and git does not hold it. A run skips by it;
lineage, drift, verification and the seal read it. The pins (:mod:`orchestration.ledger.pinned`) are in git.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from orchestration.code import ROOT
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import table_sums
from substrate.base.files import make_folders, naming, replacing, sha256

LOCK = "requirements.lock"
LEDGER = "artifacts/{profile}/.ledger"
"""The folder of a profile's ledger; an experiment has its own beside its artifacts."""
HEAD = "HEAD"
"""The file that names the manifest."""
OF_LINES = frozenset({".jsonl", ".csv", ".txt"})
"""The endings of files whose lines are told apart."""
_SHORT, _SHORT_LINE = 8, 4


class Fingerprint(msgspec.Struct, frozen=True):
    """What a stage's outs were made from, and what they were; equal ones need no second run."""

    code: dict[str, str]
    """A short hash of what it reaches in each file of code, by the file's path in the project."""
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


class Details(msgspec.Struct, frozen=True, omit_defaults=True):
    """By which a changed file, or its changed line, is named."""

    files: dict[str, str] = {}
    """By path of a file in a folder that is an out: the first digits of its SHA-256."""
    lines: dict[str, str] = {}
    """By path of a file of lines: four digits of the SHA-256 of each line, one after the other."""


class Entry(Details, frozen=True, kw_only=True, omit_defaults=True):
    """A stage in the ledger."""

    made: Fingerprint
    environment: str = ""
    """SHA-256 of the environment's lock."""


class Manifest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A profile's ledger.

    Attributes:
        stages: what each stage made last.
        pinned: what the pinned outs of a stage were made from, as far as they were made here.
        tables: SHA-256 of each file of the tables of cases and logs, by its path in the storage.
        beside: SHA-256 of files of the project as the last run that did not drift found them.
    """

    stages: dict[str, Entry] = {}
    pinned: dict[str, Entry] = {}
    tables: dict[str, str] = {}
    beside: dict[str, str] = {}


Digest = Callable[[Path], str]
"""SHA-256 of a file or folder."""


class Digests:
    """SHA-256 of files and folders, each file read once; what cannot be read says why."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def __call__(self, path: Path) -> str:
        """``sha256:…`` as :func:`~orchestration.files.sha256` gives it."""
        if path.is_dir():
            return sha256(path, self)
        if path not in self._known:
            try:
                self._known[path] = sha256(path)
            except OSError as error:
                self._known[path] = f"not readable ({error.strerror})"
        return self._known[path]


def named_files(out: str, path: Path) -> dict[str, Path]:
    """The files of an out, by their paths in the project; none where there is nothing."""
    if not path.is_dir():
        return {out: path} if path.exists() else {}
    return {
        f"{out}/{file.relative_to(path).as_posix()}": file
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def details(outs: Mapping[str, Path], digest: Digest) -> Details:
    """The details of some outs, each with where it lies."""
    files, lines = dict[str, str](), dict[str, str]()
    for out, path in outs.items():
        for name, file in named_files(out, path).items():
            if name != out:
                files[name] = digest(file).removeprefix("sha256:")[:_SHORT]
            if file.suffix in OF_LINES:
                with suppress(OSError):  # what cannot be read says so by its digest
                    lines[name] = line_digests(file.read_bytes())
    return Details(files, lines)


def line_digests(data: bytes) -> str:
    """The first digits of the hash of each line of a file's bytes."""
    return "".join(hashlib.sha256(line).hexdigest()[:_SHORT_LINE] for line in data.splitlines())


def lines_apart(old: str, new: str) -> list[int]:
    """The numbers of the lines, from 1, at which two files differ by their lines' digests; where lines were
    added or lost, the first one.

    >>> lines_apart("aaaabbbbcccc", "aaaaffffcccc"), lines_apart("aaaabbbbcccc", "aaaacccc")
    ([2], [2])
    """
    places = range(0, max(len(old), len(new)), _SHORT_LINE)
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


def fingerprint(stages: Stages, stage: Stage, workspace: Workspace, digest: Digest = sha256) -> Fingerprint:
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


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a ledger's folder, an empty one where there is no ledger; ``None`` where any byte of it
    is not as it was written.
    """
    try:
        head = (folder / HEAD).read_bytes().decode("ascii")
        data = (folder / f"{head.strip()}{_LINES}").read_bytes()
        return _decode(data) if head == f"{hashlib.sha256(data).hexdigest()}\n" else None
    except FileNotFoundError:
        return None if (folder / HEAD).exists() or list(folder.glob(f"*{_LINES}")) else Manifest()
    except (OSError, ValueError):  # what is no ASCII, no name, no JSON
        return None


def read_what_is_left(folder: Path) -> Manifest:
    """The manifest, or of one that is damaged the lines that can be read: no damage of it hides another."""
    found = read_manifest(folder)
    if found is None:
        found = Manifest()
        for line in (line for path in folder.glob(f"*{_LINES}") for line in path.read_bytes().splitlines()):
            with suppress(ValueError, TypeError, LookupError):
                _put(found, line)
    return found


_LINES = ".jsonl"
_types = get_type_hints(Manifest)


def _encode(manifest: Manifest) -> bytes:
    """A line for each key of each part, so that a damaged byte costs one line."""
    keys = [(part, key) for part in manifest.__struct_fields__ for key in sorted(getattr(manifest, part))]
    lines = ((part, key, getattr(manifest, part)[key]) for part, key in keys)
    return b"".join(msgspec.json.encode(line, order="sorted") + b"\n" for line in lines)


def _decode(data: bytes) -> Manifest:
    found = Manifest()
    for line in data.splitlines():
        _put(found, line)
    return found


def _put(manifest: Manifest, line: bytes) -> None:
    part, key, value = msgspec.json.decode(line)
    getattr(manifest, part)[key] = msgspec.convert(value, get_args(_types[part])[1])


@contextmanager
def changing(folder: Path) -> Iterator[Manifest]:
    """The manifest, to change inside the block, and written after it; one that is damaged is begun anew.

    Processes that change it at once do so one after the other; errors as :func:`replacing`.
    """
    with naming(folder):
        make_folders(folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        manifest = read_manifest(folder) or Manifest()
        yield manifest
        data = _encode(manifest)
        name = hashlib.sha256(data).hexdigest()
        if (folder / HEAD).is_file() and (folder / HEAD).read_bytes() == f"{name}\n".encode():
            return
        for path, written in ((folder / f"{name}{_LINES}", data), (folder / HEAD, f"{name}\n".encode())):
            with replacing(path) as fresh:
                fresh.write_bytes(written)
        for old in folder.glob(f"*{_LINES}"):
            if old.stem != name:
                with suppress(OSError):  # it is read by nobody, and the next change removes it
                    old.unlink()
    finally:
        os.close(descriptor)


def ledger_of(workspace: Workspace) -> Path:
    """The folder of a workspace's ledger."""
    return workspace.path(LEDGER)


def read_records(workspace: Workspace) -> dict[str, Fingerprint]:
    """What each stage of a profile was made from last and what it made, as the ledger has it."""
    manifest = read_manifest(ledger_of(workspace)) or Manifest()
    return {name: entry.made for name, entry in manifest.stages.items()}


def read_record(workspace: Workspace, stage: str) -> Fingerprint | None:
    """The record of a stage; ``None`` where there is none, or the ledger is damaged."""
    return read_records(workspace).get(stage)


def keep_record(workspace: Workspace, stage: str, made: Fingerprint) -> None:
    """Write a stage's record into the ledger, with the tables that are there."""
    known = read_manifest(ledger_of(workspace))
    if known and stage in known.stages and known.stages[stage].made == made:
        return
    named = details({out: workspace.path(out) for out in made.outs}, Digests())
    with changing(ledger_of(workspace)) as manifest:
        entry = Entry(made=made, environment=lock_hash(), files=named.files, lines=named.lines)
        manifest.stages[stage] = entry
        _keep_tables(workspace, manifest)


def keep_tables(workspace: Workspace) -> None:
    """Write into the ledger which tables are there, where they were written outside of a stage."""
    with changing(ledger_of(workspace)) as manifest:
        _keep_tables(workspace, manifest)


def _keep_tables(workspace: Workspace, manifest: Manifest) -> None:
    storage, tables = workspace.storage.local, manifest.tables
    if not storage or workspace.experiment:
        return
    there = table_sums(storage, workspace.settings.profile)
    # Tables that were replaced are forgotten with their benchmark's folder, those that were lost are not.
    replaced = {_benchmark(path) for path in there}
    lost = {path: digest for path, digest in tables.items() if _benchmark(path) not in replaced}
    tables.clear()
    tables.update(there | lost)


def _benchmark(path: str) -> tuple[str, ...]:
    return Path(path).parts[:3]
