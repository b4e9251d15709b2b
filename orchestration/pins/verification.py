"""Whether the results are what was pinned, and accepting new ones on purpose."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from orchestration.pins import dvc as pins
from orchestration.pins.drift import Cause, Difference, causes, differences
from orchestration.pins.pinned import Pins, decode_pins, measure, read_pins, write_pins
from orchestration.stage import Stage, Stages
from orchestration.workspace import Workspace
from substrate.errors import ParameterError

ACCEPTED = Path("pins") / "accepted.jsonl"


class Acceptance(msgspec.Struct, frozen=True):
    """A line of ``pins/accepted.jsonl``: new results taken over on purpose."""

    date: str
    profile: str
    reason: str
    changed: list[str]


class Report(msgspec.Struct, frozen=True):
    """What differs from the pins, why, and what was accepted since an earlier commit."""

    profile: str
    recomputed: bool
    differences: list[Difference]
    causes: list[Cause]
    accepted: list[Acceptance] = []
    accepted_differences: list[Difference] = []


Compute = Callable[[list[str], str, Path], object]
"""Runs stages of a profile, by name, into a folder of its own."""


def verify_profile(
    workspace: Workspace, stages: Stages, *, recompute: Compute | None = None, since: str | None = None
) -> Report:
    """Compare the profile's results with their pins: a recomputation from the data that are there, or only
    the artifacts.

    Args:
        recompute: computes everything anew, which is then compared with what is there too; only the artifacts
            are looked at without it.
        since: a commit; what was accepted after it is reported too.

    Raises:
        ParameterError: the profile has not been reproduced here, or there is no such commit.
    """
    there = [stage for stage in stages.values() if stage.pinned_by == "data.dvc" or not recompute]
    _require(workspace, there)
    profile = workspace.settings.profile
    pinned, here = read_pins(workspace.root, profile), measure(workspace, stages)
    found: list[Difference] = []
    now = here
    if recompute:
        with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
            computed = [name for name, stage in stages.items() if stage.pinned_by == "dvc.yaml"]
            recompute(computed, profile, Path(folder))
            now = measure(replace(workspace, scratch=Path(folder)), stages)
        found = differences(here, now, here=True)
    found = differences(pinned, now) + found
    found += _unexplained(workspace, stages, {difference.stage for difference in found})
    accepted, taken = _accepted(workspace, pinned, since) if since else ([], [])
    return Report(profile, recompute is not None, found, causes(pinned, now), accepted, taken)


def _require(workspace: Workspace, stages: Iterable[Stage]) -> None:
    for stage in stages:
        for out in stage.outs:
            if not workspace.path(out).exists():
                hint = f"Run `substrate reproduce --profile {workspace.settings.profile}` first"
                raise ParameterError("is not there", where=(workspace.path(out),), hint=hint)


def _unexplained(workspace: Workspace, stages: Stages, explained: set[str]) -> list[Difference]:
    """What DVC finds changed and the compact pins do not know of."""
    found: list[Difference] = []
    for path, how in sorted(pins.drift(workspace.root).items()):
        stage = stage_of(path, workspace, stages)
        if how == "modified" and stage not in explained:
            found.append(Difference(stage, "file", path, "as pinned", "modified"))
    return found


def stage_of(path: str, workspace: Workspace, stages: Stages) -> str:
    """The stage that makes a path of the project."""
    for stage in stages.values():
        if any(workspace.path(out) == workspace.root / path for out in stage.outs):
            return stage.name
    return "data"


def _accepted(workspace: Workspace, pinned: Pins, since: str) -> tuple[list[Acceptance], list[Difference]]:
    """The reasons given since a commit, and how the pins differ from those of the commit."""
    root, folder = workspace.root, f"pins/{workspace.settings.profile}"
    names = _git(root, "ls-tree", "-r", "--name-only", since, "--", "pins").decode().splitlines()
    before: dict[str, bytes] = {}
    known: list[bytes] = []
    for name in names:
        if Path(name).parent.as_posix() == folder:
            before[Path(name).name] = _git(root, "show", f"{since}:{name}")
        if name == ACCEPTED.as_posix():
            known = _git(root, "show", f"{since}:{name}").splitlines()
    kept = root / ACCEPTED
    lines = kept.read_bytes().splitlines() if kept.is_file() else []
    given = [msgspec.json.decode(line, type=Acceptance) for line in lines if line not in known]
    return given, differences(decode_pins(before), pinned)


def _git(root: Path, *arguments: str) -> bytes:
    finished = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    if finished.returncode:
        raise ParameterError(
            f"git {arguments[0]} failed: {finished.stderr.decode(errors='replace').strip()}",
            where=("--since",),
            hint="Name a commit that this clone has",
        )
    return finished.stdout


def accept_results(workspace: Workspace, stages: Stages, reason: str) -> list[str]:
    """Pin what is there, and append the reason to ``pins/accepted.jsonl``.

    Returns:
        The outs whose bytes changed.
    """
    if not reason.strip():
        raise ParameterError("no reason given", hint="Say why the new results are right")
    changed = sorted(pins.drift(workspace.root))
    pins.commit(workspace.root)
    write_pins(workspace, measure(workspace, stages))
    record = workspace.root / ACCEPTED
    record.parent.mkdir(exist_ok=True)
    entry = Acceptance(datetime.now(UTC).date().isoformat(), workspace.settings.profile, reason, changed)
    with record.open("ab") as file:
        file.write(msgspec.json.encode(entry) + b"\n")
    return changed
