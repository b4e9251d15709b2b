"""The one Dagster entry point: every stage an asset, every reproduction a job."""

from __future__ import annotations

import dagster as dg

import orchestration.base.quiet  # noqa: F401
from orchestration.dagster import checks, form, jobs
from orchestration.dagster.assets import assets_of
from orchestration.dagster.keys import EVERY, OWN_ASSETS
from orchestration.dagster.unconfigured import FILES, IN_PROCESS
from orchestration.stages.graph import stages_in


def build_definitions() -> dg.Definitions:
    """Define all assets, checks and jobs; the launch form configures the workspace."""
    assets = {**EVERY, **OWN_ASSETS}
    return dg.Definitions(
        assets=assets_of(assets, stages_of_run=stages_in),
        asset_checks=[*checks.checks_of(assets)],
        jobs=[*jobs.reproductions(), jobs.verify],
        sensors=[jobs.stale_stages],
        schedules=[jobs.nightly_drift],
        resources={"workspace": form.form_resource(), "io_manager": FILES},
        executor=IN_PROCESS,
    )


defs = build_definitions()
