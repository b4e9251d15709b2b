"""`substrate experiment`: list, show, compare and remove experiments."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestration.base.project_lock import project_lock
from orchestration.experiments.comparison import compare, counts_of
from orchestration.experiments.experiment import experiment_names, read_experiment, remove_experiment
from orchestration.project import PINNED
from orchestration.rendering.drift import compared_text, experiment_text
from orchestration.settings import find_root
from substrate.cli.console import JsonOption, apart, argument, give, note

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME")]
_A = argument("An experiment, or `workspace`: artifacts/, as after `dvc exp run`.", metavar="A")


@app.command("list")
@apart
def list_(json: JsonOption = False) -> None:
    """Every experiment: its name, its profile, and what it changes."""
    root = find_root()
    experiments = [read_experiment(root, name) for name in experiment_names(root)]
    lines = [f"{e.name}  (profile {e.parent.profile}; {', '.join(e.changes)})" for e in experiments]
    give(experiments, lines, json=json)
    if not experiments:
        note("There is no experiment; `substrate reproduce --set KEY=VALUE` makes one.")


@app.command()
@apart
def show(name: Name, json: JsonOption = False) -> None:
    """Show an experiment: what it was made of, and its numbers with their intervals."""
    root = find_root()
    experiment, numbers = read_experiment(root, name), counts_of(root, name)
    lines = experiment_text(experiment, numbers).split("\n")[:-1]
    give({"experiment": experiment, "numbers": numbers}, lines, json=json)


@app.command()
@apart
def diff(
    a: Annotated[str, _A],
    b: Annotated[str, argument("What A is compared with.", metavar="B")] = PINNED,
    json: JsonOption = False,
) -> None:
    """Compare A with B: causes, the numbers that differ with intervals and McNemar's p, changed answers."""
    compared = compare(find_root(), a, b)
    give(compared, compared_text(compared).split("\n")[:-1], json=json)


@app.command()
@apart
def remove(name: Name, json: JsonOption = False) -> None:
    """Remove an experiment, or what an interrupted run left of one."""
    root = find_root()
    with project_lock(root):
        remove_experiment(root, name)
    give({"removed": name}, [], json=json)
    note(f"{name} is removed.")
