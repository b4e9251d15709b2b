"""A quick check that a whole run has nothing to do: every file is as the last run left it.

With the outcome of a run the ledger keeps one digest of all files that the run read or wrote. If anything
changed, appeared or vanished (a code file, a parameter, an out, a pin), the graph is run, and skips unchanged
stages by the ledger.

This module imports nothing heavy: neither Dagster, nor Spark, nor the stages. So it also names the profiles
that decide the paper's claims, whose pins count among these files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from orchestration.code import PACKAGES
from orchestration.ledger.manifest import LEDGER, Manifest, changing, ledger_at, read_manifest, version_of
from substrate.base.files import sha256
from substrate.baselines.parameters import MODEL_URL

if TYPE_CHECKING:
    from orchestration.scoring.published import Kind

_CHECKOUT = Path(__file__).resolve().parents[2]
# The prefix of names of files in the checkout that runs, wherever the project is.
_OF_CODE = "code:"
DECIDING: Mapping[str, Kind] = {"real": "official", "sample": "generated", "beyond": "generated"}
"""The profiles whose pinned results decide the paper's claims, and the kind of their data."""
OF_CLAIMS = tuple(f"pins/{profile}.json" for profile in DECIDING)
"""The pins of these profiles, which the report of any profile shows."""
# Variables of the environment that let a run do what no file shows: ask a model, be an experiment.
_ELSEWHERE = (MODEL_URL, "DVC_EXP_BASELINE_REV")
# No run is made again for these.
_PASSED_OVER = {"__pycache__", Path(LEDGER).name}
_SOURCES = (*(f"{_OF_CODE}{room}" for room in (*PACKAGES, "tboxes")), "params.yaml")


def source_digest(root: Path) -> str:
    """A digest of the files that no run writes: code and parameters."""
    return _digest(root, _SOURCES)


def record_outcome(root: Path, profile: str, only: str | None, run: Any) -> None:
    """Record the outcome of a run with all files as they are; forget outcomes of other files."""
    with changing(ledger_at(root, profile)) as manifest:
        now = _state(root, profile, manifest)
        manifest.outcomes = {name: kept for name, kept in manifest.outcomes.items() if kept[0] == now}
        manifest.outcomes[only or ""] = now, msgspec.to_builtins(run)


def last_outcome(root: Path, profile: str, only: str | None) -> Any:
    """The outcome of the last run, if no file that it read or wrote has changed since; else ``None``."""
    known = read_manifest(ledger_at(root, profile))
    state, run = known.outcomes.get(only or "", ("", None))
    # If drift is an error, the graph's checks must report it.
    if run is None or any(map(os.environ.get, _ELSEWHERE)) or (run["drifted"] and os.environ.get("CI")):
        return None
    if any(made.outs.keys() & run["drifted"].keys() and not made.explained for made in known.stages.values()):
        return None  # the run has to compute those stages again
    return run if state == _state(root, profile, known) else None


def _state(root: Path, profile: str, known: Manifest) -> str:
    """A digest of all that a run reads and writes."""
    of_profile = (f"pins/{profile}.json", f"pins/{profile}", f"artifacts/{profile}", f"data/{profile}")
    outside = (path for made in known.stages.values() for path in made.inputs if os.path.isabs(path))
    beside = ("dvc.yaml", "dvc.lock", "data.dvc", "transcripts", "pins/claims.json", *OF_CLAIMS)
    return _digest(root, {*_SOURCES, *beside, *of_profile, *outside})


def _digest(root: Path, paths: Iterable[str]) -> str:
    digests: dict[str, str] = {}
    for name, place in _files(root, paths):
        with suppress(FileNotFoundError):  # a link that leads nowhere, or a file that just went
            state = place.stat()
            # A user's own file may be long
            outside = os.path.isabs(name) and f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"
            digests[name] = outside or sha256(place)
    return version_of(digests)


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
