"""`substrate generate`: data in the official formats, with truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from substrate.base.extras import missing_extra
from substrate.base.files import filling
from substrate.cli.console import PLAIN, REQUIRED, JsonOption, command_of, give, option
from substrate.cli.events import speaking
from substrate.cli.notices import others_apart
from substrate.generators.world import World

WORLDS: Mapping[str, str] = {
    "clevrer": "clevrer",
    "babi": "babi",
    "gqa": "gqa",
    "comphy": "comphy",
    "twin": "smallville",
}
"""The worlds by their benchmark's name, each with its folder in :mod:`substrate.generators`."""


def worlds() -> typer.Typer:
    """Make `substrate generate`, with a command for each world."""
    group = typer.Typer(**PLAIN)
    for name, folder in WORLDS.items():
        try:
            with others_apart():
                world: World = import_module(f"substrate.generators.{folder}.release").WORLD
        except ModuleNotFoundError as error:
            missing = missing_extra(error)
            if missing is None:
                raise
            _add_missing(group, name, missing)
        else:
            _add_world(group, name, world)
    return group


def _add_missing(group: typer.Typer, name: str, missing: Exception) -> None:
    def run(given: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
        raise missing

    about = f"Not here: {missing}"
    group.command(name, help=about, context_settings={"ignore_unknown_options": True})(run)


def _add_world(group: typer.Typer, name: str, world: World) -> None:
    counted, default = world.counted
    count = Annotated[int, option(f"--{counted}", f"How many {counted}.", min=1)]
    folder = Annotated[Path, option("--out", "A folder to write to.", metavar="DIR")]
    seed = Annotated[int, option("--seed", "Same seed, same bytes.")]
    options: dict[str, tuple[Any, Any]] = {
        "out_": (folder, REQUIRED),
        "count": (count, default),
        "seed": (seed, 20),
    }
    if world.from_truth:
        truth_help = (
            "True events, as `answer --events` takes them. No scene is made, but a question about each "
            "of their collisions: every other object, entry and collision is an option."
        )
        options["truth"] = Annotated[Path | None, option("--from-truth", truth_help, metavar="FILE")], None

    options["json"] = JsonOption, False

    def run(out_: Path, count: int, seed: int, json: bool, truth: Path | None = None) -> None:
        # A world takes the settings of a benchmark's data in params.yaml; the options stand for them here
        data = SimpleNamespace(**{counted: count, "first_scene": world.first})
        with speaking("generate") as stream, filling(out_) as fresh:
            numbers, make = world.numbers(data), lambda scene: world.make(scene, seed, data)
            truths = world.from_truth(truth, seed) if truth and world.from_truth else None
            if truths:
                numbers, make = truths.numbers, truths.make

            def records() -> Iterator[bytes]:
                for done, scene in enumerate(numbers):
                    stream.advance(name, done, len(numbers), counted)
                    yield make(scene)
                stream.end(name, "computed", len(numbers))

            world.write(fresh, records(), seed)
            if truths:
                truths.describe(fresh)
        about = {"out": str(out_), counted: len(numbers), "seed": seed}
        line = f"{len(numbers):,} {world.unit} in {out_}"
        give(about, [line], json=json)

    group.command(name)(command_of(run, options, world.about, "generate"))
