"""Pinning: after a run of new stages and changed inputs; of a changed result only if somebody accepts it.

Whether a run may pin at all, `may_pin` of `orchestration/project.py` says.

Each acceptance is a line of `pins/accepted.jsonl` with the reason and the versions of the changed stages; a
check finds changes of the pins that lack such a line.

The pins hold the numbers, and git holds the earlier pins, so no line repeats them. The form of a line is
:class:`~orchestration.ledger.accepted.Acceptance`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchestration.base.git import GitError, git_output
from orchestration.ledger import dvc, pinned, soundness
from orchestration.ledger.accepted import Acceptance, Step, read_accepted, require_added_only
from orchestration.ledger.drift import Changes, compare_results
from orchestration.ledger.manifest import Files, Made, changed, changing, put, read_manifest, version_of
from orchestration.ledger.measurement import Results, measure, short_digest
from orchestration.ledger.records import ledger_of, read_records
from orchestration.settings import PARAMETERS_FILE
from orchestration.stage import Stage, Stages
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError
from substrate.base.files import sha256

_SHORT = 12


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
    bad = pinned.broken(root, profile)
    dvc.keep_code(workspace, stages)
    if pinned.pin_name(profile) in bad:
        return {}
    drifted, manifest = pinned.apart_from_pins(workspace), read_manifest(ledger_of(workspace))
    data_drifted = any(path.startswith("data/") for path in drifted)
    new_in_dvc = dvc.without_entry(root, stages)
    chosen: list[Stage] = []
    for stage in (stages[name] for name in ran if name in manifest.stages):
        repeated = manifest.stages[stage.name].repeats(manifest.pinned.get(stage.name))
        stands = stage.name in reused and repeated and stage.name not in new_in_dvc
        by_data = stage.pinned_by == "data.dvc"
        withheld = data_drifted if by_data else workspace.paths(stage.outs).keys() & drifted
        if not (stands or withheld or stage.pinned_by == "nothing"):
            chosen.append(stage)
    if chosen:
        dvc.record(root, chosen, data=not data_drifted)
        measured = measure(workspace, stages, chosen, pinned.read_pins(root, profile))
        pinned.write_pins(workspace, measured, unaccepted=bad)
    if not drifted:
        _keep_parameters(workspace)
    return pinned.modified(drifted)


def _keep_parameters(workspace: Workspace) -> None:
    with changing(ledger_of(workspace)) as manifest:
        manifest.beside[PARAMETERS_FILE] = sha256(workspace.root / PARAMETERS_FILE)


def _changes(old: Results, new: Results) -> dict[str, Step]:
    """Return, by stage, a short hash of each out that changed between two measurements, before and after.

    Stages and outs in only one of them are no change.
    """
    changes: dict[str, Step] = {}
    for stage in sorted(old.keys() & new.keys()):
        for out, (was, is_) in changed(old[stage].outs, new[stage].outs).items():
            if was and is_:
                changes.setdefault(stage, {})[out] = short_digest(was, _SHORT), short_digest(is_, _SHORT)
    return changes


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
    acceptance = Acceptance(today, workspace.settings.profile, reason, _changes(pins, now), list(forged))
    return Proposal(acceptance, compare_results(pins, now), now)


def _verified(workspace: Workspace, stages: Stages) -> tuple[Results, Results]:
    """Return the pins and the present measurement, after a check of each file that new pins would seal.

    An interrupted acceptance leaves files that differ from their seals: they are sound if they are what this
    acceptance writes. DVC's files are verified where they are written.

    Raises:
        PinError: a file is damaged.
    """
    root, profile = workspace.root, workspace.settings.profile
    bad, pins = pinned.broken(root, profile), pinned.read_pins(root, profile)
    # Details from damaged rows would come back into the new pins.
    sound = {stage: made for stage, made in pins.items() if pinned.rows_name(profile, stage) not in bad}
    now = measure(workspace, stages, known=sound)
    rows = dict.fromkeys(pins.keys() - stages.keys(), b"")
    rows |= {stage: pinned.rows_bytes(profile, made) for stage, made in now.items()}
    written = {root / pinned.rows_name(profile, stage): data for stage, data in rows.items()}
    for fault in (*soundness.faults(root, profile), *soundness.of_verdicts(root)):
        path = Path(fault.where[0])
        present = path.read_bytes() if path.is_file() else b""
        if path.name not in pinned.IN_DVC and written.get(path) != present:
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
        usual: whether the profile is that of `params.yaml`, whose files DVC holds.

    Raises:
        PinError: a file of the record is damaged; no pin was changed.
    """
    root, profile = workspace.root, workspace.settings.profile
    acceptance, measured = proposal.acceptance, dict(proposal.measured)
    lines, bad = require_added_only(root, profile), pinned.broken(root, profile)
    if usual:
        soundness.require_sound(soundness.of_graph(root, profile, stages))
        dvc.keep_code(workspace, stages)
        dvc.commit_verified(root, sorted({*pinned.IN_DVC} & bad.keys()))
        dvc.forget(root, stages)
    put(root / pinned.accepted_name(profile), lines + msgspec.json.encode(acceptance) + b"\n")
    for stage in acceptance.unsafe:
        measured[stage] = msgspec.structs.replace(measured[stage], unsafe=acceptance.reason, code={})
    gone = pinned.read_pins(root, profile).keys() - stages.keys()
    pinned.write_pins(workspace, measured, gone=gone, usual=usual)
    _keep_parameters(workspace)


def since(
    root: Path, profile: str, pins: Results, commit: str
) -> tuple[list[Acceptance], Results, list[str]]:
    """Return the acceptances since a commit, its pins, and the stages whose change nobody accepted.

    A stage's change is accepted if, for each of its outs, a chain of acceptances leads from the bytes at the
    commit to the present bytes.

    Raises:
        ParameterError: there is no such commit, or its pins have an unsupported earlier form.
    """
    folder, whole, record = f"pins/{profile}/", pinned.pin_name(profile), pinned.accepted_name(profile)
    try:
        listed = git_output(root, "ls-tree", "-r", "--name-only", commit, "--", folder, whole, record)
        files = {name: git_output(root, "show", f"{commit}:{name}") for name in listed.decode().splitlines()}
    except GitError as error:
        hint = "Name a commit that this clone has, and let git read the clone"
        raise ParameterError(error.what, where=("--since", *error.where), hint=hint) from error
    if whole not in files and any(name.startswith(folder) for name in files):
        hint = f"Name a commit that has {whole}; an older program can read that one"
        raise ParameterError(f"the pins of {commit} have an earlier form", where=("--since",), hint=hint)
    stages = msgspec.json.decode(files[whole], type=pinned.PinFile).stages if whole in files else {}
    before = pinned.with_rows(stages, files, profile)
    accepted = list(read_accepted(root, profile, files.get(record, b"").splitlines()))
    steps = {stage: [of.stages[stage] for of in accepted if stage in of.stages] for stage in pins}
    changes = _changes(before, pins).items()
    known = {stage: _are_accepted(outs, steps[stage], before[stage], pins[stage]) for stage, outs in changes}
    unaccepted = [stage for stage, is_known in known.items() if not is_known]
    return accepted, before, unaccepted


def _are_accepted(outs: Step, steps: Iterable[Step | tuple[str, str]], old: Files, new: Files) -> bool:
    """Tell whether steps lead to a stage's changed outs, or from its old version to its new version.

    An earlier program recorded only versions, and a version also changes if the stage gains or loses an out.
    """
    edges: dict[str, list[tuple[str, str]]] = {}
    for step in steps:
        for out, edge in (step if isinstance(step, dict) else {"": step}).items():
            edges.setdefault(out, []).append(edge)
    by_out = (_leads(edges.get(out, ()), *pair) for out, pair in outs.items())
    return all(by_out) or _leads(edges.get("", ()), *(version_of(side.outs)[:_SHORT] for side in (old, new)))


def _leads(edges: Iterable[tuple[Any, Any]], old: Any, new: Any) -> bool:
    """Tell whether steps, in any order, lead from one state to the other.

    >>> _leads([("b", "c"), ("a", "b")], "a", "c"), _leads([("b", "c")], "a", "c")
    (True, False)
    """
    steps, reached = list(edges), {old}
    while more := {after for before, after in steps if before in reached} - reached:
        reached |= more
    return new in reached
