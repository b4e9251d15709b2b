"""`substrate experiment`: which experiments there are, what they came to, and how they differ."""

from __future__ import annotations

from typing import Annotated

import typer

from substrate.cli.console import JsonOption, argument, failing, note, say
from substrate.cli.notices import others_apart
from substrate.cli.printing import print_json, print_text

experiment_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME")]


@experiment_app.command("list")
def list_(json: JsonOption = False) -> None:
    """Every experiment: its name, its profile, and what it changes."""
    with failing(), others_apart():
        from orchestration.experiments.record import list_experiments
        from orchestration.workspace.root import find_root

        experiments = list_experiments(find_root())
    if json:
        print_json(experiments)
        return
    for experiment in experiments:
        say(f"{experiment.name}  (profile {experiment.parent.profile}; {', '.join(experiment.changes)})")
    if not experiments:
        note("There is no experiment; `substrate reproduce --set KEY=VALUE` makes one.")


@experiment_app.command()
def show(name: Name, json: JsonOption = False) -> None:
    """Show an experiment: what it was made of, and its numbers with their intervals."""
    with failing(), others_apart():
        from orchestration.experiments.comparison import counts_of
        from orchestration.experiments.record import read_experiment
        from orchestration.rendering.comparison import experiment_text
        from orchestration.workspace.root import find_root

        root = find_root()
        experiment = read_experiment(root, name)
        numbers = counts_of(root, name)
    if json:
        print_json({"experiment": experiment, "numbers": numbers})
    else:
        print_text(experiment_text(experiment, numbers))


@experiment_app.command()
def diff(
    a: Annotated[
        str,
        argument(
            "An experiment, or `workspace`: what lies in artifacts/, as after `dvc exp run`.",
            metavar="A",
        ),
    ],
    b: Annotated[
        str | None,
        argument(
            "What it is compared with; the pinned results unless given.",
            metavar="[B]",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare A with B: causes, accuracies with Wilson's intervals, McNemar, changed answers."""
    with failing(), others_apart():
        from orchestration.experiments.comparison import compare
        from orchestration.rendering.comparison import compared_text
        from orchestration.workspace.root import find_root

        compared = compare(find_root(), a, b)
    if json:
        print_json(compared)
    else:
        print_text(compared_text(compared))


@experiment_app.command()
def remove(name: Name, json: JsonOption = False) -> None:
    """Remove an experiment, or what an interrupted run left of one."""
    with failing(), others_apart():
        from orchestration.experiments.record import remove_experiment
        from orchestration.pipeline.project_lock import project_lock
        from orchestration.workspace.root import find_root

        root = find_root()
        with project_lock(root):
            remove_experiment(root, name)
    if json:
        print_json({"removed": name})
    else:
        note(f"{name} is removed.")
