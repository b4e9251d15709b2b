"""Verification: compare every file of a profile with its hash, then the results with their pins, row by row;
and repair damaged files.

A file is compared with its hash before its content is read, so that no damage hides other damage. The
comparison needs no settings: the other files are checked even if `params.yaml` is damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from os.path import relpath
from pathlib import Path

import msgspec

from orchestration.ledger import dvc, pinned, soundness
from orchestration.ledger.acceptance import since as changes_since
from orchestration.ledger.accepted import Acceptance
from orchestration.ledger.differences import Cause, Difference, causes, differences, files_apart, with_code
from orchestration.ledger.digests import differing, with_details
from orchestration.ledger.drift import Changes, compare_results
from orchestration.ledger.manifest import MANIFEST, Files, Manifest, ledger_at, look_at
from orchestration.ledger.measurement import Results, measure
from orchestration.ledger.outcomes import DECIDING
from orchestration.ledger.verdicts import changed_verdicts, of_pins, verdicts
from orchestration.registry import SOURCES
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stage, Stages, computable
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import absent, doctored
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.files import temporary_folder

# The name of a damaged pin, in place of a stage's name.
_SEALED = "pins"
_MARRED = "as it was written", "damaged"


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
    stages, tables = computable(stages, lacking), workspace.storage.own_folder
    faults, pins = find_damage(root, profile, stages, storage=tables, results=not recompute)
    # Report an unknown commit before computing anything.
    accepted, then, unrecorded = changes_since(root, profile, pins, since) if since else ([], {}, [])
    official = doctored(workspace, SOURCES.values())
    faults += [Difference("real", "file", name, *hashes) for name, hashes in official.items()]
    there = [stage for stage in stages.values() if stage.pinned_by == "data.dvc" or not recompute]
    _require(workspace, there, {difference.what for difference in faults})
    here = now = measure(workspace, stages, known=pins)
    if recompute:
        with temporary_folder() as folder:
            results = [name for name, stage in stages.items() if stage.pinned_by == "dvc.yaml"]
            try:
                recompute(results, profile, folder)
                now = measure(replace(workspace, scratch=folder), stages)
            except SubstrateError as error:
                if not faults:
                    raise
                faults.append(Difference("verify", "file", "the recomputation", "every stage", str(error)))
    named = {(difference.stage, difference.what) for difference in faults}
    unlike = differences(pins, now) + differences(here, now, here=True)
    if profile in DECIDING:
        unlike += changed_verdicts(root, verdicts(root, of_pins(root, profile, now)))
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
    missing, known = [path for path in paths if not path.exists()], {workspace.root / what for what in named}
    for path in missing:
        if len(missing) == len(paths) or path not in known:
            hint = f"Run `substrate reproduce --profile {workspace.settings.profile}` first"
            raise ParameterError("is not there", where=(path,), hint=hint)


def find_damage(
    root: Path, profile: str, stages: Stages, *, storage: Path | None = None, results: bool = True
) -> tuple[list[Difference], Results]:
    """Compare every file of a profile with its hash; return the damage, and the undamaged pins.

    Args:
        root: the project.
        profile: the profile's name.
        stages: the stages to check.
        storage: the folder of the profile's tables, if it is on this machine.
        results: whether all results must exist; otherwise results that were never made are skipped.
    """
    file, (manifest, sound) = pinned.read_pin_file(root, profile), look_at(ledger_at(root, profile))
    bad, place = pinned.broken(root, profile), relpath(ledger_at(root, profile) / MANIFEST, root)
    known = pinned.read_pins(root, profile) if file else Results()
    names = [name for name in known if name in stages and pinned.rows_name(profile, name) not in bad]
    pins = {name: known[name] for name in names}
    # Without the pins, no file next to them is known to be damaged.
    sealed = [(_SEALED, Files(outs=bad, lines=file.lines))] if file and file.digest else []
    beside = [(_SEALED, Files(outs=manifest.beside))]
    for path, was in (manifest.tables if storage else {}).items():
        stage, table = "/".join(reversed(Path(path).parts[-4:-2])), (storage or root) / path
        beside.append((stage, Files(outs={relpath(table, root): was})))
    faults = [] if sound else [Difference("ledger", "file", place, *_MARRED)]
    faults += _apart(root, [*sealed, *pins.items()], () if results else ("artifacts/",))
    for error in soundness.all_faults(root, profile, stages):
        faults.append(Difference(_SEALED, "file", relpath(error.where[0], root), _MARRED[0], error.what))
    faults += [*_of_records(root, profile, manifest, pins, stages, place), *_apart(root, beside)]
    named: dict[str, Difference] = {}
    for fault in faults:
        named.setdefault(fault.what.partition(", line ")[0], fault)
    return [*named.values()], pins


def _apart(
    root: Path, held: Iterable[tuple[str, Files]], left_out: tuple[str, ...] = ()
) -> Iterator[Difference]:
    """Yield the files that differ from their recorded hash, each under its stage; skip missing files whose
    paths begin with ``left_out``.
    """
    for stage, made in held:
        unlike = differing(root, made.outs)
        unlike = {out: pair for out, pair in unlike.items() if pair[1] or not out.startswith(left_out)}
        if unlike:
            there = {out: is_ for out, (_, is_) in unlike.items() if is_}
            now = with_details(Files(outs=there), {out: root / out for out in there})
            was = Files(outs={out: made.outs[out] for out in unlike}, files=made.files, lines=made.lines)
            yield from files_apart(stage, was, now)


def _of_records(
    root: Path, profile: str, manifest: Manifest, pins: Results, stages: Stages, place: str
) -> Iterator[Difference]:
    """Yield the files that differ from the ledger, and the records that belong to another stage.

    A file with a pin is compared with the pin: DVC restores files, but not the records of runs. A stage that
    has left the profile takes its files along, so they may be missing.
    """
    for name, made in manifest.stages.items():
        declared = [out.format(profile=profile) for out in stages[name].outs] if name in stages else []
        if declared and not made.outs.keys() <= {*declared}:
            pair = ", ".join(sorted(declared)), "the record of another stage"
            yield Difference(name, "file", f"{place}, {name}", *pair)
        else:
            held = pins[name].outs if name in pins else {}
            outs = {out: held.get(out, was) for out, was in made.outs.items()}
            left_out = () if name in stages else tuple(made.outs)
            yield from _apart(root, [(name, msgspec.structs.replace(made, outs=outs))], left_out)


def repair(workspace: Workspace, stages: Stages, compute: Callable[[list[str]], object]) -> list[str]:
    """Restore the files that differ from their pins by a DVC checkout, then by running the remaining stages.

    A damaged pin is not repaired and restores nothing; the user restores it from git.

    Args:
        workspace: the project and its profile.
        stages: all stages.
        compute: runs stages, by name, even if their outs exist.

    Returns:
        The repairs, one line each.

    Raises:
        PinError: the file of pins is damaged.
    """
    root, profile = workspace.root, workspace.settings.profile
    stages = computable(stages, absent(workspace, SOURCES.values()))
    left = lost = pinned.apart_from_pins(workspace)
    if lost and not pinned.broken(root, profile).keys() & {*pinned.IN_DVC}:
        dvc.check_out(root, lost)
        left = pinned.apart_from_pins(workspace)
    damage, _ = find_damage(root, profile, stages, storage=workspace.storage.own_folder)
    named = {fault.stage for fault in damage}
    if again := [name for name in stages if name in named]:
        compute(again)
    restored = [f"{out}: its pinned bytes are back" for out in lost if out not in left]
    return [*restored, *(f"{name}: computed again" for name in again)]
