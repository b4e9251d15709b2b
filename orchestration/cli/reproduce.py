"""`substrate reproduce`: run the graph where something is to be done, and say what came out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from orchestration.base.yaml_text import read_yaml
from orchestration.cli.console import running, stage_bars
from orchestration.ledger.look import (
    File,
    Look,
    SeenStage,
    is_source,
    look,
    read_look,
    shared_paths,
    stands,
    write_look,
)
from orchestration.settings import PARAMETERS_FILE
from orchestration.workspace.root import find_root

if TYPE_CHECKING:
    from orchestration.workspace.folders import Workspace


class Reproduction(msgspec.Struct, frozen=True):
    """The outcome of a reproduction.

    Attributes:
        profile: the profile.
        stages: the stages that it takes, in order.
        ran: whether the graph was run; ``False`` where nothing was to be done.
        seconds: how long it took.
        tables: in Markdown, as they are printed.
        report: where the report lies, if the whole was reproduced.
        checks: what checks said that stopped nothing.
        drifted: by path, how it differs from its pin.
        experiment: its name, where the run was one.
        computed: the stages that were computed; the others were reused.
    """

    profile: str
    stages: list[str]
    ran: bool
    seconds: float
    tables: list[str]
    report: str | None
    checks: list[str]
    drifted: dict[str, str]
    experiment: str | None = None
    computed: Sequence[str] = ()

    def line(self) -> str:
        """The one line that ends it."""
        count, computed = len(self.stages), len(self.computed)
        rest = f"; {len(self.drifted)} outputs differ from their pins" if self.drifted else ""
        if not self.ran:
            return f"Nothing to do: all {count} stages of profile {self.profile} stand as they were{rest}."
        made = f"experiment {self.experiment} beside profile" if self.experiment else "profile"
        took = f"{computed} computed, {count - computed} reused, in {self.seconds:,.0f} s"
        return f"Done: {count} stages of {made} {self.profile}: {took}{rest}."


def reproduced(
    profile: str | None, only: str | None, overrides: Sequence[str], *, force: bool, name: str = ""
) -> Reproduction:
    """Run the stages of a profile, or find that nothing is to be done.

    With overrides that results depend on, the run is an experiment, and the profile's results stay.

    Args:
        profile: a profile; that of `params.yaml` unless given.
        only: one benchmark instead of all.
        overrides: ``KEY=VALUE`` on top of `params.yaml`; with any, the graph is always run.
        force: run stages although nothing they depend on has changed.
        name: what the experiment is called; made from the overrides unless given.
    """
    start, root = time.monotonic(), find_root()
    if not overrides and not force and not name:
        named = profile or str(read_yaml(root / PARAMETERS_FILE).get("profile"))
        if kept := stands(root, named, only):
            names = kept.wanted(only)
            said = [line for name in names for line in kept.stages[name].said]
            drifted = {path: how for name in names for path, how in kept.stages[name].drifted.items()}
            report = str(root / kept.report) if "report/html" in names else None
            took = time.monotonic() - start
            return Reproduction(named, names, False, took, kept.tables[only or ""], report, said, drifted)
    with running(), _model_for(profile, only, overrides):
        return _run(profile, only, overrides, force, name, start)


@contextmanager
def _model_for(profile: str | None, only: str | None, overrides: Sequence[str]) -> Iterator[None]:
    """The model that a run of one baseline asks is served where no server is named, if it is installed."""
    from orchestration.benchmarks.baselines import LanguageModel
    from orchestration.models.client import URL
    from orchestration.project import open_workspace
    from orchestration.registry import BENCHMARKS
    from substrate.baselines.parameters import SMOLLM2
    from substrate.baselines.serving import available, served

    if isinstance(BENCHMARKS.get(only or ""), LanguageModel) and not os.environ.get(URL) and available():
        settings = open_workspace(profile, overrides=tuple(overrides)).settings
        if getattr(settings.of("baselines"), only or "").model == SMOLLM2:
            with served() as url:
                os.environ[URL] = url
                try:
                    yield
                finally:
                    del os.environ[URL]
            return
    yield


def _run(
    profile: str | None, only: str | None, overrides: Sequence[str], force: bool, name: str, start: float
) -> Reproduction:
    from orchestration.experiments.making import begin
    from orchestration.experiments.record import open_experiment
    from orchestration.ledger.dvc import settle
    from orchestration.pipeline.graph import STAGES, stages_of
    from orchestration.pipeline.project_lock import project_lock
    from orchestration.pipeline.resources import WorkspaceResource
    from orchestration.pipeline.run import instance, run_stages
    from orchestration.project import open_run, open_workspace

    workspace = open_run(profile, tuple(overrides), name)
    used, names = workspace.settings.profile, stages_of(only)
    with project_lock(workspace.root):
        before = look(workspace.root, shared_paths(used))
        if workspace.experiment:
            begin(workspace, overrides)
        with stage_bars(names) as how:
            resource = WorkspaceResource(
                profile=used, overrides=list(overrides), experiment=name, force=force
            )
            failed = run_stages(names, resource, instance(workspace.root))
        pinned = not overrides and used == open_workspace().settings.profile
        drifted = (
            settle(workspace, STAGES, names, [name for name in names if how.get(name) == "reused"])
            if pinned
            else {}
        )
    experiment = workspace.experiment.name if workspace.experiment else None
    if experiment:
        workspace = open_experiment(workspace.root, experiment)
    checks = {
        name: tuple(
            f"{name}: {check.check_name}: {check.description}"
            for check in failed
            if check.asset_key.to_user_string() == name and check.check_name != "drift"
        )
        for name in names
    }
    if not overrides:
        _keep(workspace, names, checks, drifted, before)
    return Reproduction(
        used,
        names,
        True,
        time.monotonic() - start,
        tables_of(workspace, names, only),
        str(workspace.path(STAGES["report/html"].outs[0]) / "index.html") if "report/html" in names else None,
        [line for name in names for line in checks[name]],
        dict(sorted(drifted.items())),
        experiment,
        [name for name in names if how.get(name) == "computed"],
    )


def tables_of(workspace: Workspace, names: Sequence[str], only: str | None) -> list[str]:
    """The tables that a run made; a benchmark that shares its table with others shows its own rows."""
    from orchestration.pipeline.graph import STAGES
    from orchestration.registry import BENCHMARKS
    from orchestration.rendering.results import by_number
    from orchestration.scoring.scores import read_scores

    made = [out for name in names for out in STAGES[name].outs if "/tables/" in out and out.endswith(".md")]
    if made or only is None:
        return [workspace.path(out).read_text("utf-8") for out in made]
    benchmark = BENCHMARKS[only]
    scores = read_scores(workspace.artifacts / "scores", benchmark.numbers)
    return [by_number(benchmark.table[0], [benchmark], scores, workspace).render("md")]


def _keep(
    workspace: Workspace,
    ran: Sequence[str],
    checks: Mapping[str, tuple[str, ...]],
    drifted: Mapping[str, str],
    before: Mapping[str, File],
) -> None:
    """Keep what stands after a run: the stages that ran, and those that stood before it and still do."""
    from orchestration.ledger.records import fingerprint, read_records
    from orchestration.pipeline.graph import STAGES, stages_of
    from orchestration.registry import BENCHMARKS
    from orchestration.stage import inputs_of

    root, profile = workspace.root, workspace.settings.profile
    seen = time.time_ns()
    files = look(root, shared_paths(profile))
    own = {name: file.sha256 for name, file in files.items() if is_source(name)}
    if own != {name: file.sha256 for name, file in before.items() if is_source(name)}:
        return  # code or parameters changed while it ran: nobody can say with which it ran
    earlier = read_look(root, profile)
    if earlier and any(
        name not in earlier.files or earlier.files[name].sha256 != digest for name, digest in own.items()
    ):
        earlier = None
    stages: dict[str, SeenStage] = {}
    records = read_records(workspace)
    for name, stage in STAGES.items():
        known = earlier.stages.get(name) if earlier else None
        said = checks.get(name) if name in ran else known.said if known and known.stands else None
        if said is None or records.get(name) != fingerprint(STAGES, stage, workspace):
            stages[name] = SeenStage(stage.needs)
            continue
        outs = [out.format(profile=profile) for out in stage.outs]
        inputs = [out.format(profile=profile) for out in inputs_of(STAGES, stage)]
        outside = stage.outside(workspace).values() if stage.outside else ()
        paths = tuple(dict.fromkeys([*inputs, *outs, *map(str, outside)]))
        files |= look(root, [path for path in paths if path not in files])
        apart = {out: drifted[out] for out in outs if out in drifted}
        stages[name] = SeenStage(stage.needs, True, paths, said, apart)
    tables: dict[str, list[str]] = {}
    for only in (None, *BENCHMARKS):
        names = stages_of(only)
        if all(stages[name].stands for name in names):
            tables[only or ""] = tables_of(workspace, names, only)
    report = f"{STAGES['report/html'].outs[0].format(profile=profile)}/index.html"
    write_look(root, profile, Look(seen, files, stages, tables, report))
