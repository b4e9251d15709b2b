"""Asset checks: what must hold of an asset before anything is computed from it."""

from __future__ import annotations

import dagster as dg

from orchestration.assets.datasets import clevrer_dataset
from orchestration.pins import data_difference
from orchestration.resources import WorkspaceResource


@dg.asset_check(asset=clevrer_dataset, blocking=True, description="The input data are those that data.dvc pins.")
def pinned_data(workspace: WorkspaceResource) -> dg.AssetCheckResult:
    """Passes for data that are not pinned: another profile, or other parameters."""
    opened = workspace.open()
    folder = opened.data.relative_to(opened.root).as_posix()
    how = "" if workspace.overrides else data_difference(opened.root, folder)
    advice = f"{folder} is {how} against data.dvc: restore the data, or pin them with `substrate accept REASON`"
    return dg.AssetCheckResult(passed=not how, description=advice if how else f"{folder} is what data.dvc pins, or is not pinned")
