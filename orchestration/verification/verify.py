"""The report of `verify`: every file of a profile compared with its hash, then the results with their pins.

A file is compared with its hash before its content is read, so that no damage hides other damage. The
comparison needs no settings: the other files are checked even if `params.yaml` is damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

import msgspec

from orchestration.drift.as_pinned import Difference, differences
from orchestration.drift.causes import Cause, causes, with_code
from orchestration.drift.claim_verdicts import changed_verdicts, from_pins, verdicts
from orchestration.drift.moved_numbers import Changes, compare_results
from orchestration.dvc.dvc_files import in_dvc
from orchestration.ledger.stage_results import Results, measure
from orchestration.pins.acceptances import Acceptance, changes_since
from orchestration.pins.paths import DECIDING
from orchestration.registry import SOURCES
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stage, Stages, computable
from orchestration.verification.damage import find_damage
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import absent, doctored
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.files import temporary_folder


class Report(msgspec.Struct, frozen=True):
    """The differences from the pins, their causes, and the changes accepted since an earlier commit.

    Attributes:
        profile: the name of the profile, or names of several.
        recomputed: whether the results were computed again.
        differences: the differences from the pins.
        causes: the changed dependencies behind these differences.
        unaccepted: the changed dependencies of stages whose outs equal their pins.
        accepted: the acceptances since ``since``.
        accepted_moved: the numbers and answers by which the pins differ from those of that commit.
        since: the commit from which the history of the pins was checked.
        unrecorded: the stages whose pins changed since then without a line of `pins/accepted.jsonl`.
        moved: the numbers and answers that differ from the pins.
        absent: the missing official files, whose pins were not checked.
        pinned: the number of stages that were compared with their pins.
    """

    profile: str
    recomputed: bool
    differences: list[Difference]
    causes: list[Cause] = []
    unaccepted: list[Cause] = []
    accepted: list[Acceptance] = []
    accepted_moved: Changes = Changes()
    since: str = ""
    unrecorded: list[str] = []
    moved: Changes = Changes()
    absent: list[str] = []
    pinned: int = 0

    @property
    def fits(self) -> bool:
        """Tell whether everything is as pinned and every change of the pins was accepted.

        Unaccepted changes count only if nothing was recomputed.
        """
        return not (self.differences or self.unrecorded) and (self.recomputed or not self.unaccepted)


# Runs stages of a profile, by name, into a separate folder.
Compute = Callable[[list[str], str, Path], object]


def verify_profile(
    workspace: Workspace, stages: Stages, *, recompute: Compute | None = None, since: str | None = None
) -> Report:
    """Compare every file of the profile with its hash, then the results with their pins.

    The results are recomputed, or read from the artifacts. Results that need missing official files are
    skipped; official files that differ from `params.yaml` are differences.

    Args:
        workspace: the project and its profile.
        stages: every stage of the profile.
        recompute: computes everything again; the results are then compared with the artifacts too. By default
            only the artifacts are compared.
        since: a commit; later acceptances are reported, and later changes without an acceptance.

    Raises:
        ParameterError: the profile has not been reproduced here, or there is no such commit.
    """
    root, profile = workspace.root, workspace.settings.profile
    lacking = absent(workspace, SOURCES.values())
    stages = computable(stages, lacking)
    tables = workspace.storage.own_folder
    faults, pins = find_damage(root, profile, stages, storage=tables, results=not recompute)
    # Report an unknown commit before computing anything.
    accepted, then, unrecorded = changes_since(root, profile, pins, since) if since else ([], {}, [])
    official = doctored(workspace, SOURCES.values())
    faults += [Difference("real", "file", name, *hashes) for name, hashes in official.items()]
    there = [stage for stage in stages.values() if stage.pinned_by == "data.dvc" or not recompute]
    _require(workspace, there, {difference.what for difference in faults})
    # The results of the artifacts; and the results to judge, which are the same unless all is recomputed.
    here = now = measure(workspace, stages, known=pins)
    if recompute:
        try:
            now = _recomputed(workspace, stages, recompute)
        except SubstrateError as error:
            if not faults:
                raise
            # The damage is the likely reason, and is reported with it.
            faults.append(Difference("verify", "file", "the recomputation", "every stage", str(error)))
    unlike = differences(pins, now) + differences(here, now, here=True)
    if profile in DECIDING:
        unlike += changed_verdicts(root, verdicts(root, from_pins(root, profile, now)))
    named = {(fault.stage, fault.what) for fault in faults}
    return Report(
        profile=profile,
        recomputed=recompute is not None,
        differences=faults + [fault for fault in unlike if (fault.stage, fault.what) not in named],
        causes=causes(with_code(root, profile, pins, now), now),
        unaccepted=causes(pins, now, differ=False),
        accepted=accepted,
        accepted_moved=compare_results(then, pins),
        since=since or "",
        unrecorded=unrecorded,
        moved=compare_results(pins, now),
        absent=sorted({name for names in lacking.values() for name in names}),
        pinned=len(pins.keys() & now.keys()),
    )


def _recomputed(workspace: Workspace, stages: Stages, recompute: Compute) -> Results:
    """Compute the results again in a temporary folder, and measure them."""
    with temporary_folder() as folder:
        recompute([*in_dvc(stages)], workspace.settings.profile, folder)
        return measure(replace(workspace, scratch=folder), stages)


def verify_files(root: Path, profile: str | None, stages: Stages, error: SubstrateError) -> Report:
    """Compare the files of a profile, or of every pinned profile, with their hashes without the parameters.

    Raises:
        SubstrateError: the given error, if the file of parameters is not the cause.
    """
    names = sorted(path.parent.name for path in root.glob("artifacts/*/.ledger"))
    if str(root / PARAMETERS_FILE) not in error.where or (profile and profile not in names):
        raise error
    names = [profile] if profile else names
    faults = {PARAMETERS_FILE: Difference("pins", "file", PARAMETERS_FILE, "parameters", str(error))}
    for name in names:
        for fault in find_damage(root, name, stages, storage=root / "storage")[0]:
            faults.setdefault(fault.what, fault)
    return Report(", ".join(names), False, [*faults.values()])


def _require(workspace: Workspace, stages: Iterable[Stage], named: Collection[str]) -> None:
    """Reject a profile that was never reproduced; a file missing from a reproduced profile is damage."""
    paths = [workspace.path(out) for stage in stages for out in stage.outs]
    missing = [path for path in paths if not path.exists()]
    known = {workspace.root / what for what in named}
    for path in missing:
        if len(missing) == len(paths) or path not in known:
            hint = f"Run `substrate reproduce --profile {workspace.settings.profile}` first"
            raise ParameterError("is not there", where=(path,), hint=hint)
