"""A quick check that a whole run has nothing to do, by a comparison with the files after the last run.

After each run the ledger keeps the size, times and SHA-256 of every file that the run read or wrote, as git
and DVC do for theirs. A file with the same size and times is not read again; a touched or copied file is read
and compared. If anything changed, appeared or vanished (a code file, a parameter, an out, a pin), the graph
is run, and skips unchanged stages by the ledger.

This module imports nothing heavy: neither Dagster, nor Spark, nor the stages.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from orchestration.code import PACKAGES
from orchestration.ledger.manifest import (
    LEDGER,
    File,
    Manifest,
    Reproduction,
    changing,
    ledger_at,
    read_manifest,
)
from substrate.base.files import OutputError, sha256

# Nanoseconds within which a file may change twice and show the same time.
_RACY = 50_000_000
_CHECKOUT = Path(__file__).resolve().parents[2]
# The prefix of names of files in the checkout that runs, wherever the project is.
_OF_CODE = "code:"
OFFICIAL = "pins/real.json"
"""The pins of what was measured on official data, which the report of any profile shows."""
# Variables of the environment that let a run do what no file shows: ask a model, be an experiment.
_ELSEWHERE = ("SUBSTRATE_MODEL_URL", "DVC_EXP_BASELINE_REV")
# No run is made again for these.
_PASSED_OVER = {"__pycache__", Path(LEDGER).name}


def sources() -> list[str]:
    """The paths that no run writes: code and parameters."""
    return [*(f"{_OF_CODE}{room}" for room in (*PACKAGES, "tboxes")), "params.yaml"]


def hashes(root: Path, paths: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of the files at some paths; for a folder, of all files in it."""
    return {name: sha256(place) for name, place in _files(root, paths)}


def keep(root: Path, profile: str, runs: Mapping[str, Reproduction]) -> None:
    """Record all files that a run read and wrote."""
    folder = ledger_at(root, profile)
    files = _look(root, profile, read_manifest(folder))
    with changing(folder) as manifest:
        manifest.files, manifest.runs = files, dict(runs)


def stands(root: Path, profile: str, only: str | None) -> Reproduction | None:
    """The outcome of the last run, if no file that it read or wrote has changed since."""
    folder = ledger_at(root, profile)
    known = read_manifest(folder)
    run = known.runs.get(only or "")
    # If drift is an error, the graph's checks must report it.
    if run is None or any(map(os.environ.get, _ELSEWHERE)) or (run.drifted and os.environ.get("CI")):
        return None
    if any(made.outs.keys() & run.drifted.keys() and not made.explained for made in known.stages.values()):
        return None  # the run has to compute those stages again
    now = _look(root, profile, known)
    before, after = ({name: file.sha256 for name, file in of.items()} for of in (known.files, now))
    if before != after:
        return None
    if now != known.files:
        with suppress(OutputError), changing(folder) as manifest:
            manifest.files = now
    return run


def seen(path: Path, before: File | None) -> File:
    """A file as it is; one whose size and times are as they were before is not read again.

    Args:
        path: the file.
        before: it as it was seen last.
    """
    begun, state = time.time_ns(), path.stat()
    size, *times = state.st_size, state.st_mtime_ns, state.st_ctime_ns
    if before and (before.size, before.modified, before.changed) == (size, *times):
        return before
    # If a file's times are too recent, its next change may leave them equal.
    modified, changed = times if max(times) < begun - _RACY else (0, 0)
    return File(size, modified, changed, sha256(path))


def _look(root: Path, profile: str, known: Manifest) -> dict[str, File]:
    """All that a run reads and writes as it is; a file that shows no change since it was seen is not read."""
    of_profile = (f"pins/{profile}.json", f"pins/{profile}", f"artifacts/{profile}", f"data/{profile}")
    outside = (path for made in known.stages.values() for path in made.inputs if os.path.isabs(path))
    files: dict[str, File] = {}
    beside = ("dvc.yaml", "dvc.lock", "data.dvc", "transcripts", OFFICIAL)
    for name, place in _files(root, {*sources(), *beside, *of_profile, *outside}):
        with suppress(FileNotFoundError):  # a link that leads nowhere, or a file that just went
            files[name] = seen(place, known.files.get(name))
    return files


def _files(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, Path]]:
    for name in sorted(paths):
        place = _CHECKOUT / name.removeprefix(_OF_CODE) if name.startswith(_OF_CODE) else root / name
        if place.is_file():
            yield name, place
        for folder, inner, files in os.walk(place):
            inner[:] = sorted(child for child in inner if child not in _PASSED_OVER)
            for file in sorted(files):
                path = Path(folder, file)
                yield f"{name}/{path.relative_to(place).as_posix()}", path
