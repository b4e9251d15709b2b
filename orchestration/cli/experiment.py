"""`substrate experiment`: list, show, compare and remove experiments."""

from __future__ import annotations

from typing import Annotated

import typer

from substrate.cli.console import JsonOption, apart, argument, give, note

experiment_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME")]


@experiment_app.command("list")
@apart
def list_(json: JsonOption = False) -> None:
    """Every experiment: its name, its profile, and what it changes."""
    from orchestration.experiments import experiment as records
    from orchestration.settings import find_root

    root = find_root()
    experiments = [records.read_experiment(root, name) for name in records.experiment_names(root)]
    lines = [
        f"{experiment.name}  (profile {experiment.parent.profile}; {', '.join(experiment.changes)})"
        for experiment in experiments
    ]
    give(experiments, lines, json=json)
    if not experiments:
        note("There is no experiment; `substrate reproduce --set KEY=VALUE` makes one.")


@experiment_app.command()
@apart
def show(name: Name, json: JsonOption = False) -> None:
    """Show an experiment: what it was made of, and its numbers with their intervals."""
    from orchestration.experiments.comparison import counts_of
    from orchestration.experiments.experiment import read_experiment
    from orchestration.rendering.drift import experiment_text
    from orchestration.settings import find_root

    root = find_root()
    experiment, numbers = read_experiment(root, name), counts_of(root, name)
    text = experiment_text(experiment, numbers)
    give({"experiment": experiment, "numbers": numbers}, text.split("\n")[:-1], json=json)


@experiment_app.command()
@apart
def diff(
    a: Annotated[
        str,
        argument(
            "An experiment, or `workspace`: what lies in artifacts/, as after `dvc exp run`.", metavar="A"
        ),
    ],
    b: Annotated[
        str | None, argument("The side to compare with A; by default the pinned results.", metavar="[B]")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare A with B: causes, the numbers that differ with intervals and McNemar's p, changed answers."""
    from orchestration.experiments.comparison import compare
    from orchestration.rendering.drift import compared_text
    from orchestration.settings import find_root

    compared = compare(find_root(), a, b)
    give(compared, compared_text(compared).split("\n")[:-1], json=json)


@experiment_app.command()
@apart
def remove(name: Name, json: JsonOption = False) -> None:
    """Remove an experiment, or what an interrupted run left of one."""
    from orchestration.base.project_lock import project_lock
    from orchestration.experiments.experiment import remove_experiment
    from orchestration.settings import find_root

    root = find_root()
    with project_lock(root):
        remove_experiment(root, name)
    give({"removed": name}, [], json=json)
    note(f"{name} is removed.")
