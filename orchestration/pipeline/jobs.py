"""Jobs, schedules and sensors: reproductions, new official data, a nightly look for
drift.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec

from orchestration.fetch.sources import official_sources
from orchestration.ledger.verification import verify_profile
from orchestration.pipeline.assets import asset_key
from orchestration.pipeline.form import EMPTY, form_of_job
from orchestration.pipeline.graph import EVERY, OFFICIAL, STAGES, stages_in, stages_of
from orchestration.pipeline.resources import ALONE, WorkspaceResource
from orchestration.pipeline.run import recompute
from orchestration.project import find_root
from orchestration.registry import BENCHMARKS
from orchestration.rendering.drift import moved_lines, render_text, verdict

PROFILES = ("sample", "full", "paper")


@dg.static_partitioned_config(partition_keys=PROFILES)
def profile_config(profile: str) -> dict[str, object]:
    """Run configuration of a profile: the launch form, filled in."""
    return {"resources": {"workspace": {"config": {"profile": profile, **EMPTY}}}}


def reproductions() -> list[dg.UnresolvedAssetJobDefinition]:
    """A job for every profile, one that has the profiles as partitions, and one for every benchmark with all
    it needs; its profile is set in the launchpad.
    """
    jobs = [
        _reproducing(
            profile, stages, form_of_job(profile), f"The whole reproduction on the {profile} profile"
        )
        for profile, stages in [*((name, STAGES) for name in PROFILES), ("real", OFFICIAL)]
    ]
    about = "The whole reproduction, with profiles as partitions: a backfill runs several"
    jobs.append(_reproducing("profiles", STAGES, profile_config, about))
    for benchmark in sorted(BENCHMARKS):
        stages = stages_of(benchmark, EVERY)
        form = form_of_job("sample", {key for name in stages for key in EVERY[name].parameters})
        about = f"{benchmark} and all it needs, on the sample profile unless the launchpad names another"
        jobs.append(_reproducing(benchmark, stages, form, about))
    return jobs


def _reproducing(
    what: str, stages: Iterable[str], config: Any, about: str
) -> dg.UnresolvedAssetJobDefinition:
    selection = dg.AssetSelection.assets(*map(asset_key, stages))
    return dg.define_asset_job(f"reproduce_{what}", selection, config=config, description=about)


@dg.op(
    description="Recompute every stage and compare it with the pins; fails on drift, and says what drifted."
)
def compare_with_pins(workspace: WorkspaceResource) -> None:
    """Run `substrate verify` as a step."""
    opened = workspace.open()
    report = verify_profile(opened, stages_in(opened), recompute=recompute)
    log = dg.OpExecutionContext.get().log
    (log.error if report.differences else log.info)(render_text(report))
    moved = "\n".join(moved_lines(report.moved, markdown=True))
    if not report.fits:
        raise dg.Failure(
            verdict(report),
            metadata={
                "numbers and answers": dg.MetadataValue.md(moved),
                "differences": [str(difference) for difference in report.differences],
            },
            allow_retries=False,
        )


@dg.job(
    executor_def=ALONE,
    description="The drift check: what is there, and what it computes to again, against the pins",
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
    description="Runs a stage of the default profile where its code changed, or what it reads has other "
    "bytes; off until it is turned on.",
)


@dg.sensor(
    job_name="reproduce_paper",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description=(
        "Runs reproduce_paper for a benchmark whose official files have all arrived in downloads/, or have "
        "changed there; off until it is turned on."
    ),
)
def new_official_data(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
    """A run for each benchmark whose official files are whole and not those seen last; the cursor holds what
    was seen.
    """
    seen: dict[str, str] = msgspec.json.decode(context.cursor or "{}")
    now = official_files(find_root() / "downloads")
    fresh = {benchmark: state for benchmark, state in now.items() if seen.get(benchmark) != state}
    if not fresh:
        return dg.SkipReason(f"no new official data; whole are {', '.join(now) or 'none'}")
    requests = [
        dg.RunRequest(
            run_key=f"{benchmark}:{state}",
            asset_selection=[*map(asset_key, stages_of(benchmark))],
            tags={"benchmark": benchmark},
        )
        for benchmark, state in fresh.items()
    ]
    return dg.SensorResult(
        run_requests=requests, cursor=msgspec.json.encode(seen | fresh, order="sorted").decode()
    )


def official_files(downloads: Path) -> dict[str, str]:
    """The benchmarks whose official files are all there, each with a digest of their names, sizes and times.

    A file has its name only when it is whole and checked; parts of a download have others.

    >>> official_files(Path("nowhere"))
    {}
    """
    digests = {}
    for benchmark, source in sorted(official_sources().items()):
        paths = [downloads / benchmark / file.name for file in source.files if not file.extra]
        if paths and benchmark in BENCHMARKS and all(path.is_file() for path in paths):
            states = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
            digests[benchmark] = hashlib.sha256(repr(states).encode()).hexdigest()[:16]
    return digests
