"""A decision for each stage: reuse its outs, or compute them again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

import msgspec

from orchestration.experiments.experiment import take
from orchestration.ledger.manifest import Made, changed
from orchestration.ledger.pinned import pinned_outs, read_pins, unlike_pins
from orchestration.ledger.records import fingerprint, keep_records, read_records
from orchestration.settings import PARAMETERS_FILE, flattened
from orchestration.stage import Stage, Stages, needed
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError


class Standing(NamedTuple):
    """The state of a stage before a run.

    Attributes:
        made: the record that its outs would have now.
        how: the way in which its outs are reused; empty if it must run.
        why: the reason, in words; empty if changes are the reason to run.
    """

    made: Made
    how: Literal["", "skipped", "taken"]
    why: str


def standing(
    stages: Stages,
    stage: Stage,
    workspace: Workspace,
    known: Made | None,
    *,
    theirs: Mapping[str, Made] | None = None,
    force: bool = False,
) -> Standing:
    """Compare a stage's code, parameters, inputs and outs with their record; an experiment may reuse outs.

    Args:
        known: the record of its last run.
        theirs: the records of the profile that an experiment takes from, where they were read already.
        force: it must run, whatever is there.
    """
    made, anew = fingerprint(stages, stage, workspace), stage.always or force
    if known and not anew and made.repeats(known):
        if not known.explained and differs(stage, workspace, made):
            why = "its outputs differ from their pins, and code, parameters and inputs do not"
            return Standing(made, "", why)
        unchanged = msgspec.structs.replace(made, explained=known.explained)
        return Standing(unchanged, "skipped", "code, parameters, inputs and outputs are unchanged")
    if workspace.experiment and not anew and (taken := take(stage, workspace, made, theirs)):
        why = f"from profile {workspace.settings.profile}: nothing that it depends on differs"
        return Standing(taken, "taken", why)
    return Standing(made, "", "")


def differs(stage: Stage, workspace: Workspace, made: Made) -> bool:
    """Tell whether a stage's outs differ from their pins; raises a PinError if the pins are damaged."""
    if workspace.experiment or stage.pinned_by == "nothing":
        return False
    return bool(unlike_pins(pinned_outs(workspace.root, workspace.settings.profile), made.outs))


def to_run(stages: Stages, names: Iterable[str], workspace: Workspace) -> list[str]:
    """The stages, of some that are in order, that a run must compute or check: changed stages and the stages
    that read them. An experiment takes the outs of its profile here.
    """
    from substrate.cli.console import note  # it imports the library of commands

    chosen, taken = dict[str, None](), dict[str, Made]()
    records = read_records(workspace)
    theirs = read_records(replace(workspace, experiment=None)) if workspace.experiment else None
    for name in names:
        stage = stages[name]
        if chosen.keys() & set(stage.needs):
            chosen[name] = None
            continue
        state = standing(stages, stage, workspace, records.get(name), theirs=theirs)
        if state.why and not state.how:
            note(f"{name}: {state.why}: it is computed again")
        # A check stops the run if data, or in CI any result, differ from their pins.
        stopping = stage.pinned_by == "data.dvc" or os.environ.get("CI")
        if not state.how or (stopping and differs(stage, workspace, state.made)):
            chosen[name] = None
        elif state.how == "taken":
            taken[name] = state.made
    if taken:
        keep_records(workspace, taken)
    return list(chosen)


def require_data(stages: Stages, name: str, workspace: Workspace) -> None:
    """Refuse to run a single stage on generated data that were made with other parameters.

    The parameters of the data are known from the last run, or from the pins for data that DVC restored.

    Raises:
        ParameterError: the parameters differ; the error names them and the command that makes the data.
    """
    root, profile = workspace.root, workspace.settings.profile
    sources = [stages[need] for need in needed(stages, [name]) if stages[need].pinned_by == "data.dvc"]
    records = (read_records(workspace), read_pins(root, profile) if sources else {})
    for source in (source for source in sources if source.name != name):
        now = fingerprint(stages, source, workspace)
        made = (of[source.name] for of in records if source.name in of)
        known = next((record for record in made if now.outs and record.outs == now.outs), now)
        apart = changed(flattened(known.parameters), flattened(now.parameters))
        if changes := "; ".join(f"{key} was {was}, and is {is_}" for key, (was, is_) in apart.items()):
            what = f"was made with other parameters than {PARAMETERS_FILE} has: {changes}"
            hint = f"Make it first: `substrate materialize --profile {profile} {source.name}`"
            raise ParameterError(what, where=tuple(workspace.paths(source.outs)), hint=hint)


def is_of_other_parameters(stage: Stage, workspace: Workspace) -> bool:
    """Tell whether the last run made a stage's data with other parameters than those of its pin."""
    made = read_records(workspace).get(stage.name)
    pin = read_pins(workspace.root, workspace.settings.profile).get(stage.name)
    if stage.pinned_by != "data.dvc" or made is None or pin is None:
        return False
    return made.parameters != pin.parameters and differs(stage, workspace, made)
