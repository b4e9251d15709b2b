"""The record a stage leaves of its run: what its outs were made from, and what they were.

It lies beside the artifacts, in `.stages/`; the pins keep the same (:mod:`orchestration.pins.pinned`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from orchestration.code import ROOT, hashes
from orchestration.files import sha256
from orchestration.stage import Stage, Stages, inputs_of
from orchestration.workspace import Workspace

LOCK = "requirements.lock"


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


def version_of(files: dict[str, str]) -> str:
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


def flattened(parameters: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested parameters by dotted key.

    >>> flattened({"clevrer": {"predictive": {"tau": 0.4}}, "seed": 20})
    {'clevrer.predictive.tau': 0.4, 'seed': 20}
    """
    flat: dict[str, Any] = {}
    for key, value in parameters.items():
        flat |= (
            flattened(value, f"{prefix}{key}.")
            if isinstance(value, dict) and value
            else {prefix + key: value}
        )
    return flat


def fingerprint(stages: Stages, stage: Stage, workspace: Workspace) -> Fingerprint:
    """What a stage's outs would be made from now, and what those that are there are."""
    profile = workspace.settings.profile
    values = {key.format(profile=profile): parameter(workspace, key) for key in stage.parameters}
    # As JSON gives them back, so that a record that was read equals one that was computed.
    parameters = msgspec.json.decode(msgspec.json.encode(values, order="sorted"))
    found: list[dict[str, str]] = []
    for outs in (inputs_of(stages, stage), stage.outs):
        paths = {out.format(profile=profile): workspace.path(out) for out in outs}
        found.append({name: sha256(path) for name, path in paths.items() if path.exists()})
    outside = stage.outside(workspace) if stage.outside else {}
    found[0] |= {str(path): sha256(path) for path in outside.values() if path.exists()}
    return Fingerprint(hashes(stage.code), parameters, *found)


def record_path(workspace: Workspace, stage: str) -> Path:
    """Where a stage's record lies."""
    return workspace.path(f"artifacts/{{profile}}/.stages/{stage.replace('/', '.')}.json")


def read_record(path: Path) -> Fingerprint | None:
    """A stage's record; ``None`` where there is none, or one of an older form."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Fingerprint)
    except (FileNotFoundError, msgspec.DecodeError):
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
