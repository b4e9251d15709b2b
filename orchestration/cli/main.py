"""The `substrate` command: its groups, and what a researcher and a maintainer run."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from orchestration.cli import completion
from orchestration.cli.console import (
    NOTHING_SET,
    JsonOption,
    ProfileOption,
    SetOption,
    bars,
    failing,
    say,
    voiced,
)
from orchestration.cli.notices import others_apart
from orchestration.cli.printing import print_json
from orchestration.cli.results import accept, materialize, reproduce, verify

_PLAIN: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}
"""Help as plain text: what draws frames around it takes longer to load than all else together."""

app = typer.Typer(
    **_PLAIN,
    pretty_exceptions_enable=False,
    help="Deterministic event-graph substrates: reproduce the paper, inspect its numbers, answer your own "
    "files.",
)


class _Derived(TyperGroup):
    """A group whose commands are read only when it is used: they come from the benchmarks, or take long to
    load.
    """

    @cached_property
    def _made(self) -> Any:
        return typer.main.get_group(_DERIVED[self.name or ""]())

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands."""
        return self._made.list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name."""
        return self._made.get_command(ctx, cmd_name)


def _answers() -> typer.Typer:
    with others_apart():
        from orchestration.cli.data import answers

        return answers()


def _worlds() -> typer.Typer:
    with others_apart():
        from orchestration.cli.data import worlds

        return worlds()


def _logs() -> typer.Typer:
    from orchestration.cli.log import log_app

    return log_app


def _experiments() -> typer.Typer:
    from orchestration.cli.experiment import experiment_app

    return experiment_app


_DERIVED = {"answer": _answers, "generate": _worlds, "log": _logs, "experiment": _experiments}


answer_app = typer.Typer(
    **_PLAIN, cls=_Derived, help="Answer a user's own files with the pipeline's interpreters."
)
log_app = typer.Typer(**_PLAIN, cls=_Derived, help="The auditor's tools over one event log.")
generate_app = typer.Typer(**_PLAIN, cls=_Derived, help="Generate official-format data with truth.")
experiment_app = typer.Typer(
    **_PLAIN, cls=_Derived, help="Results under other parameters, beside the pinned ones."
)
score_app = typer.Typer(**_PLAIN, help="Grade anyone's answers.")
predict_app = typer.Typer(**_PLAIN, help="Predict the unseen future from a user's own files.")
cluster_app = typer.Typer(**_PLAIN, help="Look at a cluster before work is sent to it.")
perceive_app = typer.Typer(**_PLAIN, help="Events with probabilities from a detector's proposals.")
dvc_app = typer.Typer(**_PLAIN, help="Keep DVC in step with the asset graph.")
app.add_typer(answer_app, name="answer")
app.add_typer(experiment_app, name="experiment")
app.add_typer(log_app, name="log")
app.add_typer(perceive_app, name="perceive")
app.add_typer(predict_app, name="predict")
app.add_typer(score_app, name="score")
app.add_typer(generate_app, name="generate")
app.add_typer(dvc_app, name="dvc")
app.add_typer(cluster_app, name="cluster")


@predict_app.callback()
def _predict() -> None:
    """Typer leaves out a group that has nothing of its own."""


@perceive_app.callback()
def _perceive() -> None:
    """Typer leaves out a group that has nothing of its own."""


@answer_app.callback()
def _answer() -> None:
    """Typer leaves out a group that has nothing of its own."""


@generate_app.callback()
def _generate() -> None:
    """Typer leaves out a group that has nothing of its own."""


@experiment_app.callback()
def _experiment() -> None:
    """Typer leaves out a group that has nothing of its own."""


@log_app.callback()
def _log() -> None:
    """Typer leaves out a group that has nothing of its own."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from substrate import __version__

        sys.stdout.write(f"substrate {__version__}\n")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="The version of the package, and no more.",
        ),
    ] = False,
) -> None:
    """What holds for every command."""


for command in (reproduce, materialize, verify, accept):
    app.command()(command)


@app.command()
def ui(port: Annotated[int, typer.Option("--port", help="Port on the loopback interface.")] = 3000) -> None:
    """The Dagster UI on the same definitions and the same instance as the command."""
    with failing(), others_apart():
        from orchestration.pipeline.run import instance
        from orchestration.project import find_root

        root = find_root()
        instance(root).dispose()
    address = f"http://127.0.0.1:{port}"
    job = f"{address}/locations/substrate/jobs/reproduce_sample"
    say(f"Reproduce:    {job}  (Materialize all, then watch the run)")
    say(f"Asset graph:  {address}/asset-groups")
    say(f"Runs:         {address}/runs; Ctrl-C ends the server")
    # In this process's place, so that a signal reaches the server and not only what started it.
    os.chdir(root)
    command = [sys.executable, "-m", "dagster", "dev", "--workspace", "workspace.yaml"]
    os.execv(sys.executable, [*command, "--host", "127.0.0.1", "--port", str(port)])


@app.command()
@voiced
def report(
    profile: ProfileOption = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it on the loopback interface until Ctrl-C.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="For --serve; any free one unless given.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Where the report of a profile lies; it opens from disk, or is served."""
    if json and serve:
        raise typer.BadParameter("--json goes without --serve")
    with failing():
        with others_apart():
            from orchestration.cli.report import report_of
            from orchestration.cli.report import serve as run

            name, page = report_of(profile)
        if serve:
            run(page, port)
        elif json:
            print_json({"profile": name, "report": str(page)})
        else:
            say(str(page))


@cluster_app.callback()
def _cluster() -> None:
    """Typer leaves out the name of a group's only command."""


@cluster_app.command("check")
@voiced
def cluster_check(
    profile: ProfileOption = None, set_: SetOption = NOTHING_SET, json: JsonOption = False
) -> None:
    """Say what of a cluster fits: its endpoint, driver, storage and workers; exit 1 where a part does not."""
    with failing():
        with others_apart():
            from orchestration.cli.cluster import print_findings

        if not print_findings(profile, set_, json=json):
            raise typer.Exit(1)


@app.command()
@voiced
def paper(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A paper's TeX source, or with --check its numbers.tex.")
    ],
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="A folder for the pages.")] = None,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="FILE", help="The figures of another paper, as published.yaml."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit 1 where a figure of FILE is not what was measured.")
    ] = False,
    profile: ProfileOption = None,
) -> None:
    """Write a paper with a link at each printed figure, and TeX macros of our numbers."""
    if check == (out is not None):
        raise typer.BadParameter("give --out DIR, or --check")
    with failing():
        with others_apart():
            from orchestration.cli.paper import check_macros, print_paper

        if out is not None:
            print_paper(source, out, figures, profile)
        elif not check_macros(source, profile):
            raise typer.Exit(1)


@app.command()
@voiced
def fetch(
    benchmark: Annotated[
        str | None,
        typer.Argument(help="A benchmark with official files.", autocompletion=completion.benchmarks),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="URL", help="A mirror that holds the files under their names."),
    ] = None,
    file: Annotated[
        list[str], typer.Option("--file", metavar="NAME", help="Only this file; may be repeated.")
    ] = NOTHING_SET,
    list_: Annotated[
        bool, typer.Option("--list", help="What is known of each file, and what vouches for it.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Official data: resumed, verified, pinned."""
    from orchestration.fetch.downloads import fetch_shown, known_files
    from orchestration.project import find_root

    if list_ == (benchmark is not None) or (json and not list_):
        raise typer.BadParameter("give a BENCHMARK, or --list alone; --json goes with --list")
    with failing():
        root = find_root()
        pins = root / "pins" / "downloads.json"
        if benchmark is None:
            known = known_files(pins, base=base)
            if json:
                print_json(known)
            for one in () if json else known:
                say(str(one))
            return
        folder = root / "downloads" / benchmark
        for fetched in fetch_shown(benchmark, folder, pins=pins, base=base, only=file):
            say(str(fetched))


@score_app.command("twin")
def score_twin(
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS",
            help='JSON lines: rows, or {"spec": 17, "arm": "a", "answer": "yes"}; may be gzip.',
        ),
    ],
    specs: Annotated[
        Path | None,
        typer.Option("--specs", metavar="FILE", help="Specifications with gold; the profile's unless given."),
    ] = None,
    profile: ProfileOption = None,
    row: Annotated[
        str | None, typer.Option("--row", metavar="SYSTEM", help="One leaderboard row of this name, as JSON.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Per-arm, joint and divergence accuracy of any agent's answers, with Wilson intervals, by linkage and
    query too.
    """
    with failing(), others_apart():
        from orchestration.benchmarks.twin import TWIN
        from orchestration.project import open_workspace
        from orchestration.registry import BENCHMARKS
        from orchestration.scoring.grading import leaderboard_row, scoreboard
        from orchestration.scoring.grading import score_twin as grade

        paired = [name for name, benchmark in BENCHMARKS.items() if benchmark.paired]
        if specs is None:
            specs = open_workspace(profile).data / TWIN.name / TWIN.source.inputs["specs"][0]
        scores = grade(answers, specs, paired)
        said: Any = leaderboard_row(row, specs, scores) if row else scores
    if json or row:
        print_json(said)
    else:
        sys.stdout.write(scoreboard(scores) + "\n")


@predict_app.command("clevrer")
@voiced
def predict_clevrer(
    trajectories: Annotated[
        Path,
        typer.Option(
            "--trajectories",
            metavar="FILE",
            help="JSON lines of objects and their positions by frame; may be gzip.",
        ),
    ],
    at: Annotated[int, typer.Option("--at", min=0, help="The last frame that may be known.")],
    out_: Annotated[
        Path, typer.Option("--out", metavar="OUT.jsonl", help="A line a scene: the pairs that will collide.")
    ],
    until: Annotated[int, typer.Option("--until", help="The last frame of the prediction.")] = 127,
    events: Annotated[
        Path | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help="Event records: which pairs have collided by --at; inferred from the motion without it.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Collisions of the unseen future from observed motion, by the calibrated simulator."""
    with failing(), others_apart(), bars() as shown:
        from orchestration.cli.predict import predict_clevrer as predict

        task = shown.add_task("scenes", total=None)

        def advance(done: int, total: int) -> None:
            shown.update(task, completed=done, total=total)

        scenes, collisions = predict(trajectories, events, at, until, out_, advance)
    if json:
        print_json({"scenes": scenes, "collisions": collisions, "from": at + 1, "to": until})
    else:
        say(f"{scenes} scenes, {collisions} collisions predicted in frames {at + 1} to {until}")


@perceive_app.command("clevrer")
@voiced
def perceive_clevrer(
    proposals: Annotated[
        Path,
        typer.Option(
            "--proposals", metavar="DIR_OR_ZIP", help="NS-DR's processed proposals, sim_NNNNN.json."
        ),
    ],
    out_: Annotated[
        Path,
        typer.Option("--out", metavar="EVENTS.jsonl", help="A line a video, which `answer --events` takes."),
    ],
    logs: Annotated[
        Path | None,
        typer.Option("--logs", metavar="DIR", help="A folder for the event log of each video too."),
    ] = None,
    until: Annotated[
        int | None, typer.Option("--until", min=0, help="The last frame that may be read.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Objects, entries, exits and collisions, each with its probability, from each frame's masks."""
    with failing(), others_apart(), bars() as shown:
        from orchestration.cli.perceive import perceive_clevrer as perceive

        task = shown.add_task("videos", total=None)

        def advance(done: int, total: int) -> None:
            shown.update(task, completed=done, total=total)

        videos, objects, collisions = perceive(proposals, out_, logs, until, advance)
    if json:
        print_json({"videos": videos, "objects": objects, "collisions": collisions})
    else:
        say(f"{videos} videos, {objects} objects, {collisions} collisions perceived")


FileOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Your own, instead of the profile's.")]


@app.command()
@voiced
def explain(
    answer: Annotated[
        str, typer.Argument(metavar="ANSWER", help="Such as clevrer/SCENE/QUESTION or twin/SPEC/ARM.")
    ],
    profile: ProfileOption = None,
    annotations: FileOption = None,
    events: FileOption = None,
    tasks: FileOption = None,
    scene_graphs: FileOption = None,
    questions: FileOption = None,
    specs: FileOption = None,
    set_: SetOption = NOTHING_SET,
    full: Annotated[bool, typer.Option("--full", help="Whole IRIs, and every delta on a line.")] = False,
    json: JsonOption = False,
) -> None:
    """Why: the steps to an answer, with the queries, triples and ticks behind each."""
    files = {"annotations": annotations, "events": events, "tasks": tasks, "scene_graphs": scene_graphs}
    files |= {"questions": questions, "specs": specs}
    with failing(), others_apart():
        from orchestration.cli.data import require_files
        from orchestration.lineage.explain import Input, explain_answer, files_given

        given = files_given(files)
        require_files(given)
        explained = explain_answer(answer, Input(profile, tuple(set_), given))
    if json:
        print_json(explained.record())
    else:
        sys.stdout.write(explained.text(full))


@app.command(context_settings={"ignore_unknown_options": True})  # a figure may be negative
@voiced
def trace(
    number: Annotated[
        str | None,
        typer.Argument(
            metavar="NUMBER",
            help="BENCHMARK/SUBSET/METRIC, as in scores and tables: clevrer/explanatory/per_question; a row "
            "or a cell of a table, or a figure of the paper, such as 99.86.",
            autocompletion=completion.numbers,
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Every number: the paper's figures and what was measured here.")
    ] = False,
    question: Annotated[
        str | None,
        typer.Option(
            "--question",
            metavar="Q",
            help="Down to one answer: SCENE/QUESTION, or its name as `explain` takes it.",
        ),
    ] = None,
    reexecute: Annotated[
        bool,
        typer.Option("--reexecute", help="Compute that answer again and compare bytes; needs --question."),
    ] = False,
    prov: Annotated[
        Path | None, typer.Option("--prov", metavar="FILE", help="Write the way as PROV-O in Turtle.")
    ] = None,
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
        fits = print_trace(number, question, profile, reexecute=reexecute, prov=prov, json=json)
    raise typer.Exit(0 if fits else 1)


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One bench instead of all.")] = None,
    sizes: Annotated[
        list[int] | None, typer.Option("--size", min=1, help="How large the input is; may be repeated.")
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


@app.command()
def mcp(
    log: Annotated[
        Path, typer.Argument(metavar="LOG", help="An event log; made where it is absent with --write.")
    ],
    write: Annotated[bool, typer.Option("--write", help="Let the client write to the log too.")] = False,
    tbox: Annotated[
        str | None,
        typer.Option("--tbox", metavar="TBOX", help="A shipped TBox or a Turtle file, for its words."),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds of one query.")] = 30.0,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Rows of one query.")] = 10_000,
) -> None:
    """Serve a log as an agent's memory over the Model Context Protocol, on standard input and output."""
    with failing():
        from substrate.adapters.mcp_server import serve
        from substrate.rules.tbox import TBox
        from substrate.sparql.guard import QueryLimits

        words = TBox.load(tbox) if tbox else None
        serve(log, write=write, tbox=words, limits=QueryLimits(timeout=timeout, rows=limit))


@app.command()
@voiced
def logs(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A benchmark with logs.", autocompletion=completion.benchmarks),
    ],
    sparql: Annotated[
        str | None, typer.Option("--sparql", help="SELECT or ASK, of the state of each log.")
    ] = None,
    sql: Annotated[
        str | None,
        typer.Option(
            "--sql", help="SELECT, of deltas(scene, log, position, tick, op, subject, predicate, object)."
        ),
    ] = None,
    tick: Annotated[int | None, typer.Option("--tick", help="For --sparql; the last unless given.")] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds.")] = 30,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Rows.")] = 10_000,
    profile: ProfileOption = None,
    set_: SetOption = NOTHING_SET,
    json: JsonOption = False,
) -> None:
    """Ask all logs of a benchmark at once, on Spark."""
    if (sparql is None) == (sql is None):
        raise typer.BadParameter("give either --sparql or --sql")
    with failing(), others_apart():
        from orchestration.pipeline.all_logs import ask_deltas, ask_each
        from orchestration.project import open_workspace
        from orchestration.registry import INTERPRETED
        from substrate.base.errors import ParameterError

        workspace = open_workspace(profile, tuple(set_))
        if (benchmark := INTERPRETED.get(name)) is None:
            known = ", ".join(INTERPRETED)
            raise ParameterError(f"no logs of {name!r}", where=("NAME",), hint=f"Choose one of {known}")
        found = (
            ask_each(workspace, benchmark, sparql, tick, timeout, limit)
            if sparql is not None
            else ask_deltas(workspace, benchmark, sql or "", timeout, limit)
        )
    if json:
        print_json([dict(zip(found.columns, row, strict=True)) for row in found.rows])
        return
    for row in [found.columns, *found.rows]:
        sys.stdout.write("\t".join("" if value is None else str(value) for value in row) + "\n")


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
        from orchestration.pipeline.graph import STAGES
        from orchestration.project import open_workspace

        keep_code(open_workspace(profile), STAGES)


def main() -> None:
    """Run the command; :mod:`orchestration.launcher` says what is missing where not all is installed."""
    app()


if __name__ == "__main__":
    main()
