"""The one Dagster entry point: every stage an asset, every reproduction a job."""

from __future__ import annotations

import dagster as dg

from orchestration.assets import MODULES
from orchestration.checks import CHECKS
from orchestration.resources import WorkspaceResource

PROFILES = ("sample", "full", "paper")
ASSETS = dg.load_assets_from_modules(MODULES)
# One process, so that one Spark session serves the whole run.
EXECUTOR = dg.in_process_executor


def profile_config(profile: str) -> dict[str, object]:
    """Run configuration of a profile."""
    return {"resources": {"workspace": {"config": {"profile": profile}}}}


def build_definitions(workspace: WorkspaceResource | None = None) -> dg.Definitions:
    """All assets and jobs; tests give a workspace of their own."""
    # Not selection="*": DVC's Hydra pins an antlr4 that Dagster's parser of selection strings cannot read.
    everything = dg.AssetSelection.all()
    jobs = [
        dg.define_asset_job(f"reproduce_{profile}", selection=everything, config=profile_config(profile), description=f"The whole reproduction on the {profile} profile")
        for profile in PROFILES
    ]
    return dg.Definitions(assets=ASSETS, asset_checks=CHECKS, jobs=jobs, resources={"workspace": workspace or WorkspaceResource()}, executor=EXECUTOR)


defs = build_definitions()
