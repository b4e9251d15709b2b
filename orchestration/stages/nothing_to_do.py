"""A quick check that a whole run has nothing to do: every file is as the last run left it.

With the outcome of a run the ledger keeps one digest of all files that the run read or wrote. If anything
changed, appeared or vanished (a code file, a parameter, an out, a pin), the graph is run, and skips unchanged
stages by the ledger.

This module imports nothing heavy: neither Dagster, nor Spark, nor the stages.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from orchestration.code import PACKAGES, ROOT
from orchestration.ledger.manifest import LEDGER, Manifest, changing, ledger_at, read_manifest, version_of
from orchestration.pins.paths import OF_CLAIMS
from substrate.base.files import sha256
from substrate.baselines.parameters import MODEL_URL

# The code is that of the checkout that runs, wherever the project is.
_CODE = {f"code:{room}": ROOT / room for room in (*PACKAGES, "tboxes")}
# Variables of the environment that let a run do what no file shows: ask a model, be an experiment.
_ELSEWHERE = (MODEL_URL, "DVC_EXP_BASELINE_REV")
# No run is made again for these.
_PASSED_OVER = {"__pycache__", Path(LEDGER).name}


def source_digest(root: Path) -> str:
    """A digest of the files that no run writes: code and parameters."""
    return _digest(root, ())


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
    return _digest(root, {*beside, *of_profile, *outside})


def _digest(root: Path, names: Iterable[str]) -> str:
    """A digest of code, parameters and the files of these names."""
    digests: dict[str, str] = {}
    for name, place in (_CODE | {name: root / name for name in ("params.yaml", *names)}).items():
        with suppress(FileNotFoundError):  # a file or folder that just went
            for path in (place, *place.rglob("*")):
                inside = str(path).removeprefix(str(place))
                if path.is_file() and _PASSED_OVER.isdisjoint(inside.split(os.sep)):
                    # A user's own file may be long
                    outside, state = os.path.isabs(name), path.stat()
                    times = f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"
                    digests[name + inside] = times if outside else sha256(path)
    return version_of(digests)
