"""The comparison of a stage's outs with their pins: whether they differ, in what, and why."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import dagster as dg

from orchestration.dagster.keys import asset_key
from orchestration.dagster.resources import WorkspaceResource
from orchestration.drift.as_pinned import differences, unlike_pins
from orchestration.drift.causes import causes, with_code
from orchestration.drift.moved_numbers import compare_results
from orchestration.ledger.digests import digests
from orchestration.ledger.stage_results import measure
from orchestration.pins.pin_files import pinned_outs, read_pins
from orchestration.rendering.drift import change_lines, fenced
from orchestration.stage import Stage, Stages, needed
from orchestration.stages.decision import in_ci
from orchestration.verification.record_faults import pin_faults, require_sound
from orchestration.workspace.folders import Workspace
from substrate.base import words

ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN
# The most differences that a check's table shows; the check counts all of them.
_LISTED = 20


def is_input_data(stage: Stage) -> bool:
    """Tell whether a stage makes input data. A transcript is none: it grows in a run, as results do, and a
    stop would stop the measurement.
    """
    return stage.pinned_by == "data.dvc" and not stage.asks_server


def stops_run(stage: Stage) -> bool:
    """Tell whether a difference from the pins stops the run: in input data always, in results only in CI."""
    return is_input_data(stage) or in_ci()


def against_pins(stages: Stages, stage: Stage, resource: WorkspaceResource) -> dg.AssetCheckResult:
    """Compare a stage's outs with their pins; a stage without pins is not compared, and does not pass."""
    changed, why = _differing(stage, resource)
    if not changed:
        # A result that was compared with nothing is not as pinned; it stops no run either.
        return dg.AssetCheckResult(passed=changed is not None, severity=WARN, description=why)
    workspace = resource.open()
    details, metadata = _drift(workspace, stages, stage)
    remedy = ". `substrate verify` shows what changed, `substrate accept REASON` pins it"
    if is_input_data(stage):
        remedy = ": restore the data, or pin them with `substrate accept REASON`"
    sentence = f"{', '.join(changed)} is modified against its pin{details}{remedy}"
    metadata["files that differ"] = "\n".join(changed)
    metadata["report"] = dg.MetadataValue.asset(asset_key("report/html", workspace.settings.profile))
    severity = ERROR if stops_run(stage) else WARN
    return dg.AssetCheckResult(passed=False, severity=severity, description=sentence, metadata=metadata)


def _differing(stage: Stage, resource: WorkspaceResource) -> tuple[list[str] | None, str]:
    """Return the outs that differ from the pins, and a description; ``None`` if they were not compared, as in
    a run with other parameters.

    Raises:
        PinError: the pins are damaged or missing.
    """
    if os.environ.get("DVC_EXP_BASELINE_REV") and not is_input_data(stage):
        return None, "not compared with the pins: an experiment, which `dvc metrics diff` compares"
    if resource.overrides:
        return None, "not compared with the pins: the run has other parameters"
    workspace = resource.open()
    require_sound(pin_faults(workspace.root, workspace.settings.profile))
    pins = pinned_outs(workspace.root, workspace.settings.profile)
    outs = digests(workspace.paths(stage.outs))
    new = [out for out in outs if out not in pins]
    if len(new) == len(outs):
        return None, "not compared: nothing is pinned"
    besides = f"; {', '.join(new)} had no pin" if new else ""
    return unlike_pins(pins, outs), f"every out is as pinned{besides}"


def _drift(workspace: Workspace, stages: Stages, stage: Stage) -> tuple[str, dict[str, Any]]:
    """Describe a stage's differences from its pin and their causes, in words and as a check's metadata.

    All stages before it are compared too, since they may be the cause. A stage with only a hash in the pins
    shows no details.
    """
    pinned = read_pins(workspace.root, workspace.settings.profile)
    if stage.name not in pinned:
        return "", {"because": "not known"}
    now = measure(workspace, stages, [stages[name] for name in needed(stages, [stage.name])], known=pinned)
    apart = differences({stage.name: pinned[stage.name]}, now)
    changes = with_code(workspace.root, workspace.settings.profile, pinned, now)
    why = [str(cause) for cause in causes(changes, now)]
    counts = Counter("file" if difference.kind == "input" else difference.kind for difference in apart)
    metadata: dict[str, Any] = {f"{kind}s": number for kind, number in counts.items()}
    metadata["because"], details = "\n".join(why) or "not known", ""
    if apart:  # DVC's pins may differ where these do not
        first, more = apart[0], f", and {len(apart) - 1:,} more" if apart[1:] else ""
        numbers = " and ".join(words.counted(n, kind) for kind, n in counts.items())
        verb = "differ" if more else "differs"
        details = f". {numbers} {verb}: {first.what}: {first.old} -> {first.new}{more}"
        rows = [dg.TableRecord({"which": d.what, "was": d.old, "is": d.new}) for d in apart[:_LISTED]]
        metadata["differences"] = dg.MetadataValue.table(rows)
    if why:
        details += f"; because {'; '.join(why)}"
    lines = change_lines(compare_results(pinned, now))
    if lines:
        metadata["numbers and answers"] = dg.MetadataValue.md(fenced(lines))
    return details, metadata
