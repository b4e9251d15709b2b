"""Whether the results are what was pinned, and accepting new ones on purpose."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from orchestration.pins import dvc as pins
from orchestration.pins.drift import Cause, Difference, causes, differences
from orchestration.pins.pinned import Pins, decode_pins, measure, read_pins, write_pins
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.run import run_stages
from orchestration.pipeline.stage import STAGES, Stage, ordered_stages
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


def verify_profile(workspace: Workspace, *, recompute: bool = True, since: str | None = None) -> Report:
    """Compare the profile's results with their pins: a recomputation from the data that are there, or only
    the artifacts.

    Args:
        recompute: compute everything anew, and also compare what is there with that.
        since: a commit; what was accepted after it is reported too.

    Raises:
        ParameterError: the profile has not been reproduced here, or there is no such commit.
    """
    stages = ordered_stages()
    _require(workspace, [stage for stage in stages if stage.pinned_by == "data.dvc" or not recompute])
    profile = workspace.settings.profile
    pinned, here = read_pins(workspace.root, profile), measure(workspace, stages)
    if recompute:
        with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
            computed = [stage for stage in stages if stage.pinned_by == "dvc.yaml"]
            run_stages(
                [stage.name for stage in computed],
                WorkspaceResource(profile=profile, scratch=folder, force=True),
            )
            now = measure(replace(workspace, scratch=Path(folder)), stages)
    else:
        now = here
    found = differences(pinned, now)
    found += [difference for difference in differences(here, now, here=True) if now is not here]
    found += _unexplained(workspace, {difference.stage for difference in found})
    accepted, taken = _accepted(workspace, pinned, since) if since else ([], [])
    return Report(profile, recompute, found, causes(pinned, now), accepted, taken)


def _require(workspace: Workspace, stages: list[Stage]) -> None:
    for out in (out for stage in stages for out in stage.outs):
        if not workspace.path(out).exists():
            raise ParameterError(
                "is not there",
                where=(workspace.path(out),),
                hint=f"Run `substrate reproduce --profile {workspace.settings.profile}` first",
            )


def _unexplained(workspace: Workspace, explained: set[str]) -> list[Difference]:
    """What DVC finds changed and the compact pins do not know of."""
    modified = (
        (path, stage_of(path, workspace))
        for path, how in sorted(pins.drift(workspace.root).items())
        if how == "modified"
    )
    return [
        Difference(stage, "file", path, "as pinned", "modified")
        for path, stage in modified
        if stage not in explained
    ]


def stage_of(path: str, workspace: Workspace) -> str:
    """The stage that makes a path of the project."""
    return next(
        (
            s.name
            for s in STAGES.values()
            if any(workspace.path(out) == workspace.root / path for out in s.outs)
        ),
        "data",
    )


def _accepted(workspace: Workspace, pinned: Pins, since: str) -> tuple[list[Acceptance], list[Difference]]:
    """The reasons given since a commit, and how the pins differ from those of the commit."""
    decoder, folder = msgspec.json.Decoder(Acceptance), f"pins/{workspace.settings.profile}"
    names = _git(workspace.root, "ls-tree", "-r", "--name-only", since, "--", "pins").decode().splitlines()
    before = {
        Path(name).name: _git(workspace.root, "show", f"{since}:{name}")
        for name in names
        if Path(name).parent.as_posix() == folder
    }
    known = (
        _git(workspace.root, "show", f"{since}:{ACCEPTED.as_posix()}").splitlines()
        if ACCEPTED.as_posix() in names
        else []
    )
    lines = (
        (workspace.root / ACCEPTED).read_bytes().splitlines() if (workspace.root / ACCEPTED).is_file() else []
    )
    return [decoder.decode(line) for line in lines if line not in known], differences(
        decode_pins(before), pinned
    )


def _git(root: Path, *arguments: str) -> bytes:
    finished = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    if finished.returncode:
        raise ParameterError(
            f"git {arguments[0]} failed: {finished.stderr.decode(errors='replace').strip()}",
            where=("--since",),
            hint="Name a commit that this clone has",
        )
    return finished.stdout


def accept_results(workspace: Workspace, reason: str) -> list[str]:
    """Pin what is there, and append the reason to ``pins/accepted.jsonl``.

    Returns:
        The outs whose bytes changed.
    """
    if not reason.strip():
        raise ParameterError("no reason given", hint="Say why the new results are right")
    changed = sorted(pins.drift(workspace.root))
    pins.commit(workspace.root)
    write_pins(workspace, measure(workspace))
    record = workspace.root / ACCEPTED
    record.parent.mkdir(exist_ok=True)
    entry = Acceptance(datetime.now(UTC).date().isoformat(), workspace.settings.profile, reason, changed)
    with record.open("ab") as file:
        file.write(msgspec.json.encode(entry) + b"\n")
    return changed
