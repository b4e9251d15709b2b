"""Jobs and their automation: reproductions, stale stages, and a nightly check for drift."""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg

from orchestration.dagster.form import form_of_job
from orchestration.dagster.keys import asset_key
from orchestration.dagster.resources import VERIFY, WorkspaceResource
from orchestration.dagster.run import recompute
from orchestration.dagster.unconfigured import IN_PROCESS
from orchestration.registry import BENCHMARKS
from orchestration.rendering.drift import change_lines, fenced, render_text, verdict
from orchestration.stages.graph import GRAPHS, stages_in, stages_of
from orchestration.verification.verify import verify_profile


def reproductions() -> list[dg.UnresolvedAssetJobDefinition]:
    """Make one job per profile, and one per benchmark with all it needs; the launchpad sets its profile."""
    jobs = [
        _job(profile, stages, profile, f"The whole reproduction on the {profile} profile")
        for profile, stages in GRAPHS.items()
    ]
    for benchmark in sorted(BENCHMARKS):
        home, graph = next(known for known in GRAPHS.items() if f"{benchmark}/scores" in known[1])
        about = f"{benchmark} and all it needs, on the profile {home} unless the launchpad names another"
        jobs.append(_job(benchmark, stages_of(benchmark, graph), home, about))
    return jobs


def _job(what: str, stages: Iterable[str], profile: str, about: str) -> dg.UnresolvedAssetJobDefinition:
    selection = dg.AssetSelection.assets(*(asset_key(stage, profile) for stage in stages))
    return dg.define_asset_job(f"reproduce_{what}", selection, config=form_of_job(profile), description=about)


@dg.op(
    description="Recompute every stage and compare it with the pins; fails on drift, and says what drifted."
)
def compare_with_pins(workspace: WorkspaceResource) -> None:
    """Run `substrate verify` as a step."""
    opened = workspace.open()
    report = verify_profile(opened, stages_in(opened), recompute=recompute)
    log = dg.OpExecutionContext.get().log
    (log.error if report.differences else log.info)(render_text(report))
    if not report.fits:
        moved = dg.MetadataValue.md(fenced(change_lines(report.moved)))
        metadata = {"numbers and answers": moved, "differences": [*map(str, report.differences)]}
        raise dg.Failure(verdict(report), metadata=metadata, allow_retries=False)


@dg.job(
    name=VERIFY,
    executor_def=IN_PROCESS,
    description="The drift check: the present results and a recomputation, compared with the pins",
)
def verify() -> None:
    """Recompute everything and compare it with the pins."""
    compare_with_pins()


nightly_drift = dg.ScheduleDefinition(
    name="nightly_drift",
    job=verify,
    cron_schedule="0 3 * * *",
    description="Look for drift every night at three; off until it is turned on.",
)


stale_stages = dg.AutomationConditionSensorDefinition(
    "stale_stages",
    target=dg.AssetSelection.all(),
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Runs the stages of the default profile whose code or inputs changed; off by default.",
)
