"""Asset checks: what must hold of an asset before anything is computed from it."""

from __future__ import annotations

import dagster as dg

from orchestration.assets.datasets import babi_dataset, clevrer_dataset, comphy_dataset, gqa_dataset
from orchestration.drift import explain_data
from orchestration.pins import drift
from orchestration.resources import WorkspaceResource


def _pinned(dataset: dg.AssetsDefinition) -> dg.AssetChecksDefinition:
    """A check that a dataset's folder is what data.dvc pins; passes for data that are not pinned: another profile, or other parameters."""

    @dg.asset_check(asset=dataset, name="pinned", blocking=True, description="The input data are those that data.dvc pins.")
    def check(workspace: WorkspaceResource) -> dg.AssetCheckResult:
        opened = workspace.open()
        folder = (opened.data / dataset.key.path[0]).relative_to(opened.root).as_posix()
        how = "" if workspace.overrides else drift(opened.root).get(folder, "")
        why = explain_data(opened, "/".join(dataset.key.path)) if how else ""
        advice = f"{folder} is {how} against data.dvc{f' ({why})' if why else ''}: restore the data, or pin them with `substrate accept REASON`"
        return dg.AssetCheckResult(passed=not how, description=advice if how else f"{folder} is what data.dvc pins, or is not pinned")

    return check


CHECKS = [_pinned(dataset) for dataset in (clevrer_dataset, babi_dataset, comphy_dataset, gqa_dataset)]
