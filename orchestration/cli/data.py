"""Official data fetched, data in its format generated, and a user's own files answered."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestration.base.files import filling
from orchestration.benchmarks.benchmark import Interpreted, Source
from orchestration.benchmarks.tally import answer_files
from orchestration.cli.console import (
    NOTHING_SET,
    JsonOption,
    SetOption,
    bars,
    failing,
    say,
    voiced,
)
from orchestration.cli.notices import others_apart
from orchestration.cli.printing import print_json, print_lines
from orchestration.registry import INTERPRETED, SOURCES
from orchestration.settings import parameters_of
from substrate.base.errors import ParameterError

INPUTS = {
    "annotations": ("DIR_OR_ZIP", "Official annotations."),
    "events": ("FILE", "Compact event records as JSON lines; may be gzip."),
    "tasks": ("DIR", "Official files qaN_….txt, gzipped or not."),
    "scene_graphs": ("FILE", "Official scene graphs; may be gzip."),
    "questions": ("FILE", "The official list, or JSON lines of the same records; may be gzip."),
    "specs": ("FILE", "Specifications as JSON lines; may be gzip."),
}
"""What a benchmark's files are called, with what an option says of them."""


def file_option(name: str, required: bool) -> Any:
    """The type of an option that names one of a benchmark's files."""
    metavar, about = INPUTS.get(name, ("FILE", name))
    option = typer.Option(f"--{name.replace('_', '-')}", metavar=metavar, help=about)
    return Annotated[Path, option] if required else Annotated[Path | None, option]


def require_files(files: Mapping[str, Path]) -> None:
    """Refuse files of a user that are not there.

    Args:
        files: the paths, by what they are: an input's name is its option's.

    Raises:
        ParameterError: names the option and the path.
    """
    for name, path in files.items():
        if not path.exists():
            option, kind = f"--{name.replace('_', '-')}", INPUTS.get(name, ("FILE",))[0]
            raise ParameterError("is not there", where=(option, path), hint=f"Give it a {kind} that is")


def _command(
    run: Callable[..., None], options: dict[str, tuple[Any, Any]], about: str
) -> Callable[..., None]:
    """A function whose signature typer reads: keyword options with their types and defaults."""

    def command(**given: Any) -> None:
        run(**given)

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, default=default, annotation=type_)
        for name, (type_, default) in options.items()
    ]
    command.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    command.__annotations__ = {name: type_ for name, (type_, _) in options.items()}
    command.__doc__ = about
    return voiced(command)


def answers() -> typer.Typer:
    """`substrate answer`: a command for each benchmark that has files of its own."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    for benchmark in INTERPRETED.values():
        if benchmark.source.name == benchmark.name:
            _add_answer(group, benchmark)
    return group


def _add_answer(group: typer.Typer, benchmark: Interpreted) -> None:
    # Where a benchmark takes either of two inputs, neither is required by itself.
    either = {"annotations", "events"} <= benchmark.source.inputs.keys()
    options: dict[str, tuple[Any, Any]] = {}
    for name in benchmark.source.inputs:
        optional = either and name != "questions"
        options[name] = file_option(name, not optional), None if optional else inspect.Parameter.empty
    rows = Annotated[Path, typer.Option("--out", metavar="OUT.jsonl", help="Rows, one a question.")]
    options["out_"] = rows, inspect.Parameter.empty
    if benchmark.parameters.key:
        options["set_"] = SetOption, NOTHING_SET
    options["json"] = JsonOption, False

    def run(out_: Path, json: bool, set_: list[str] = NOTHING_SET, **files: Path | None) -> None:
        with failing():
            parameters = parameters_of(benchmark.parameters, set_)
        named = {name: path for name, path in files.items() if path is not None}
        with failing(), others_apart(), bars() as shown:
            require_files(named)
            task = shown.add_task("scenes", total=None)
            tally = answer_files(
                benchmark,
                named,
                parameters,
                out_,
                lambda done, total: shown.update(task, completed=done, total=total),
            )
        if tally.errors:
            asked = named.get("questions") or next(iter(named.values()))
            first = f"{tally.errors}, the first of them: {asked}: {tally.first_error}"
            say(first, "could not run:", error=True)
        print_json(tally) if json else print_lines([tally.line()])

    name = benchmark.name.replace("_", "-")
    group.command(name)(_command(run, options, f"Rows of a user's own files: {benchmark.about['answers']}"))


def worlds() -> typer.Typer:
    """`substrate generate`: a command for each benchmark that has a world."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    for source in SOURCES.values():
        if source.worlds:
            _add_world(group, source)
    return group


def _add_world(group: typer.Typer, source: Source) -> None:
    benchmarks, world = next(iter(source.worlds.items()))
    counted, number = world.counted
    count = Annotated[int, typer.Option(f"--{counted}", min=1, help=f"How many {counted}.")]
    folder = Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder to write to.")]
    seed = Annotated[int, typer.Option("--seed", help="Same seed, same bytes.")]
    options: dict[str, tuple[Any, Any]] = {
        "out_": (folder, inspect.Parameter.empty),
        "count": (count, number),
        "seed": (seed, 20),
    }
    if "first_scene" in source.data.__struct_fields__:
        first = Annotated[int, typer.Option("--first", min=0, help="Number of the first scene.")]
        options["first_scene"] = first, 10000

    for name, form in world.forms.items():
        options[name] = Annotated[bool, typer.Option(f"--{name}", help=form.about)], False

    if len(source.worlds) > 1:
        names = StrEnum("Level", {name: name for name in source.worlds})
        about = "How hard it is; the first is the benchmark."
        options["level"] = Annotated[names, typer.Option("--level", help=about)], next(iter(names))

    options["json"] = JsonOption, False

    def run(
        out_: Path,
        count: int,
        seed: int,
        json: bool,
        level: str = benchmarks,
        first_scene: int | None = None,
        **forms: bool,
    ) -> None:
        first = {} if first_scene is None else {"first_scene": first_scene}
        sizes: dict[str, Any] = {counted: count, **first}
        data = source.data(source="generated", **sizes)
        world = source.worlds[level]
        with failing(), others_apart(), bars() as shown, filling(out_) as fresh:
            numbers = world.numbers(data)
            task = shown.add_task(counted, total=len(numbers))

            def made() -> Iterator[bytes]:
                for scene in numbers:
                    yield world.make(scene, seed, data)
                    shown.advance(task)

            world.write(fresh, made(), seed)
            for name in (name for name, wanted in forms.items() if wanted):
                world.forms[name].write(fresh / "published", numbers, seed)
        if json:
            about = {"out": str(out_), counted: count, "seed": seed} | ({"level": level} if level else {})
            print_json(about)
        else:
            say(f"{source.size(data)} in {out_}")

    group.command(source.name)(_command(run, options, source.about))
