"""The one Dagster entry point: every stage an asset, every reproduction a job."""

from __future__ import annotations

import dagster as dg

import orchestration.base.quiet  # noqa: F401
from orchestration.pipeline.assets import assets_of
from orchestration.pipeline.checks import checks_of
from orchestration.pipeline.form import form_resource
from orchestration.pipeline.graph import EVERY, stages_in
from orchestration.pipeline.jobs import (
    nightly_drift,
    reproductions,
    stale_stages,
    verify,
)
from orchestration.pipeline.resources import ALONE, unconfigured

FILES = dg.FilesystemIOManager.configure_at_launch().get_resource_definition()


def build_definitions() -> dg.Definitions:
    """Define all assets, checks and jobs; the launch form configures the workspace."""
    return dg.Definitions(
        assets=assets_of(EVERY, of=stages_in),
        asset_checks=[*checks_of(EVERY)],
        jobs=[*reproductions(), verify],
        sensors=[stale_stages],
        schedules=[nightly_drift],
        resources={"workspace": form_resource(), "io_manager": unconfigured(FILES)},
        # One process, so that one Spark session serves the whole run.
        executor=ALONE,
    )


defs = build_definitions()
