"""The one Dagster entry point: every stage an asset, every reproduction a job."""

from __future__ import annotations

import dagster as dg

import orchestration.base.quiet  # noqa: F401
from orchestration.dagster import checks, form, jobs, resources
from orchestration.dagster.assets import assets_of
from orchestration.stages.graph import ELSEWHERE, EVERY, stages_in

FILES = dg.FilesystemIOManager.configure_at_launch().get_resource_definition()


def build_definitions() -> dg.Definitions:
    """Define all assets, checks and jobs; the launch form configures the workspace."""
    assets = {**EVERY, **ELSEWHERE}
    return dg.Definitions(
        assets=assets_of(assets, stages_of_run=stages_in),
        asset_checks=[*checks.checks_of(assets)],
        jobs=[*jobs.reproductions(), jobs.verify],
        sensors=[jobs.stale_stages],
        schedules=[jobs.nightly_drift],
        resources={"workspace": form.form_resource(), "io_manager": resources.unconfigured(FILES)},
        # One process, so that one Spark session serves the whole run.
        executor=resources.IN_PROCESS,
    )


defs = build_definitions()
