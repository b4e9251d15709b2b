"""The platform's `substrate` command and its groups, for researchers and maintainers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from orchestration.base.beyond import beyond
from orchestration.cli.claims import claims
from orchestration.cli.console import NOTHING_SET, ProfileOption, SetOption, chosen, given_files, with_files
from orchestration.cli.results import accept, materialize, reproduce, verify
from substrate.cli.console import JsonOption, apart, argument, give, guarded, option, say, speaking_as, voiced
from substrate.cli.main import PLAIN, absent, add_commands, add_group
from substrate.cli.notices import others_apart

# The commands as `substrate --help` groups them, each with the first sentence of its help.
SECTIONS = {
    "Reproduce": ("reproduce", "experiment", "ui", "fetch", "bench"),
    "Inspect": ("claims", "trace", "explain", "log", "logs"),
    "Your own data": ("answer", "perceive", "predict", "score", "generate", "mcp", "models"),
    "Maintain": ("verify", "accept", "materialize", "dvc", "cluster", "paper"),
}
# Options and arguments with long help; the short ones stand in the signatures.
_BASE = option("--base", "A mirror that holds the files under their names.", metavar="URL")
_ANSWER = argument("BENCHMARK/SCENE/QUESTION, as answers and the report name it.", metavar="ANSWER")
_FULL = option("--full", "As --steps, with whole IRIs, and every delta on a line.")
_NUMBER = argument(
    "BENCHMARK/SUBSET/METRIC, as in scores and tables; a row or a cell of a table, a figure of the "
    "paper, such as 99.86, or a claim's name. With --list, a part of the names to list.",
    metavar="NUMBER",
)
_LIST = option("--list", "Every number: the paper's figures and what was measured here.")
_QUESTION = option("--question", "One answer: SCENE/QUESTION, or its name in `explain`.", metavar="Q")
_REEXECUTE = option("--reexecute", "Compute that answer again and compare bytes; needs --question.")
_SQL = option("--sql", "SELECT, of deltas(scene, log, position, tick, op, subject, predicate, object).")
_SIZES = option("--size", "How large the input is; may be repeated.", min=1)


class Sections(TyperGroup):
    """The commands, listed by the reader's purpose."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each section with its commands."""
        for title, names in SECTIONS.items():
            commands: Any = ((name, self.get_command(ctx, name)) for name in names)
            rows = [(name, command.get_short_help_str(limit=60)) for name, command in commands]
            with formatter.section(title):
                formatter.write_dl(rows)


app = typer.Typer(
    **PLAIN,
    cls=Sections,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Keep a world as a log of facts: reproduce the paper, inspect its numbers, answer your own files.",
)


add_commands(app)
add_group(app, "answer", "orchestration.cli.answer:answers", "Answer your own files, as the pipeline does.")
add_group(app, "experiment", "orchestration.cli.experiment:app", "Compare results under other parameters.")
cluster_app = typer.Typer(**PLAIN, help="Look at a cluster before you send work to it.")
dvc_app = typer.Typer(**PLAIN, help="Keep DVC in step with the asset graph.")
app.add_typer(dvc_app, name="dvc")
app.add_typer(cluster_app, name="cluster")


for command in (reproduce, materialize, verify, accept, claims):
    app.command()(command)
app.command("paper")(beyond("research.cli.paper:paper") or absent("paper"))


@app.command()
@guarded
def ui(
    port: Annotated[int, option("--port", "Port on the loopback interface.", min=0, max=65535)] = 3000,
) -> None:
    """Start Dagster's UI on the same definitions and runs."""
    with others_apart():
        from orchestration.dagster import webserver

        listening = webserver.listen(port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    job = f"{address}/locations/substrate/jobs/reproduce_sample"
    say(f"Reproduce:    {job}  (Materialize all, then watch the run)")
    say(f"Asset graph:  {address}/asset-groups")
    say(f"Runs:         {address}/runs; Ctrl-C ends the server")
    webserver.ui(listening)


@cluster_app.callback()
def _cluster() -> None:
    """Keep the group: without a callback, typer omits the name of a group's only command."""


@cluster_app.command("check")
@voiced
def cluster_check(
    profile: ProfileOption = None, set_: SetOption = NOTHING_SET, json: JsonOption = False
) -> None:
    """Check a cluster's endpoint, driver, storage and workers; exit 1 if a part does not fit."""
    from orchestration.project import open_workspace
    from orchestration.spark.cluster import findings

    parts, lines = list(findings(open_workspace(profile, tuple(set_)))), list[str]()
    for part in parts:
        lines.append(f"{'fits ' if part.fits else 'FAILS'}  {part.what}: {part.said}")
        if part.hint:
            lines.append(f"       {part.hint}")
    give([part._asdict() for part in parts], lines, json=json)
    raise typer.Exit(0 if all(part.fits for part in parts) else 1)


@app.command("fetch")
@speaking_as("fetch")
def fetch_files(
    benchmark: Annotated[str, argument("A benchmark with official files.")],
    base: Annotated[str | None, _BASE] = None,
    json: JsonOption = False,
) -> None:
    """Download official files, resumed and checked.

    The files are pinned. For the profile `real`, only files with an address are fetched.
    """
    from orchestration.fetch.downloads import Fetched, fetch, unpack
    from orchestration.fetch.sources import official_sources, wanted
    from orchestration.project import find_root
    from substrate.cli.events import speaking

    root = find_root()
    pins, folder = root / "pins" / "downloads.json", root / "downloads" / benchmark
    names = [official.name for official in wanted(benchmark, official_sources())]
    fetched: list[Fetched] = []
    with speaking("fetch") as stream:
        stream.plan(len(names), "files")
        for name in names:
            progress = partial(stream.advance, unit="bytes")
            fetched += fetch(benchmark, folder, pins=pins, base=base, only=[name], progress=progress)
            stream.end(name, fetched[-1].status)
        if benchmark == "real":  # the stage of a benchmark unpacks its own files
            unpack(benchmark, folder, folder)
    give(fetched, map(str, fetched), json=json, closing=f"{len(fetched)} files in {folder}")


@app.command()
@voiced
@with_files
def explain(
    answer: Annotated[str, _ANSWER],
    profile: ProfileOption = None,
    set_: SetOption = NOTHING_SET,
    steps: Annotated[bool, option("--steps", "Every step, with its query, triples and ticks.")] = False,
    full: Annotated[bool, _FULL] = False,
    json: JsonOption = False,
    **files: Path | None,
) -> None:
    """Say why an answer is what it is.

    Shows the deciding rule, the answer next to its gold, the choice that failed, and the premises.
    """
    from orchestration.lineage.explain import OwnFiles, answered
    from orchestration.project import open_workspace

    own, overrides = given_files(files), tuple(set_)
    explained = answered(answer, OwnFiles(own, overrides) if own else open_workspace(profile, overrides))
    text = explained.explanation.text(full) if steps or full else explained.text()
    give(explained.record(), text.split("\n")[:-1], json=json)


@app.command(context_settings={"ignore_unknown_options": True})  # a figure may be negative
@voiced
def trace(
    number: Annotated[str | None, _NUMBER] = None,
    list_: Annotated[bool, _LIST] = False,
    question: Annotated[str | None, _QUESTION] = None,
    reexecute: Annotated[bool, _REEXECUTE] = False,
    profile: ProfileOption = None,
    json: JsonOption = False,
) -> None:
    """Follow a number down to its rows, files and code.

    The path names log, input file, source and code version too; exit 1 if they are inconsistent.
    """
    if not list_ and number is None:
        raise typer.BadParameter("give a NUMBER or --list")
    from orchestration.cli.trace import print_list, print_trace

    if list_ or number is None:
        print_list(profile, number or "", json=json)
    elif not print_trace(number, question, profile, reexecute=reexecute, json=json):
        raise typer.Exit(1)


@app.command()
@voiced
def logs(
    name: Annotated[str, argument("A benchmark with logs.", metavar="NAME")],
    sparql: Annotated[str | None, option("--sparql", "SELECT or ASK, of the state of each log.")] = None,
    sql: Annotated[str | None, _SQL] = None,
    tick: Annotated[int | None, option("--tick", "For --sparql; the last unless given.")] = None,
    timeout: Annotated[float | None, option("--timeout", "Seconds; 30 unless given.", min=0.1)] = None,
    limit: Annotated[int | None, option("--limit", "Rows; 10,000 unless given.", min=1)] = None,
    profile: ProfileOption = None,
    set_: SetOption = NOTHING_SET,
    json: JsonOption = False,
) -> None:
    """Ask all logs of a benchmark at once."""
    if (sparql is None) == (sql is None):
        raise typer.BadParameter("give either --sparql or --sql")
    from orchestration.project import open_workspace
    from orchestration.registry import INTERPRETED
    from orchestration.spark.all_logs import ask_deltas, ask_each
    from substrate.base.limits import LIMITS

    benchmark = chosen(INTERPRETED, name, f"no logs of {name!r}", "NAME")
    workspace = open_workspace(profile, tuple(set_))
    timeout, limit = timeout or LIMITS.seconds, limit or LIMITS.rows
    if sparql is not None:
        answer = ask_each(workspace, benchmark, sparql, tick, timeout, limit)
    else:
        answer = ask_deltas(workspace, benchmark, sql or "", timeout, limit)
    table = [answer.columns, *answer.rows]
    lines = ("\t".join("" if value is None else str(value) for value in row) for row in table)
    give([dict(zip(answer.columns, row, strict=True)) for row in answer.rows], lines, json=json)


@app.command()
@apart
def bench(
    name: Annotated[str | None, argument("One bench instead of all.", metavar="NAME")] = None,
    sizes: Annotated[list[int] | None, _SIZES] = None,
    json: JsonOption = False,
) -> None:
    """Measure speed and memory, each beside a peer.

    The same run measures the peer, or a lower bound.
    """
    from benchmarks.speed.benches import BENCHES, run

    if name is not None:
        chosen(BENCHES, name, f"no benchmark {name!r}", "NAME")
    for figure in run([name] if name else [], sizes or []):
        give(figure, [str(figure)], json=json)


@dvc_app.command("sync")
@apart
def dvc_sync() -> None:
    """Write dvc.yaml from the asset graph."""
    from orchestration.dvc.dvc_files import sync
    from orchestration.project import find_root
    from orchestration.stages.graph import STAGES

    say("dvc.yaml written" if sync(find_root(), STAGES) else "dvc.yaml is up to date")


@dvc_app.command("code")
@voiced
def dvc_code(profile: ProfileOption = None) -> None:
    """Record each stage's changed code in a file for DVC; `dvc repro` begins with it."""
    from orchestration.dvc.dvc_files import keep_code
    from orchestration.project import open_workspace
    from orchestration.stages.graph import stages_in

    workspace = open_workspace(profile)
    keep_code(workspace, stages_in(workspace))


if __name__ == "__main__":
    app()
