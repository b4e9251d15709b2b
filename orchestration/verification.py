"""Drift: what differs from the pins, and accepting new results on purpose."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from orchestration.files import sha256
from orchestration.pins import commit, drift
from orchestration.resources import WorkspaceResource
from orchestration.run import run_stages
from orchestration.stage import STAGES, ordered_stages
from orchestration.workspace import Workspace
from substrate.errors import ParameterError
from substrate.rows import Row, decode

_SHOWN = 20


class Difference(msgspec.Struct, frozen=True):
    """One thing that is not what was pinned: an out, or a row in it."""

    stage: str
    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.stage}: {self.path}: {self.what}"


def verify_profile(workspace: Workspace) -> list[Difference]:
    """Compare the profile's artifacts with their pins, and with a recomputation from the data.

    Raises:
        ParameterError: the profile has not been reproduced here.
    """
    stages = [stage for stage in ordered_stages() if stage.pinned_by == "dvc.yaml"]
    for stage in stages:
        for out in stage.outs:
            if not workspace.path(out).exists():
                raise ParameterError("is not there", where=(workspace.path(out),), hint=f"Run `substrate reproduce --profile {workspace.settings.profile}` first")
    differences = [Difference(_stage_of(path, workspace), path, f"{how} against its pin") for path, how in sorted(drift(workspace.root).items())]
    with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
        run_stages([stage.name for stage in stages], WorkspaceResource(profile=workspace.settings.profile, scratch=folder, force=True))
        again = replace(workspace, scratch=Path(folder))
        for stage in stages:
            for out in stage.outs:
                kept, fresh = workspace.path(out), again.path(out)
                if sha256(kept) != sha256(fresh):
                    path = kept.relative_to(workspace.root).as_posix()
                    rows = _row_differences(kept, fresh) if kept.name == "answers.jsonl" else []
                    differences += [Difference(stage.name, path, what) for what in ["computes to other bytes", *rows]]
    return differences


def _stage_of(path: str, workspace: Workspace) -> str:
    return next((s.name for s in STAGES.values() if any(workspace.path(out) == workspace.root / path for out in s.outs)), "data")


def _row_differences(kept: Path, fresh: Path) -> list[str]:
    """The rows in which two answer files differ, old and new; the first of them, and how many more."""
    old, new = ({(row.scene, row.question): row for row in map(decode, path.read_bytes().splitlines())} for path in (kept, fresh))
    changed = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    shown = [f"scene {scene}, question {question}: {_brief(old.get((scene, question)))} -> {_brief(new.get((scene, question)))}" for scene, question in changed[:_SHOWN]]
    return shown + ([f"and {len(changed) - _SHOWN} more rows"] if len(changed) > _SHOWN else [])


def _brief(row: Row | None) -> str:
    return "no row" if row is None else f"{row.predicted} (expected {row.expected}, log {row.log[:15]})"


def accept_results(workspace: Workspace, reason: str) -> list[str]:
    """Pin what is there, and append the reason to ``pins/accepted.jsonl``.

    Returns:
        The outs whose bytes changed.
    """
    if not reason.strip():
        raise ParameterError("no reason given", hint="Say why the new results are right")
    changed = sorted(drift(workspace.root))
    commit(workspace.root)
    record = workspace.root / "pins" / "accepted.jsonl"
    record.parent.mkdir(exist_ok=True)
    entry = {"date": datetime.now(UTC).date().isoformat(), "profile": workspace.settings.profile, "reason": reason, "changed": changed}
    with record.open("ab") as file:
        file.write(msgspec.json.encode(entry) + b"\n")
    return changed
