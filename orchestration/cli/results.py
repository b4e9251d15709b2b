"""The commands that make a profile's results, compare them with the pins, and accept new ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from orchestration.cli.console import NOTHING_SET, ProfileOption, SetOption, chosen, reporting, running
from substrate.cli.console import JsonOption, argument, doing, give, note, option, say, speaking_as, voiced

# Options with long help; the short ones stand in the signatures.
OnlyOption = Annotated[str | None, option("--only", "One benchmark instead of all.", metavar="BENCHMARK")]
ForceOption = Annotated[bool, option("--force", "Run stages although nothing they depend on has changed.")]
FailOption = Annotated[bool, option("--fail-on-drift", "Exit with 1 if a result differs from its pin.")]
_NAME = option("--name", "The experiment's name; by default made from the values of --set.", metavar="NAME")
_RECOMPUTE = option("--recompute/--no-recompute", "Compute everything again, or only compare files.")
_SINCE_HELP = "Also list what changed in the pins after COMMIT; a change that nobody accepted is drift."
_SINCE = option("--since", _SINCE_HELP, metavar="COMMIT")
_REPAIR = option("--repair", "First restore damaged files, by DVC or by computing them again.")
_UNSAFE = option("--unsafe", "Accept results without a record of a run; the pins note it for good.")


@speaking_as("reproduce")
def reproduce(
    profile: ProfileOption = None,
    only: OnlyOption = None,
    set_: SetOption = NOTHING_SET,
    name: Annotated[str, _NAME] = "",
    force: ForceOption = False,
    fail_on_drift: FailOption = False,
    tables: Annotated[bool, option("--tables", "Print the tables too.")] = False,
    json: JsonOption = False,
) -> None:
    """Compute a profile's results, and compare them with the pins.

    Only stale stages of the asset graph run. With --set the run is an experiment in experiments/NAME, and the
    profile's results stay unchanged.
    """
    from orchestration.cli.reproduce import Request, reproduced

    done = reproduced(Request(profile, only, tuple(set_), force, name))
    failed = typer.Exit(int(fail_on_drift and bool(done.drifted)))
    give(done, [], json=json, closing=done.line())
    if json:
        raise failed
    for table in done.printed if tables else ():
        say(f"\n{table}")
    drifted = [f"{path} is {how} against its pin" for path, how in done.drifted.items()]
    told = {"check:": done.checks, "": done.moved, "drift:": drifted, "to get:": done.lacking}
    for label, lines in told.items():
        for line in lines:
            say(line, label, error=True)
    say("\n".join(["", *done.conclusion, *([f"The report: {done.report}"] if done.report else [])]))
    if done.experiment:
        note(f"`substrate experiment diff {done.experiment}` compares it with the pinned results.")
    if done.drifted:
        note("`substrate verify` shows what changed; `substrate accept REASON` pins the new results.")
    note(done.line())
    raise failed


@speaking_as("materialize")
def materialize(
    stage: Annotated[str, argument("A stage's name, such as BENCHMARK/answers.")],
    profile: ProfileOption = None,
    force: Annotated[bool, option("--force", "Run it although nothing it depends on has changed.")] = False,
    json: JsonOption = False,
) -> None:
    """Run one stage on existing inputs."""
    with running():
        from orchestration.dagster import run
        from orchestration.dagster.instance import instance
        from orchestration.dvc.dvc_files import keep_code
        from orchestration.project import open_workspace
        from orchestration.stages.generated_data import is_of_other_parameters, require_data
        from orchestration.stages.graph import stages_in

        workspace = open_workspace(profile)
        stages, used = stages_in(workspace), workspace.settings.profile
        made = chosen(stages, stage, f"no stage {stage!r}", "STAGE")
        require_data(stages, stage, workspace)
        with reporting([stage]):
            resource = run.WorkspaceResource(profile=used, force=force)
            try:
                run.run_stages([stage], resource, partial(instance, workspace.root))
            except run.RunError as error:
                # The user changed the parameters, and asked for no stage that the check keeps from the data.
                if not is_of_other_parameters(made, workspace):
                    raise
                note(str(error))
        keep_code(workspace, stages)
    paths = [str(workspace.path(out)) for out in made.outs]
    line = f"{stage}: {', '.join(paths)}"
    give({"stage": stage, "profile": used, "outs": paths}, [], json=json, closing=line)
    if not json:
        note(line)


@speaking_as("verify", beside_documents=False)
def verify(
    profile: ProfileOption = None,
    recompute: Annotated[bool, _RECOMPUTE] = True,
    since: Annotated[str | None, _SINCE] = None,
    repair: Annotated[bool, _REPAIR] = False,
    json: JsonOption = False,
) -> None:
    """Compute the results again, and name what differs.

    Every file is compared with its hash, and every recomputed result with its pin, cell by cell and row by
    row; exit 1 on damage or drift.
    """
    mended: list[str] = []
    doing("loading the pipeline")
    with running():
        from orchestration.dagster import run
        from orchestration.dagster.instance import instance
        from orchestration.project import find_root, open_workspace
        from orchestration.rendering.drift import render_text, verdict
        from orchestration.stages.graph import STAGES, stages_in
        from orchestration.verification.damage import repair_profile
        from orchestration.verification.verify import verify_files, verify_profile
        from substrate.base.errors import ParameterError

        root = find_root()
        try:
            workspace = open_workspace(profile)
        except ParameterError as error:
            report = verify_files(root, profile, STAGES, error)
        else:
            stages = stages_in(workspace)
            if repair:
                resource = run.WorkspaceResource(profile=workspace.settings.profile, force=True)
                again = partial(run.run_stages, workspace=resource, where=partial(instance, root))
                mended += repair_profile(workspace, stages, again)

            def computing(names: list[str], profile: str, folder: Path) -> None:
                with reporting(names):
                    run.recompute(names, profile, folder)
                doing("comparing with the pins")

            doing("holding every file against its hash")
            recomputing = computing if recompute else None
            report = verify_profile(workspace, stages, recompute=recomputing, since=since)
    for line in mended:
        note(line)
    give(report, render_text(report).split("\n")[:-1], json=json, closing=verdict(report))
    raise typer.Exit(0 if report.fits else 1)


@voiced
def accept(
    reason: Annotated[str, argument("Why the new results are right; kept with them.", metavar="REASON")],
    profile: ProfileOption = None,
    unsafe: Annotated[bool, _UNSAFE] = False,
    dry_run: Annotated[bool, option("--dry-run", "Say what changed, and pin nothing.")] = False,
    json: JsonOption = False,
) -> None:
    """Pin changed results, and say why they are right.

    Prints the changed numbers and verdicts, pins the present data and artifacts as the results, and records
    the reason in pins/accepted.jsonl, which `verify --since` reads.
    """
    from orchestration.acceptance import accept_results, proposed
    from orchestration.base.project_lock import project_lock
    from orchestration.drift.claim_verdicts import changed_verdicts, pin_verdicts, verdicts_here
    from orchestration.pins.paths import DECIDING
    from orchestration.project import is_usual, open_workspace
    from orchestration.rendering.drift import change_lines
    from orchestration.stages.graph import stages_in

    workspace = open_workspace(profile)
    stages = stages_in(workspace)
    with project_lock(workspace.root):
        proposal = proposed(workspace, stages, reason, unsafe=unsafe)
        acceptance, verdicts = proposal.acceptance, verdicts_here(workspace)
        if not json:
            say("\n".join(change_lines(proposal.moved) or ["no number and no answer changed"]))
            changed = changed_verdicts(workspace.root, verdicts)
            say("\n".join(map(str, changed)) or "no verdict on a claim changed")
            if acceptance.unsafe:
                say(f"no record of a run computed {', '.join(acceptance.unsafe)}")
        if not dry_run:
            accept_results(workspace, stages, proposal, usual=is_usual(workspace))
            if workspace.settings.profile in DECIDING:
                pin_verdicts(workspace.root, verdicts)
    done = "would be pinned" if dry_run else "pinned"
    lines = [f"{done}; changed stages: {len(acceptance.stages)}", *acceptance.stages]
    give({"acceptance": acceptance, "moved": proposal.moved}, ["\n  ".join(lines)], json=json)
