"""The `substrate` command: its groups, and what a researcher and a maintainer run."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from orchestration.base.beyond import beyond
from orchestration.cli.console import NOTHING_SET, ProfileOption, SetOption
from orchestration.cli.logs import logs
from orchestration.cli.results import accept, materialize, reproduce, verify
from substrate.cli.console import JsonOption, argument, failing, give, option, say, speaking_as, voiced
from substrate.cli.main import PLAIN, absent, add_commands, add_group
from substrate.cli.notices import others_apart
from substrate.cli.printing import print_json, print_text

SECTIONS = {
    "Reproduce": {
        "reproduce": "Compute a profile's results, and compare them with the pins.",
        "experiment": "Compare results under other parameters.",
        "ui": "Start Dagster's UI on the same definitions and runs.",
        "fetch": "Download official files, resumed and checked.",
        "bench": "Measure speed and memory, each beside a peer.",
    },
    "Inspect": {
        "trace": "Follow a number down to its rows, files and code.",
        "explain": "Say why an answer is what it is.",
        "log": "Show, query, fork, merge and verify one event log.",
        "logs": "Ask all logs of a benchmark at once.",
        "effect": "Measure an intervention's effect over all logs.",
    },
    "Your own data": {
        "answer": "Answer your own files, as the pipeline does.",
        "perceive": "Make events from a detector's proposals.",
        "predict": "Predict the unseen future from your own files.",
        "score": "Grade anyone's answers.",
        "generate": "Generate data in an official format, with truth.",
        "mcp": "Serve a log as an agent's memory.",
        "models": "Serve a small language model on this machine.",
    },
    "Maintain": {
        "verify": "Compute the results again, and name what differs.",
        "accept": "Pin changed results, and say why they are right.",
        "materialize": "Run one stage on inputs that are there.",
        "dvc": "Keep DVC in step with the asset graph.",
        "cluster": "Look at a cluster before you send work to it.",
        "paper": "Write a paper whose figures lead to their evidence.",
    },
}
"""The commands as `substrate --help` groups them, each with what it does."""


class Sections(TyperGroup):
    """The commands, listed by what a reader wants."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each section with its commands."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


app = typer.Typer(
    **PLAIN,
    cls=Sections,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Keep a world as a log of facts: reproduce the paper, inspect its numbers, answer your own files.",
)


add_commands(app)
add_group(
    app,
    "answer",
    "orchestration.cli.data:answers",
    "Answer a user's own files with the pipeline's interpreters.",
)
add_group(
    app,
    "experiment",
    "orchestration.cli.experiment:experiment_app",
    "Results under other parameters, beside the pinned ones.",
)
cluster_app = typer.Typer(**PLAIN, help="Look at a cluster before work is sent to it.")
dvc_app = typer.Typer(**PLAIN, help="Keep DVC in step with the asset graph.")
app.add_typer(dvc_app, name="dvc")
app.add_typer(cluster_app, name="cluster")


for command in (reproduce, materialize, verify, accept, logs):
    app.command()(command)
for name in ("effect", "paper"):
    app.command(name)(beyond(f"research.cli.{name}:{name}") or absent(name))


@app.command()
def ui(
    port: Annotated[int, option("--port", "Port on the loopback interface.", min=0, max=65535)] = 3000,
) -> None:
    """The Dagster UI on the same definitions and the same instance as the command."""
    with failing():
        with others_apart():
            from orchestration.pipeline import webserver

            listening = webserver.listen(port)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        job = f"{address}/locations/substrate/jobs/reproduce_sample"
        say(f"Reproduce:    {job}  (Materialize all, then watch the run)")
        say(f"Asset graph:  {address}/asset-groups")
        say(f"Runs:         {address}/runs; Ctrl-C ends the server")
        webserver.ui(listening)


@cluster_app.callback()
def _cluster() -> None:
    """Typer leaves out the name of a group's only command."""


@cluster_app.command("check")
@voiced
def cluster_check(
    profile: ProfileOption = None, set_: SetOption = NOTHING_SET, json: JsonOption = False
) -> None:
    """Say what of a cluster fits: its endpoint, driver, storage and workers; exit 1 where a part does not."""
    with failing(), others_apart():
        from orchestration.pipeline.cluster import findings
        from orchestration.project import open_workspace

        parts = list(findings(open_workspace(profile, tuple(set_))))
    if json:
        print_json([part._asdict() for part in parts])
    for part in () if json else parts:
        say(f"{'fits ' if part.fits else 'FAILS'}  {part.what}: {part.said}")
        if part.hint:
            say(f"       {part.hint}")
    if not all(part.fits for part in parts):
        raise typer.Exit(1)


@app.command("fetch")
@speaking_as("fetch")
def fetch_files(
    benchmark: Annotated[str, argument("A benchmark with official files.")],
    base: Annotated[
        str | None, option("--base", "A mirror that holds the files under their names.", metavar="URL")
    ] = None,
    file: Annotated[
        list[str], option("--file", "Only this file; may be repeated.", metavar="NAME")
    ] = NOTHING_SET,
    json: JsonOption = False,
) -> None:
    """Official data: resumed, verified, pinned; of the profile `real`, what has an address."""
    from orchestration.fetch.downloads import Fetched, fetch, unpack, wanted
    from orchestration.fetch.sources import official_sources
    from orchestration.project import find_root
    from substrate.cli.events import speaking

    with failing():
        root = find_root()
        pins = root / "pins" / "downloads.json"
        with speaking("fetch") as told:
            folder = root / "downloads" / benchmark
            names = [official.name for official in wanted(benchmark, official_sources(), file)]
            told.plan(len(names), "files")
            fetched: list[Fetched] = []
            for name in names:
                progress = partial(told.advance, unit="bytes")
                fetched += fetch(benchmark, folder, pins=pins, base=base, only=[name], progress=progress)
                told.end(name, fetched[-1].status)
            unpack(benchmark, folder)
        if not give(fetched, f"{len(fetched)} files in {folder}", json=json):
            for result in fetched:
                say(str(result))


FileOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Your own, instead of the profile's.")]


@app.command()
@voiced
def explain(
    answer: Annotated[
        str, argument("BENCHMARK/SCENE/QUESTION, as answers and the report name it.", metavar="ANSWER")
    ],
    profile: ProfileOption = None,
    annotations: FileOption = None,
    events: FileOption = None,
    proposals: FileOption = None,
    tasks: FileOption = None,
    scene_graphs: FileOption = None,
    questions: FileOption = None,
    specs: FileOption = None,
    set_: SetOption = NOTHING_SET,
    steps: Annotated[bool, option("--steps", "Every step, with its query, triples and ticks.")] = False,
    full: Annotated[
        bool, option("--full", "As --steps, with whole IRIs, and every delta on a line.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Why: the rule that decided, the answer beside its gold, the choice that failed, and the premises."""
    files = {"annotations": annotations, "events": events, "tasks": tasks, "scene_graphs": scene_graphs}
    files |= {"questions": questions, "specs": specs, "proposals": proposals}
    with failing(), others_apart():
        from orchestration.cli.data import require_files
        from orchestration.lineage.explain import Input, answered

        given = {name: path for name, path in files.items() if path is not None}
        require_files(given)
        explained = answered(answer, Input(profile, tuple(set_), given))
    if json:
        print_json(explained.record())
    else:
        print_text(explained.explanation.text(full) if steps or full else explained.text())


@app.command(context_settings={"ignore_unknown_options": True})  # a figure may be negative
@voiced
def trace(
    number: Annotated[
        str | None,
        argument(
            "BENCHMARK/SUBSET/METRIC, as in scores and tables; a row "
            "or a cell of a table, or a figure of the paper, such as 99.86.",
            metavar="NUMBER",
        ),
    ] = None,
    list_: Annotated[
        bool, option("--list", "Every number: the paper's figures and what was measured here.")
    ] = False,
    question: Annotated[
        str | None,
        option(
            "--question",
            "Down to one answer: SCENE/QUESTION, or its name as `explain` takes it.",
            metavar="Q",
        ),
    ] = None,
    reexecute: Annotated[
        bool, option("--reexecute", "Compute that answer again and compare bytes; needs --question.")
    ] = False,
    profile: ProfileOption = None,
    json: JsonOption = False,
) -> None:
    """From a table cell down to rows, log, input file, source and code version; exit 1 where they do not fit
    together.
    """
    if list_ == (number is not None):
        raise typer.BadParameter("give a NUMBER or --list")
    with failing():
        with others_apart():
            from orchestration.cli.trace import print_list, print_trace
        if number is None:
            print_list(profile, json=json)
            raise typer.Exit
        fits = print_trace(number, question, profile, reexecute=reexecute, json=json)
    raise typer.Exit(0 if fits else 1)


@app.command()
def bench(
    name: Annotated[str | None, argument("One bench instead of all.", metavar="NAME")] = None,
    sizes: Annotated[
        list[int] | None, option("--size", "How large the input is; may be repeated.", min=1)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Speed and memory, each beside a peer or a floor in the same run."""
    with failing():
        with others_apart():
            from benchmarks.speed.benches import BENCHES, run
            from substrate.base.errors import ParameterError
        if name is not None and name not in BENCHES:
            hint = f"Choose one of {', '.join(BENCHES)}"
            raise ParameterError(f"no benchmark {name!r}", where=("NAME",), hint=hint)
        for figure in run([name] if name else [], sizes or []):
            if json:
                print_json(figure)
            else:
                say(str(figure))
            sys.stdout.flush()


@dvc_app.command("sync")
def dvc_sync() -> None:
    """Write dvc.yaml from the asset graph."""
    with failing(), others_apart():
        from orchestration.ledger.dvc import sync
        from orchestration.pipeline.graph import STAGES
        from orchestration.project import find_root

        changed = sync(find_root(), STAGES)
    say("dvc.yaml written" if changed else "dvc.yaml is up to date")


@dvc_app.command("code")
@voiced
def dvc_code(profile: ProfileOption = None) -> None:
    """Say for DVC, in a file a stage, what of its code changed since it ran; `dvc repro` begins with it."""
    with failing(), others_apart():
        from orchestration.ledger.dvc import keep_code
        from orchestration.pipeline.graph import stages_in
        from orchestration.project import open_workspace

        workspace = open_workspace(profile)
        keep_code(workspace, stages_in(workspace))


def main() -> None:
    """Run the command; :mod:`substrate.cli.launcher` reports a missing package."""
    app()


if __name__ == "__main__":
    main()
