"""The one Dagster entry point: every stage an asset, every reproduction a job."""

from __future__ import annotations

import dagster as dg

from orchestration.pipeline.assets import MODULES
from orchestration.pipeline.checks import CHECKS
from orchestration.pipeline.jobs import new_official_data, nightly_drift, reproductions, settled_pins, verify
from orchestration.pipeline.resources import WorkspaceResource

ASSETS = dg.load_assets_from_modules(MODULES)
# One process, so that one Spark session serves the whole run.
EXECUTOR = dg.in_process_executor


def build_definitions(workspace: WorkspaceResource | None = None) -> dg.Definitions:
    """All assets, checks and jobs; tests give a workspace of their own."""
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        jobs=[*reproductions(), verify],
        sensors=[new_official_data, settled_pins],
        schedules=[nightly_drift],
        resources={"workspace": workspace or WorkspaceResource()},
        executor=EXECUTOR,
    )


defs = build_definitions()
