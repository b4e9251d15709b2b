"""The decision which results become pins: after a run, and for a reason that somebody gives.

After a run :func:`pin_new` pins new stages and changed inputs, but never a changed result; `may_pin` of
`orchestration/project.py` says whether a run may pin at all. A changed result is pinned if somebody accepts
it: :func:`proposed` measures all that an acceptance changes, and :func:`accept_results` pins it. Each
acceptance is a line of `pins/accepted.jsonl`, with the reason and the versions of the changed stages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchestration.drift.as_pinned import apart_from_pins, modified
from orchestration.drift.moved_numbers import Changes, compare_results
from orchestration.dvc import dvc_files
from orchestration.ledger.manifest import Made, put, read_manifest
from orchestration.ledger.stage_records import keep_parameters, ledger_of, read_records
from orchestration.ledger.stage_results import Results, measure
from orchestration.pins.acceptances import Acceptance, changed_outs, require_added_only
from orchestration.pins.paths import IN_DVC, accepted_name, pin_name, rows_name
from orchestration.pins.pin_files import broken_seals, read_pins, rows_bytes, write_pins
from orchestration.stage import Stage, Stages
from orchestration.verification import record_faults
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError


def pin_new(
    workspace: Workspace, stages: Stages, ran: Iterable[str], reused: Collection[str] = ()
) -> dict[str, str]:
    """After a run, pin new stages and changed inputs, but never a changed result; record them in DVC.

    Args:
        workspace: the project, in its default profile.
        stages: every stage there is.
        ran: the names of the run's stages, also of those that it skipped.
        reused: those of them that were not computed; what DVC and the pins already have of them stays.

    Returns:
        The paths whose bytes differ from their pins; the pins stay until the new bytes are accepted.
    """
    root, profile = workspace.root, workspace.settings.profile
    bad = broken_seals(root, profile)
    dvc_files.keep_code(workspace, stages)
    if pin_name(profile) in bad:
        return {}
    drifted = apart_from_pins(workspace)
    if chosen := _stages_to_pin(workspace, {name: stages[name] for name in ran}, reused, drifted):
        dvc_files.record(root, chosen, data=not _has_data(drifted))
        measured = measure(workspace, stages, chosen, read_pins(root, profile))
        write_pins(workspace, measured, unaccepted=bad)
    if not drifted:
        keep_parameters(workspace)
    return modified(drifted)


def _stages_to_pin(
    workspace: Workspace, ran: Stages, reused: Collection[str], drifted: Collection[str]
) -> list[Stage]:
    """Return the stages of a run that left a record, have not drifted, and are not pinned as they are."""
    manifest, new_in_dvc = (read_manifest(ledger_of(workspace)), dvc_files.without_entry(workspace.root, ran))
    chosen: list[Stage] = []
    for stage in ran.values():
        if stage.pinned_by == "nothing" or (record := manifest.stages.get(stage.name)) is None:
            continue
        known = stage.name in reused and stage.name not in new_in_dvc
        if known and record.repeats(manifest.pinned.get(stage.name)):
            continue
        # All data share one entry of DVC: if some have drifted, none are pinned.
        by_data = stage.pinned_by == "data.dvc"
        if not (_has_data(drifted) if by_data else workspace.paths(stage.outs).keys() & drifted):
            chosen.append(stage)
    return chosen


def _has_data(paths: Iterable[str]) -> bool:
    return any(path.startswith("data/") for path in paths)


class Proposal(NamedTuple):
    """An acceptance, the numbers and answers that it changes, and the results that it pins."""

    acceptance: Acceptance
    moved: Changes
    measured: Results


def proposed(workspace: Workspace, stages: Stages, reason: str, *, unsafe: bool = False) -> Proposal:
    """Measure the present results, and propose to accept them.

    Args:
        workspace: the project and its profile.
        stages: all stages.
        reason: why the new results are right.
        unsafe: also accept outs without a record of a run; the pins note it.

    Raises:
        ParameterError: there is no reason, or no record of a run computed the present outs.
        PinError: a file of the record is damaged.
    """
    if not reason.strip():
        raise ParameterError("no reason given", where=("REASON",), hint="Say why the new results are right")
    pins, now = _verified(workspace, stages)
    forged = _not_computed(read_records(workspace), pins, now)
    if forged and not unsafe:
        named = ", ".join(workspace.root.joinpath(out).as_posix() for out in next(iter(forged.values())))
        more = f", and outs of {len(forged) - 1} more stages" if len(forged) > 1 else ""
        hint = "Compute it: `substrate reproduce`; or take it over with --unsafe, which the pins say for good"
        raise ParameterError(f"no record of a run computed this{more}", where=(named,), hint=hint)
    today = datetime.now(UTC).date().isoformat()
    acceptance = Acceptance(today, workspace.settings.profile, reason, changed_outs(pins, now), list(forged))
    return Proposal(acceptance, compare_results(pins, now), now)


def _verified(workspace: Workspace, stages: Stages) -> tuple[Results, Results]:
    """Return the pins and the present measurement, after a check of each file that new pins would seal.

    An interrupted acceptance leaves files that differ from their seals: they are sound if they are what this
    acceptance writes. DVC's files are verified where they are written.

    Raises:
        PinError: a file is damaged.
    """
    root, profile = workspace.root, workspace.settings.profile
    bad, pins = broken_seals(root, profile), read_pins(root, profile)
    # Details from damaged rows would come back into the new pins.
    sound = {stage: made for stage, made in pins.items() if rows_name(profile, stage) not in bad}
    now = measure(workspace, stages, known=sound)
    rows = dict.fromkeys(pins.keys() - stages.keys(), b"")
    rows |= {stage: rows_bytes(profile, made) for stage, made in now.items()}
    written = {root / rows_name(profile, stage): data for stage, data in rows.items()}
    for fault in (*record_faults.profile_faults(root, profile), *record_faults.verdict_faults(root)):
        path = Path(fault.where[0])
        present = path.read_bytes() if path.is_file() else b""
        if path.name not in IN_DVC and written.get(path) != present:
            raise fault
    return pins, now


def _not_computed(records: Mapping[str, Made], pins: Results, now: Results) -> dict[str, list[str]]:
    """Return, by stage, the outs that differ from their pins and that no run computed from present inputs."""
    made = {out: digest for record in records.values() for out, digest in record.outs.items()}
    foreign: dict[str, list[str]] = {}
    for stage, measured in now.items():
        record, known = records.get(stage, Made()), pins.get(stage, Made()).outs
        follows = all(made.get(path, digest) == digest for path, digest in record.inputs.items())
        computed = record.outs if follows else {}
        if forged := [
            out for out, is_ in measured.outs.items() if is_ not in (known.get(out), computed.get(out))
        ]:
            foreign[stage] = forged
    return foreign


def accept_results(workspace: Workspace, stages: Stages, proposal: Proposal, *, usual: bool = True) -> None:
    """Pin the proposed results, and append the acceptance to ``pins/accepted.jsonl``.

    The pins of stages that are not in the graph are dropped.

    Args:
        usual: whether the profile is the default profile of `params.yaml`, whose files DVC holds.

    Raises:
        PinError: a file of the record is damaged; no pin was changed.
    """
    root, profile = workspace.root, workspace.settings.profile
    acceptance, measured = proposal.acceptance, dict(proposal.measured)
    lines, bad = require_added_only(root, profile), broken_seals(root, profile)
    if usual:
        record_faults.require_sound(record_faults.dvc_yaml_faults(root, profile, stages))
        dvc_files.keep_code(workspace, stages)
        dvc_files.commit_verified(root, sorted({*IN_DVC} & bad.keys()))
        dvc_files.forget(root, stages)
    put(root / accepted_name(profile), lines + msgspec.json.encode(acceptance) + b"\n")
    for stage in acceptance.unsafe:
        measured[stage] = msgspec.structs.replace(measured[stage], unsafe=acceptance.reason, code={})
    gone = read_pins(root, profile).keys() - stages.keys()
    write_pins(workspace, measured, gone=gone, usual=usual)
    keep_parameters(workspace)
