"""The decision on each stage of a run: to reuse its outs, or to compute them again.

A command asks :func:`stages_to_run` before it starts Dagster, and leaves out the stages that are reused. A
run of the UI begins with all stages, so :mod:`.making` asks :func:`decide` for each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

import msgspec

from orchestration.drift.as_pinned import unlike_pins
from orchestration.experiments.experiment import take
from orchestration.ledger.manifest import Made
from orchestration.ledger.stage_records import fingerprint, keep_records, read_records
from orchestration.pins.pin_files import pinned_outs
from orchestration.stage import Stage, Stages
from orchestration.workspace.folders import Workspace


class Decision(NamedTuple):
    """The decision on a stage.

    Attributes:
        verdict: ``skipped`` if its outs are reused as they are, ``taken`` if an experiment has taken those of
            its profile.
        made: the record that the stage would leave now, with the hashes of the outs that are there: as they
            are reused, or as they were before they are computed again.
        why: the reason, in words; empty if it must run because something that it depends on changed.
    """

    verdict: Literal["run", "skipped", "taken"]
    made: Made
    why: str = ""


def decide(
    stages: Stages,
    stage: Stage,
    workspace: Workspace,
    known: Made | None,
    *,
    theirs: Mapping[str, Made] | None = None,
    force: bool = False,
) -> Decision:
    """Compare a stage's code, parameters, inputs and outs with their record.

    An experiment takes the outs of its profile here: only their copy shows that they are still as recorded.

    Args:
        known: the record of its last run. It is ``explained`` if its outs may differ from their pins (see
            :class:`.Made`): then they are no reason to compute it again.
        theirs: the records of the profile that an experiment takes from, where they were read already.
        force: it must run, whatever is there.
    """
    made, anew = fingerprint(stages, stage, workspace), stage.always or force
    if known and not anew and made.repeats(known):
        if not known.explained and differs_from_pins(stage, workspace, made):
            why = "its outputs differ from their pins, and code, parameters and inputs do not"
            return Decision("run", made, why)
        unchanged = msgspec.structs.replace(made, explained=known.explained)
        return Decision("skipped", unchanged, "code, parameters, inputs and outputs are unchanged")
    if workspace.experiment and not anew and (taken := take(stage, workspace, made, theirs)):
        why = f"from profile {workspace.settings.profile}: nothing that it depends on differs"
        return Decision("taken", taken, why)
    return Decision("run", made)


def differs_from_pins(stage: Stage, workspace: Workspace, made: Made) -> bool:
    """Tell whether a stage's outs differ from their pins; raises a PinError if the pins are damaged."""
    if workspace.experiment or stage.pinned_by == "nothing":
        return False
    return bool(unlike_pins(pinned_outs(workspace.root, workspace.settings.profile), made.outs))


def in_ci() -> bool:
    """Tell whether CI runs this: then any result that differs from its pin stops the run."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def stages_to_run(stages: Stages, names: Iterable[str], workspace: Workspace) -> list[str]:
    """The stages that a run must compute or check, among some in order: changed stages, and all that read
    them.

    The records of the outs that an experiment took are kept.
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
        decision = decide(stages, stage, workspace, records.get(name), theirs=theirs)
        if decision.verdict == "run" and decision.why:
            note(f"{name}: {decision.why}: it is computed again")
        # A check stops the run if data, or in CI any result, differ from their pins.
        checked = stage.pinned_by == "data.dvc" or in_ci()
        if decision.verdict == "run" or (checked and differs_from_pins(stage, workspace, decision.made)):
            chosen[name] = None
        elif decision.verdict == "taken":
            taken[name] = decision.made
    if taken:
        keep_records(workspace, taken)
    return list(chosen)
