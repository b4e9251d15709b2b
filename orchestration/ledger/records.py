"""The records of stages in a profile's ledger, and the record that a stage's outs would have now."""

from __future__ import annotations

import hashlib
import platform
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec

from orchestration.base.java import java_program
from orchestration.code import ROOT, packages_of
from orchestration.ledger.manifest import LEDGER, Made, changed, changing, read_manifest
from orchestration.settings import value_at
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import table_sums
from substrate.base.files import sha256

LOCK = "requirements.lock"
# The files that are compared line by line.
OF_LINES = frozenset({".jsonl", ".csv", ".txt"})
_SHORT, _SHORT_LINE, _LISTED = 8, 4, 5
# The distributions whose names differ from their packages.
_DISTRIBUTIONS = {"PIL": "pillow", "yaml": "PyYAML"}


# Nanoseconds within which a file may change twice and show the same time.
_RACY = 50_000_000
_seen: dict[Path, tuple[tuple[int, ...], str]] = {}
"""The files that this process has read: size and times, which are left out if too recent, and digest."""


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


def apart(root: Path, held: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """Return the paths whose digest differs from the recorded one, in order, each with recorded and present
    digest.
    """
    return changed(held, digests({name: root / name for name in held}))


def with_details(made: Made, paths: Mapping[str, Path]) -> Made:
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


@cache
def lock_hash() -> str:
    """Return the SHA-256 of the environment's lock file; empty if there is none."""
    path = ROOT / LOCK
    return sha256(path) if path.is_file() else ""


def environment_of(code: Mapping[str, str]) -> dict[str, str]:
    """Return the installed versions of Python and of the packages that ``code`` imports, and the hash of the
    lock file, which lists the expected versions. If Spark is imported, Java's version is included.
    """
    packages = packages_of(code)
    versions = {name: version for name in sorted(packages) if (version := _version(name))}
    java = {"Java": java_version()} if "pyspark" in packages else {}
    return {"Python": platform.python_version(), **java, LOCK: lock_hash(), **versions}


@cache
def _version(package: str) -> str:
    """Return the installed version of the distribution that provides a package; empty if none does."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(_DISTRIBUTIONS.get(package, package))
    return ""


@cache
def java_version() -> str:
    """Return the version of the Java that runs Spark, from the runtime's file; empty if the file lacks it."""
    _, program = java_program()
    with suppress(OSError, IndexError):
        release = Path(program).resolve(strict=True).parents[1] / "release"
        version = re.search(r'^JAVA_VERSION="(.*)"', release.read_text("utf-8"), re.MULTILINE)
        return version[1] if version else ""
    return ""


def fingerprint(stages: Stages, stage: Stage, workspace: Workspace) -> Made:
    """Return the record that a stage would leave now: the inputs of its outs, and the existing outs."""
    root = workspace.root
    outside = stage.outside(workspace).values() if stage.outside else ()
    # A file inside the project is named by its relative path, independent of the project's location.
    named = {str(path.relative_to(root) if path.is_relative_to(root) else path): path for path in outside}
    keys = [key.format(profile=workspace.settings.profile) for key in stage.parameters]
    return Made(
        outs=digests(workspace.paths(stage.outs)),
        code=dict(stage.code),
        parameters={key: value_at(workspace.settings, key) for key in sorted(keys)},
        inputs=digests(workspace.paths(inputs_of(stages, stage)) | named),
        environment=environment_of(stage.code),
        needs=list(stage.needs),
    )


def ledger_of(workspace: Workspace) -> Path:
    """Return the folder of a workspace's ledger."""
    return workspace.path(LEDGER)


def read_records(workspace: Workspace) -> dict[str, Made]:
    """Read the record of each stage of a profile from the ledger."""
    return read_manifest(ledger_of(workspace)).stages


def keep_records(workspace: Workspace, records: Mapping[str, Made]) -> None:
    """Write the records of stages that ran into the ledger, with the existing tables."""
    storage = workspace.storage.local
    whole = {  # outs that an experiment takes come with their details
        stage: made
        if made.files or made.lines
        else with_details(made, {out: workspace.path(out) for out in made.outs})
        for stage, made in records.items()
    }
    made_now = {out for made in whole.values() for out in made.outs}
    with changing(ledger_of(workspace)) as manifest:
        # A stage of another name that made one of these outs is no longer its maker.
        others = {name: made for name, made in manifest.stages.items() if made_now.isdisjoint(made.outs)}
        manifest.stages = others | whole
        if storage and not workspace.experiment:
            there = table_sums(storage, workspace.settings.profile)
            # Replaced tables are forgotten with their benchmark's folder; lost tables stay recorded.
            replaced = {Path(path).parts[:3] for path in there}
            lost = {
                path: was for path, was in manifest.tables.items() if Path(path).parts[:3] not in replaced
            }
            manifest.tables = there | lost
