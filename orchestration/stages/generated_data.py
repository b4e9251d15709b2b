"""The parameters that the data of a profile were made with, compared with the present ones.

A run of all stages makes data anew if their parameters changed. A run of a single stage does not, so it asks
here.
"""

from __future__ import annotations

from orchestration.ledger.manifest import changed
from orchestration.ledger.stage_records import fingerprint, read_records
from orchestration.pins.pin_files import read_pins
from orchestration.settings import PARAMETERS_FILE, flattened
from orchestration.stage import Stage, Stages, needed
from orchestration.stages.decision import differs_from_pins
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError


def require_data(stages: Stages, name: str, workspace: Workspace) -> None:
    """Refuse to run a single stage on data that were made with other parameters.

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
    """Tell whether the last run made a stage's data with other parameters than their pin has."""
    made = read_records(workspace).get(stage.name)
    pin = read_pins(workspace.root, workspace.settings.profile).get(stage.name)
    if stage.pinned_by != "data.dvc" or made is None or pin is None:
        return False
    return made.parameters != pin.parameters and differs_from_pins(stage, workspace, made)
