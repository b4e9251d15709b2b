"""`substrate answer`: answers to a user's own files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.benchmarks.own_files import answer_files
from orchestration.cli.console import NOTHING_SET, SetOption, file_option, given_files
from orchestration.registry import INTERPRETED
from orchestration.settings import parameters_of
from substrate.base.files import require_other
from substrate.cli.console import REQUIRED, JsonOption, command_of, give, option, say
from substrate.cli.events import speaking

# A scene with ten uncertain events has 1,024 possible logs.
_MOST = option("--worlds", "Answer from at most N possible logs of each scene.", metavar="N", min=1, max=1024)
_SENT = option("--submission", "The same answers, as the benchmark's server takes them.", metavar="OUT.json")


def answers() -> typer.Typer:
    """Make `substrate answer`, with a command for each benchmark that accepts a user's files."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    for benchmark in INTERPRETED.values():
        if benchmark.source.name == benchmark.name:
            _add_answer(group, benchmark)
    return group


def _add_answer(group: typer.Typer, benchmark: Interpreted) -> None:
    inputs = benchmark.source.inputs.keys()
    # If a benchmark accepts either of two inputs, neither is required.
    required = {"questions"} if {"annotations", "events"} <= inputs else inputs
    options: dict[str, tuple[Any, Any]] = {
        name: (file_option(name), REQUIRED if name in required else None) for name in inputs
    }
    rows = Annotated[Path, option("--out", "The file for the rows, one per question.", metavar="OUT.jsonl")]
    options["out_"] = rows, REQUIRED
    if benchmark.possible:
        options["worlds"] = Annotated[int | None, _MOST], None
    if benchmark.submission:
        options["submission"] = Annotated[Path | None, _SENT], None
    if benchmark.parameters.key:
        options["set_"] = SetOption, NOTHING_SET
    options["json"] = JsonOption, False

    def run(
        out_: Path,
        json: bool,
        set_: list[str] = NOTHING_SET,
        worlds: int | None = None,
        submission: Path | None = None,
        **files: Path | None,
    ) -> None:
        parameters = parameters_of(benchmark.parameters, set_)
        named = given_files(files)
        require_other(out_, named.values())
        if submission:
            require_other(submission, [*named.values(), out_])
        with speaking("answer") as stream:
            advance = partial(stream.advance, benchmark.name, unit="scenes")
            counts = answer_files(benchmark, named, parameters, out_, advance, worlds, submission)
            stream.end(benchmark.name, "computed", counts.rows)
        if counts.errors:
            file = named.get("questions") or next(iter(named.values()))
            first = f"{counts.errors}, the first of them: {file}: {counts.first_error}"
            say(first, "could not run:", error=True)
        give(counts, [counts.line()], json=json)

    name = benchmark.name.replace("_", "-")
    about = f"Rows of a user's own files: {benchmark.about['answers']}"
    group.command(name)(command_of(run, options, about, "answer"))
