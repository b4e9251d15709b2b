"""Whether the results are what was pinned, and accepting new ones on purpose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

from orchestration.pins import dvc as pins
from orchestration.pins.acceptance import ACCEPTED, Acceptance, changes
from orchestration.pins.acceptance import since as changes_since
from orchestration.pins.damage import find_damage
from orchestration.pins.drift import Cause, Difference, causes, differences, unaccepted
from orchestration.pins.pinned import measure, read_pins, write_pins
from orchestration.pins.records import Digests
from orchestration.pins.seal import seal_pins
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stage, Stages
from orchestration.workspace.folders import Workspace
from orchestration.workspace.tables import Storage
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.files import passing_folder


class Report(msgspec.Struct, frozen=True):
    """What differs from the pins, why, and what was accepted since an earlier commit."""

    profile: str
    recomputed: bool
    differences: list[Difference]
    causes: list[Cause]
    unaccepted: list[Cause] = []
    """What changed and that stages depend on whose outs are what was pinned."""
    accepted: list[Acceptance] = []
    accepted_differences: list[Difference] = []
    since: str = ""
    """The commit since which the pins were looked through."""
    unrecorded: list[str] = []
    """What of the pins changed since then that no commit's message and no line of a file accepts."""

    @property
    def fits(self) -> bool:
        """Whether all is what was pinned, and every change of the pins was accepted; a change that nobody
        accepted counts where nothing was computed anew.
        """
        return not (self.differences or self.unrecorded) and (self.recomputed or not self.unaccepted)


Compute = Callable[[list[str], str, Path], object]
"""Runs stages of a profile, by name, into a folder of its own."""


def verify_profile(
    workspace: Workspace, stages: Stages, *, recompute: Compute | None = None, since: str | None = None
) -> Report:
    """Hold every file of the profile against its hash, then compare the results with their pins: those of a
    recomputation from the data that are there, or only the artifacts.

    Args:
        workspace: the project and its profile.
        stages: every stage there is.
        recompute: computes everything anew, which is then compared with what is there too; only the artifacts
            are looked at without it.
        since: a commit; what was accepted after it is reported too, and what changed without that.

    Raises:
        ParameterError: the profile has not been reproduced here, or there is no such commit.
    """
    profile, digest = workspace.settings.profile, Digests()
    damage = find_damage(
        workspace.root, profile, digest, storage=_local(workspace.storage), results=recompute is None
    )
    there = [stage for stage in stages.values() if stage.pinned_by == "data.dvc" or not recompute]
    _require(workspace, there, {difference.what for difference in damage.found})
    pinned = damage.pins
    here = measure(workspace, stages, known=pinned, digest=digest)
    found: list[Difference] = []
    now = here
    if recompute:
        with passing_folder() as folder:
            computed = [name for name, stage in stages.items() if stage.pinned_by == "dvc.yaml"]
            try:
                recompute(computed, profile, folder)
            except SubstrateError as error:
                if not damage.found:
                    raise
                failed = Difference("verify", "file", "the recomputation", "every stage", str(error))
                return Report(profile, True, [*damage.found, failed], causes(pinned, here))
            now = measure(replace(workspace, scratch=folder), stages)
        found = differences(here, now, here=True)
    found = differences(pinned, now) + found
    named = {(difference.stage, difference.what) for difference in damage.found}
    found = [*damage.found, *(one for one in found if (one.stage, one.what) not in named)]
    report = Report(profile, recompute is not None, found, causes(pinned, now), unaccepted(pinned, now))
    if not since:
        return report
    accepted, before, unrecorded = changes_since(workspace.root, profile, pinned, since, stages)
    return msgspec.structs.replace(
        report,
        accepted=accepted,
        accepted_differences=differences(before, pinned),
        since=since,
        unrecorded=unrecorded,
    )


def verify_files(root: Path, profile: str | None, error: SubstrateError) -> Report:
    """Hold every file against its hash where the parameters cannot be read: of one profile, or of each that
    has pins.

    Raises:
        SubstrateError: the error, where it is not the file of parameters that is wrong.
    """
    if str(root / PARAMETERS_FILE) not in error.where or (profile and not (root / "pins" / profile).is_dir()):
        raise error
    digest = Digests()
    names = [profile] if profile else sorted(path.name for path in (root / "pins").glob("*") if path.is_dir())
    found = [Difference("pins", "file", PARAMETERS_FILE, "parameters", str(error))]
    for name in names:
        damage = find_damage(root, name, digest, storage=root / "storage")
        found += [one for one in damage.found if one not in found and one.what != PARAMETERS_FILE]
    return Report(", ".join(names), False, found, [])


def _local(storage: Storage) -> Path | None:
    """The folder of a storage that is on this machine's disk."""
    parts = urlsplit(storage.base)
    return Path(url2pathname(parts.path)) if parts.scheme == "file" else None


def _require(workspace: Workspace, stages: Iterable[Stage], named: Collection[str]) -> None:
    """Refuse a profile that was not reproduced; a file that is gone from one that was is damage."""
    missing = [path for stage in stages for out in stage.outs if not (path := workspace.path(out)).exists()]
    known = {workspace.root / what for what in named}
    made = any(workspace.path(out).exists() for stage in stages for out in stage.outs)
    for path in missing:
        if not made or path not in known:
            hint = f"Run `substrate reproduce --profile {workspace.settings.profile}` first"
            raise ParameterError("is not there", where=(path,), hint=hint)


def proposed(workspace: Workspace, stages: Stages, reason: str) -> Acceptance:
    """What would be accepted: how what is there differs from the pins, with the reason for it.

    Raises:
        ParameterError: there is no reason.
    """
    if not reason.strip():
        raise ParameterError("no reason given", where=("REASON",), hint="Say why the new results are right")
    profile, pinned = workspace.settings.profile, read_pins(workspace.root, workspace.settings.profile, [])
    found = changes(pinned, measure(workspace, stages, known=pinned))
    return msgspec.structs.replace(
        found,
        date=datetime.now(UTC).date().isoformat(),
        profile=profile,
        reason=reason,
        changed=sorted(pins.drift(workspace.root)),
    )


def accept_results(workspace: Workspace, stages: Stages, acceptance: Acceptance) -> None:
    """Pin what is there, and append the acceptance to ``pins/accepted.jsonl``."""
    pins.commit(workspace.root)
    write_pins(workspace, measure(workspace, stages))
    record = workspace.root / ACCEPTED
    record.parent.mkdir(exist_ok=True)
    with record.open("ab") as file:
        file.write(msgspec.json.encode(acceptance) + b"\n")
    seal_pins(workspace.root)
