"""A run of the graph for `substrate reproduce`: the stages, the pins, the tables, the remembered outcome."""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import dagster as dg
from msgspec.structs import replace

from orchestration.acceptance import pin_new
from orchestration.base.project_lock import project_lock
from orchestration.cli.console import reporting
from orchestration.cli.reproduction import Reproduction, Request
from orchestration.cli.tables import on_terminal, run_tables
from orchestration.dagster.instance import instance
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import run_stages
from orchestration.drift.as_pinned import apart_from_pins, modified
from orchestration.drift.moved_numbers import changes_here
from orchestration.experiments.experiment import open_experiment
from orchestration.ledger.manifest import read_manifest
from orchestration.ledger.stage_records import fingerprint, ledger_of, read_records
from orchestration.pins.pin_files import pinned_outs
from orchestration.project import may_pin, open_run
from orchestration.registry import SOURCES
from orchestration.rendering.conclusion import concluded
from orchestration.rendering.drift import change_lines
from orchestration.settings import REAL
from orchestration.stage import Stages, computable
from orchestration.stages.graph import STAGES, stages_in, stages_of
from orchestration.stages.nothing_to_do import record_outcome, source_digest
from orchestration.verification.record_faults import all_faults, require_sound
from orchestration.workspace.folders import Workspace
from orchestration.workspace.official_files import absent, ways_to
from substrate.cli.console import doing

_REPORT = "report/html"


class _Run(NamedTuple):
    """A run of some stages.

    Attributes:
        workspace: the workspace with the results.
        stages: all stages of the profile.
        names: the stages of the run.
        checks: for each stage that was not up to date, its failed checks that did not stop the run.
        made: for each stage, ``computed`` or ``reused``.
        held: the paths that had a pin before the run.
        drifted: by path, how the file differs from its pin.
    """

    workspace: Workspace
    stages: Stages
    names: list[str]
    checks: Mapping[str, Iterable[dg.AssetCheckEvaluation]]
    made: Mapping[str, str]
    held: Container[str]
    drifted: Mapping[str, str]


def run_graph(asked: Request) -> Reproduction:
    """Run the stages, compare their results with the pins, and remember the outcome for the next run."""
    workspace = open_run(asked.profile, asked.overrides, asked.name)
    lacking = absent(workspace, SOURCES.values())
    with project_lock(workspace.root):
        before = source_digest(workspace.root)
        run = _run_stages(asked, workspace, lacking)
    if workspace.experiment:
        run = run._replace(workspace=open_experiment(workspace.root, workspace.experiment.name))
    done = _described(asked, run, ways_to(workspace, chain.from_iterable(lacking.values())))
    # Code or parameters may have changed meanwhile.
    if not asked.overrides and source_digest(workspace.root) == before:
        _remember(done, run, asked.only)
    return replace(done, report=done.report and str(run.workspace.path(done.report)))


def _run_stages(asked: Request, workspace: Workspace, lacking: Collection[str]) -> _Run:
    """Run the stages that can be computed without the missing files, and pin results that have no pin."""
    profile, stages = workspace.settings.profile, stages_in(workspace)
    whole = computable(stages, lacking)
    # The report shows whatever results exist.
    names = [name for name in stages_of(asked.only, stages) if name in whole or name == _REPORT]
    if not asked.overrides:
        require_sound(all_faults(workspace.root, profile, STAGES))
    held = pinned_outs(workspace.root, profile)
    with reporting(names) as made:
        overrides, force = [*asked.overrides], asked.force
        resource = WorkspaceResource(profile=profile, overrides=overrides, experiment=asked.name, force=force)
        opened = partial(instance, workspace.root)
        checks = run_stages(names, resource, opened, f"reproduce_{asked.only or profile}")
    doing("comparing with the pins")
    drifted: dict[str, str] = {}
    if may_pin(workspace, asked.overrides):
        reused = [name for name in names if made.get(name) == "reused"]
        drifted = pin_new(workspace, stages, names, reused)
    elif not asked.overrides:
        drifted = modified(apart_from_pins(workspace))
    return _Run(workspace, stages, names, checks, made, held, drifted)


def _described(asked: Request, run: _Run, lacking: Sequence[str]) -> Reproduction:
    """Make the outcome of a run, with its tables, numbers and changes as text."""
    workspace, tables = run.workspace, list(run_tables(run.workspace, run.stages, run.names, asked.only))
    (counted, unpinned), profile = _count_pinned(run, run.held), workspace.settings.profile
    index = f"{run.stages[_REPORT].outs[0]}/index.html"
    return Reproduction(
        profile=profile,
        stages=run.names,
        ran=bool(run.checks),
        tables=[table.render("md") for table, _ in tables],
        printed=[on_terminal(*table) for table in tables],
        conclusion=concluded(workspace, asked.only),
        report=index.format(profile=profile) if _REPORT in run.names else None,
        checks=_check_lines(run, asked.only),
        compared=not asked.overrides,
        pinned=counted,
        unpinned=unpinned,
        drifted=dict(sorted(run.drifted.items())),
        moved=change_lines(changes_here(workspace, run.stages, run.names)) if run.drifted else (),
        lacking=lacking,
        real=os.environ.get(REAL, ""),
        experiment=workspace.experiment.name if workspace.experiment else None,
        computed=[name for name in run.names if run.made.get(name) == "computed"],
    )


def _check_lines(run: _Run, only: str | None) -> list[str]:
    """The failed checks of the stages that ran, by stage, and the other stages' from the last run."""
    _, last = read_manifest(ledger_of(run.workspace)).outcomes.get(only or "", ("", {"checks": []}))
    return [line for line in last["checks"] if line.partition(":")[0] not in run.checks] + [
        f"{name}: {check.check_name}: {check.description}"
        for name, checks in run.checks.items()
        for check in checks
        if check.check_name not in ("drift", "pinned")  # the comparison with the pins names what differs
    ]


def _remember(done: Reproduction, run: _Run, only: str | None) -> None:
    """Keep the outcome, unless a stage must run again; this run's new pins are pins for the next run."""
    kept, stages = read_records(run.workspace), run.stages
    made = ((fingerprint(stages, stages[name], run.workspace), kept.get(name)) for name in run.names)
    if all(fresh.repeats(known) for fresh, known in made):
        counted, unpinned = _count_pinned(run, pinned_outs(run.workspace.root, done.profile))
        outcome = replace(done, pinned=counted, unpinned=unpinned)
        record_outcome(run.workspace.root, done.profile, only, outcome)


def _count_pinned(run: _Run, held: Container[str]) -> tuple[int, list[str]]:
    """Count the stages of a run whose existing outs all have pins, and name the others.

    Args:
        held: the paths that have a pin.
    """
    stages = (run.stages[name] for name in run.names if run.stages[name].pinned_by != "nothing")
    outs = {stage.name: run.workspace.paths(stage.outs) for stage in stages}
    made = {name: [out for out, path in paths.items() if path.exists()] for name, paths in outs.items()}
    unpinned = [name for name, existing in made.items() if not all(out in held for out in existing)]
    return sum(map(bool, made.values())) - len(unpinned), unpinned
