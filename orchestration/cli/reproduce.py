"""`substrate reproduce`: run the graph if there is something to do, and report the results."""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from orchestration.base.templates import text_template
from orchestration.base.yaml_text import read_yaml
from orchestration.cli.console import reporting, running
from orchestration.ledger.manifest import read_manifest
from orchestration.ledger.outcomes import last_outcome, record_outcome, source_digest
from orchestration.settings import PARAMETERS_FILE, REAL, find_root
from substrate.base.words import counted
from substrate.baselines.parameters import MODEL_URL, SMOLLM2
from substrate.cli.console import doing

if TYPE_CHECKING:
    from orchestration.rendering.tables import Table
    from orchestration.stage import Stages
    from orchestration.workspace.folders import Workspace


class Reproduction(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a reproduction: the document of `--json`, from which the command prints its lines.

    The ledger keeps it too, so that a later run with nothing to do repeats it without loading the graph.

    Attributes:
        profile: the profile.
        stages: its stages, in order.
        ran: true if the graph was run; false if there was nothing to do.
        seconds: its duration.
        tables: in Markdown.
        printed: the same tables as `--tables` prints them.
        conclusion: a summary of the numbers, in a few lines.
        report: the report's path in the project, if everything was reproduced.
        checks: the messages of failed checks that stopped nothing.
        lacking: the missing official files, each with a way to get it.
        real: the folder of official files that the environment named.
        compared: whether its results are held against pins; under other parameters they are not.
        unpinned: the stages whose results had no pin to compare with.
        pinned: the number of stages whose results were compared with their pins.
        drifted: by path, how the file differs from its pin.
        moved: a description of the changed numbers and answers.
        experiment: the experiment's name, if the run was one.
        computed: the stages that were computed; the others were reused.
    """

    profile: str
    stages: Sequence[str]
    ran: bool = True
    seconds: float = 0.0
    tables: Sequence[str] = ()
    printed: Sequence[str] = ()
    conclusion: Sequence[str] = ()
    report: str | None = None
    checks: Sequence[str] = ()
    lacking: Sequence[str] = ()
    real: str = ""
    compared: bool = False
    unpinned: Sequence[str] = ()
    pinned: int = 0
    drifted: Mapping[str, str] = {}
    moved: Sequence[str] = ()
    experiment: str | None = None
    computed: Sequence[str] = ()

    def line(self) -> str:
        """Return the last line that the command prints."""
        return text_template(__file__, "reproduced.txt.j2", counted=counted).render(run=self).strip()


def reproduced(
    profile: str | None, only: str | None, overrides: Sequence[str], *, force: bool, name: str = ""
) -> Reproduction:
    """Run the stages of a profile, or report that there is nothing to do.

    If an override affects results, the run is an experiment, and the profile's results stay unchanged.

    Args:
        profile: by default the profile of `params.yaml`.
        only: one benchmark instead of all.
        overrides: ``KEY=VALUE`` on top of `params.yaml`; with any, the graph is always run.
        force: run stages even if nothing they depend on has changed.
        name: the experiment's name; by default made from the overrides.
    """
    start, root = time.monotonic(), find_root()
    if not overrides and not force and not name:
        named = profile or str(read_yaml(root / PARAMETERS_FILE).get("profile"))
        last = (kept := last_outcome(root, named, only)) and msgspec.convert(kept, Reproduction)
        if last and not last.lacking and last.real == os.environ.get(REAL, ""):
            took, report = time.monotonic() - start, last.report and str(root / last.report)
            return msgspec.structs.replace(last, ran=False, seconds=took, report=report, computed=())
    doing("loading the pipeline")
    with running(), ExitStack() as served:
        _serve_model(profile, only, overrides, served)
        return _run(profile, only, overrides, force, name, start)


def _serve_model(profile: str | None, only: str | None, overrides: Sequence[str], until: ExitStack) -> None:
    """Serve the model of a run of one baseline, if no server is named and the model is installed."""
    from orchestration.benchmarks.baselines import SECTION
    from orchestration.project import open_workspace
    from orchestration.registry import BENCHMARKS
    from substrate.baselines.serving import available, served

    benchmark = BENCHMARKS.get(only or "")
    if benchmark and benchmark.by_model and not os.environ.get(MODEL_URL) and available():
        settings = open_workspace(profile, overrides=tuple(overrides)).settings
        if getattr(SECTION.of(settings), benchmark.name).model == SMOLLM2:
            os.environ[MODEL_URL] = until.enter_context(served())
            until.callback(os.environ.pop, MODEL_URL)


def _run(
    profile: str | None, only: str | None, overrides: Sequence[str], force: bool, name: str, start: float
) -> Reproduction:
    """Run the stages, compare their results with the pins, and remember the outcome for the next run."""
    from orchestration.base.project_lock import project_lock
    from orchestration.cli.tables import on_terminal
    from orchestration.dagster.instance import instance
    from orchestration.dagster.resources import WorkspaceResource
    from orchestration.dagster.run import run_stages
    from orchestration.experiments.experiment import open_experiment
    from orchestration.ledger import acceptance, drift, pinned, soundness
    from orchestration.project import may_pin, open_run
    from orchestration.registry import SOURCES
    from orchestration.rendering.conclusion import concluded
    from orchestration.rendering.drift import change_lines
    from orchestration.stage import computable
    from orchestration.stages.graph import STAGES, stages_in, stages_of
    from orchestration.workspace.real import absent, ways_to

    workspace = open_run(profile, tuple(overrides), name)
    used, stages = workspace.settings.profile, stages_in(workspace)
    lacking = absent(workspace, SOURCES.values())
    whole = computable(stages, lacking)
    # The report shows whatever results exist.
    names = [name for name in stages_of(only, stages) if name in whole or name == "report/html"]
    with project_lock(workspace.root):
        before = source_digest(workspace.root)
        if not overrides:
            soundness.require_sound(soundness.all_faults(workspace.root, used, STAGES))
        held = pinned.pinned_outs(workspace.root, used)
        with reporting(names) as made:
            resource = WorkspaceResource(profile=used, overrides=[*overrides], experiment=name, force=force)
            opened = partial(instance, workspace.root)
            ran = run_stages(names, resource, opened, f"reproduce_{only or used}")
        doing("comparing with the pins")
        drifted: dict[str, str] = {}
        if may_pin(workspace, overrides):
            reused = [name for name in names if made.get(name) == "reused"]
            drifted = acceptance.pin_new(workspace, stages, names, reused)
        elif not overrides:
            drifted = pinned.modified(pinned.apart_from_pins(workspace))
    experiment = workspace.experiment.name if workspace.experiment else None
    if experiment:
        workspace = open_experiment(workspace.root, experiment)
    out = f"{stages['report/html'].outs[0].format(profile=used)}/index.html"
    tables = list(run_tables(workspace, stages, names, only))
    done = Reproduction(
        profile=used,
        stages=names,
        ran=bool(ran),
        tables=[table.render("md") for table, _ in tables],
        printed=[on_terminal(*table) for table in tables],
        conclusion=concluded(workspace, only),
        report=out if "report/html" in names else None,
        checks=_check_lines(workspace, only, ran),
        compared=not overrides,
        **_against(held, workspace, stages, names),
        drifted=dict(sorted(drifted.items())),
        moved=change_lines(drift.changes_here(workspace, stages, names)) if drifted else (),
        lacking=ways_to(workspace, chain.from_iterable(lacking.values())),
        real=os.environ.get(REAL, ""),
        experiment=experiment,
        computed=[name for name in names if made.get(name) == "computed"],
    )
    # Code or parameters may have changed meanwhile.
    if not overrides and source_digest(workspace.root) == before:
        _remember(done, workspace, stages, only)
    report = done.report and str(workspace.path(done.report))
    return msgspec.structs.replace(done, seconds=time.monotonic() - start, report=report)


def _check_lines(workspace: Workspace, only: str | None, ran: Mapping[str, Iterable[Any]]) -> list[str]:
    """The failed checks of the stages that ran, by stage, and the other stages' from the last run."""
    from orchestration.ledger.records import ledger_of

    _, last = read_manifest(ledger_of(workspace)).outcomes.get(only or "", ("", {"checks": []}))
    return [line for line in last["checks"] if line.partition(":")[0] not in ran] + [
        f"{name}: {check.check_name}: {check.description}"
        for name, checks in ran.items()
        for check in checks
        if check.check_name not in ("drift", "pinned")  # the comparison with the pins names what differs
    ]


def _remember(done: Reproduction, workspace: Workspace, stages: Stages, only: str | None) -> None:
    """Keep the outcome, unless a stage must run again; this run's new pins are pins for the next run."""
    from orchestration.ledger import pinned, records

    kept, profile = records.read_records(workspace), done.profile
    made = ((records.fingerprint(stages, stages[name], workspace), kept.get(name)) for name in done.stages)
    if all(fresh.repeats(known) for fresh, known in made):
        now = _against(pinned.pinned_outs(workspace.root, profile), workspace, stages, done.stages)
        record_outcome(workspace.root, profile, only, msgspec.structs.replace(done, **now))


def _against(
    held: Container[str], workspace: Workspace, stages: Stages, names: Iterable[str]
) -> dict[str, Any]:
    """Count the stages whose existing outs all have pins, and name the others."""
    outs = {name: workspace.paths(stages[name].outs) for name in names if stages[name].pinned_by != "nothing"}
    made = {name: [out for out, path in paths.items() if path.exists()] for name, paths in outs.items()}
    unpinned = [name for name, existing in made.items() if not all(out in held for out in existing)]
    return {"pinned": sum(map(bool, made.values())) - len(unpinned), "unpinned": unpinned}


def run_tables(
    workspace: Workspace, stages: Stages, names: Sequence[str], only: str | None
) -> Iterator[tuple[Table, str]]:
    """Yield the tables that a run made, each with the place of the whole table; of a table that benchmarks
    share, only the benchmark's own rows.
    """
    from orchestration.registry import BENCHMARKS
    from orchestration.rendering.layouts.results import by_number
    from orchestration.rendering.tables import read_table
    from orchestration.scoring.scores import read_scores

    benchmark = BENCHMARKS.get(only or "")
    place = f"/{only}/" if only and not benchmark else "/tables/"
    made = [out for name in names for out in stages[name].outs if place in out and out.endswith(".md")]
    for path in map(workspace.path, made):
        yield read_table(path.with_suffix(".json")), str(path.relative_to(workspace.root))
    if benchmark and not made:
        scores = read_scores(workspace.artifacts, benchmark.numbers)
        table = by_number(benchmark.table[0], [benchmark], scores, workspace)
        own = replace(table, caption=table.caption.removeprefix("Transfer: "))
        yield own, f"`substrate trace --list {only}`"
