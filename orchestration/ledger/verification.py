"""Verification of results against the pins, and the acceptance of new ones on purpose."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from orchestration.ledger import dvc
from orchestration.ledger.acceptance import Acceptance, changes
from orchestration.ledger.acceptance import since as changes_since
from orchestration.ledger.damage import find_damage
from orchestration.ledger.drift import Cause, Difference, causes, differences, explained
from orchestration.ledger.manifest import Made, Pins, changing
from orchestration.ledger.moved import Moved, moved
from orchestration.ledger.pinned import (
    accepted_name,
    drift,
    measure,
    read_pins,
    write_pins,
)
from orchestration.ledger.records import Digests, ledger_of, read_records
from orchestration.registry import SOURCES
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stage, Stages, computable
from orchestration.workspace.folders import Workspace
from orchestration.workspace.real import absent, doctored
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.files import passing_folder, replacing, sha256


class Report(msgspec.Struct, frozen=True):
    """The differences from the pins, their causes, and the changes accepted since an earlier commit."""

    profile: str
    recomputed: bool
    differences: list[Difference]
    causes: list[Cause]
    unaccepted: list[Cause] = []
    """The changes in what stages depend on whose outs are what was pinned."""
    accepted: list[Acceptance] = []
    accepted_differences: list[Difference] = []
    since: str = ""
    """The commit since which the pins were looked through."""
    unrecorded: list[str] = []
    """The changes of the pins since then that no line of `pins/accepted.jsonl` accepts."""
    moved: Moved = Moved()
    """The numbers and answers that differ from the pins."""
    absent: list[str] = []
    """The official files that are not there; what is pinned of them was not looked at."""

    @property
    def fits(self) -> bool:
        """Tell whether everything is as pinned and every change of the pins was accepted. Unaccepted changes
        count only if nothing was recomputed.
        """
        return not (self.differences or self.unrecorded) and (self.recomputed or not self.unaccepted)


Compute = Callable[[list[str], str, Path], object]
"""Runs stages of a profile, by name, into a separate folder."""


def verify_profile(
    workspace: Workspace,
    stages: Stages,
    *,
    recompute: Compute | None = None,
    since: str | None = None,
) -> Report:
    """Compare every file of the profile with its hash, then the results with their pins: recomputed results,
    or only the artifacts. Results that need missing official files are skipped; official files that differ
    from `params.yaml` are differences.

    Args:
        workspace: the project and its profile.
        stages: every stage of the profile.
        recompute: computes everything again; the results are compared with the artifacts too. Without it only
            the artifacts are compared.
        since: a commit; later acceptances are reported, and later changes without an acceptance.

    Raises:
        ParameterError: the profile has not been reproduced here, or there is no such commit.
    """
    root, profile, digest = workspace.root, workspace.settings.profile, Digests()
    tables, whole, lacking = workspace.storage.local, recompute is None, absent(workspace, SOURCES.values())
    stages = computable(stages, lacking)
    faults, pinned = find_damage(
        root, profile, stages, digest, storage=tables, results=whole, only=stages if lacking else None
    )
    official = doctored(workspace, SOURCES.values())
    faults += [Difference("real", "file", name, *hashes) for name, hashes in official.items()]
    there = [stage for stage in stages.values() if stage.pinned_by == "data.dvc" or not recompute]
    _require(workspace, there, {difference.what for difference in faults})
    here = now = measure(workspace, stages, known=pinned, digest=digest)
    if recompute:
        with passing_folder() as folder:
            results = [name for name, stage in stages.items() if stage.pinned_by == "dvc.yaml"]
            try:
                recompute(results, profile, folder)
                now = measure(replace(workspace, scratch=folder), stages)
            except SubstrateError as error:
                if not faults:
                    raise
                faults.append(Difference("verify", "file", "the recomputation", "every stage", str(error)))
    named = {(difference.stage, difference.what) for difference in faults}
    apart = differences(pinned, now) + differences(here, now, here=True)
    faults += [difference for difference in apart if (difference.stage, difference.what) not in named]
    because = causes(explained(root, profile, pinned, now), now)
    idle = causes(pinned, now, differ=False)
    not_there = sorted({name for names in lacking.values() for name in names})
    report = Report(
        profile, recompute is not None, faults, because, idle, moved=moved(pinned, now), absent=not_there
    )
    if not since:
        return report
    accepted, apart, unrecorded = changes_since(root, profile, pinned, since)
    return msgspec.structs.replace(
        report, since=since, accepted=accepted, accepted_differences=apart, unrecorded=unrecorded
    )


def verify_files(root: Path, profile: str | None, stages: Stages, error: SubstrateError) -> Report:
    """Compare every file with its hash if the parameters are unreadable: the files of a profile, or of every
    profile with pins.

    Raises:
        SubstrateError: the given error, if the file of parameters is not the cause.
    """
    names = sorted(path.parent.name for path in root.glob("artifacts/*/.ledger"))
    if str(root / PARAMETERS_FILE) not in error.where or (profile and profile not in names):
        raise error
    digest, names = Digests(), [profile] if profile else names
    faults = [Difference("pins", "file", PARAMETERS_FILE, "parameters", str(error))]
    for name in names:
        damage, _ = find_damage(root, name, stages, digest, storage=root / "storage")
        faults += [fault for fault in damage if fault not in faults and fault.what != PARAMETERS_FILE]
    return Report(", ".join(names), False, faults, [])


def _require(workspace: Workspace, stages: Iterable[Stage], named: Collection[str]) -> None:
    """Refuse a profile that was not reproduced; a file that is gone from one that was is damage."""
    missing = [path for stage in stages for out in stage.outs if not (path := workspace.path(out)).exists()]
    known = {workspace.root / what for what in named}
    made = any(workspace.path(out).exists() for stage in stages for out in stage.outs)
    for path in missing:
        if not made or path not in known:
            hint = f"Run `substrate reproduce --profile {workspace.settings.profile}` first"
            raise ParameterError("is not there", where=(path,), hint=hint)


def proposed(
    workspace: Workspace, stages: Stages, reason: str, *, unsafe: bool = False
) -> tuple[Acceptance, Moved]:
    """The acceptance to be, with the reason for it, and the numbers and answers that it takes over.

    Args:
        workspace: the project and its profile.
        stages: every stage there is.
        reason: why the new results are right.
        unsafe: accept outs too that no record of a run computed, and say so in the pins.

    Raises:
        ParameterError: there is no reason, or no record of a run computed what is there.
    """
    if not reason.strip():
        raise ParameterError("no reason given", where=("REASON",), hint="Say why the new results are right")
    profile, pinned = workspace.settings.profile, read_pins(workspace.root, workspace.settings.profile)
    now = measure(workspace, stages, known=pinned)
    forged = _not_computed(workspace, pinned, now)
    if forged and not unsafe:
        named = ", ".join(workspace.root.joinpath(out).as_posix() for out in next(iter(forged.values())))
        more = f", and outs of {len(forged) - 1} more stages" if len(forged) > 1 else ""
        hint = "Compute it: `substrate reproduce`; or take it over with --unsafe, which the pins say for good"
        raise ParameterError(f"no record of a run computed this{more}", where=(named,), hint=hint)
    acceptance = msgspec.structs.replace(
        changes(pinned, now),
        date=datetime.now(UTC).date().isoformat(),
        profile=profile,
        reason=reason,
        changed=sorted(drift(workspace)),
        unsafe=list(forged),
    )
    return acceptance, moved(pinned, now)


def moved_here(workspace: Workspace, stages: Stages, names: Iterable[str]) -> Moved:
    """The numbers and answers of some stages that differ from their pins."""
    pinned = read_pins(workspace.root, workspace.settings.profile)
    wanted = [stages[name] for name in names if name in pinned]
    return moved(pinned, measure(workspace, stages, wanted, known=pinned))


def _not_computed(workspace: Workspace, pinned: Pins, now: Pins) -> dict[str, list[str]]:
    """By stage the outs that are not as they are pinned, and that no run computed from what is there."""
    records, foreign = read_records(workspace), dict[str, list[str]]()
    made = {out: digest for record in records.values() for out, digest in record.outs.items()}
    for stage, measured in now.items():
        known = pinned[stage].outs if stage in pinned else {}
        record = records.get(stage, Made())
        follows = all(made.get(path, digest) == digest for path, digest in record.inputs.items())
        computed = record.outs if follows else {}
        if outs := [
            out for out, is_ in measured.outs.items() if is_ not in (known.get(out), computed.get(out))
        ]:
            foreign[stage] = outs
    return foreign


def accept_results(
    workspace: Workspace, stages: Stages, acceptance: Acceptance, *, usual: bool = True
) -> None:
    """Pin what is there, and append the acceptance to ``pins/accepted.jsonl``.

    Args:
        usual: whether the profile is that of `params.yaml`, which DVC holds the files of.
    """
    if usual:
        dvc.keep_code(workspace, stages)
        dvc.commit(workspace.root)
    record = workspace.root / accepted_name(workspace.settings.profile)
    before = record.read_bytes() if record.is_file() else b""
    with replacing(record) as fresh:
        fresh.write_bytes(before + msgspec.json.encode(acceptance) + b"\n")
    known = read_pins(workspace.root, workspace.settings.profile)
    measured = measure(workspace, stages, known=known)
    for stage in acceptance.unsafe:
        measured[stage] = msgspec.structs.replace(measured[stage], unsafe=acceptance.reason, code={})
    write_pins(workspace, measured)
    with changing(ledger_of(workspace)) as manifest:
        manifest.beside[PARAMETERS_FILE] = sha256(workspace.root / PARAMETERS_FILE)
