"""The `substrate` command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from orchestration.cli.log import log_app
from orchestration.files import filling
from orchestration.settings import parameters_of
from substrate.domains.clevrer.parameters import Parameters as ClevrerParameters
from substrate.errors import SubstrateError

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    help="Deterministic event-graph substrates: reproduce the paper, inspect its numbers, answer your own files.",
)
answer_app = typer.Typer(
    no_args_is_help=True, help="Answer a user's own files with the pipeline's interpreters."
)
generate_app = typer.Typer(no_args_is_help=True, help="Generate official-format data with truth.")
score_app = typer.Typer(no_args_is_help=True, help="Grade anyone's answers.")
predict_app = typer.Typer(no_args_is_help=True, help="Predict the unseen future from a user's own files.")
dvc_app = typer.Typer(no_args_is_help=True, help="Keep DVC in step with the asset graph.")
app.add_typer(answer_app, name="answer")
app.add_typer(log_app, name="log")
app.add_typer(predict_app, name="predict")
app.add_typer(score_app, name="score")
app.add_typer(generate_app, name="generate")
app.add_typer(dvc_app, name="dvc")
out, err = Console(), Console(stderr=True)

ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", help="sample, full or paper; the profile of params.yaml unless given."),
]
SetOption = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of params.yaml; may be repeated."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


@contextmanager
def failing() -> Iterator[None]:
    """Turn the project's own errors into a message and exit code 1."""
    try:
        yield
    except SubstrateError as error:
        err.print(f"[bold red]error:[/] {_plain(str(error))}", soft_wrap=True)
        raise typer.Exit(1) from None


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def _bars(console: Console = err) -> Progress:
    return Progress(
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


@contextmanager
def _stage_bars(names: list[str]) -> Iterator[None]:
    """A bar for every stage of a run."""
    from orchestration.pipeline.progress import watching

    with _bars() as bars:
        tasks = {name: bars.add_task(name, total=None, start=False) for name in names}

        def report(stage: str, done: int, total: int) -> None:
            bars.start_task(tasks[stage])
            bars.update(tasks[stage], completed=done, total=total)

        with watching(report):
            yield


@app.command()
def reproduce(
    profile: ProfileOption = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="BENCHMARK", help="One benchmark instead of all.")
    ] = None,
    set_: SetOption = [],  # noqa: B006  # typer copies it
    force: Annotated[
        bool, typer.Option("--force", help="Run stages although nothing they depend on has changed.")
    ] = False,
) -> None:
    """Materialise the asset graph and print the tables."""
    from orchestration.pins.dvc import settle
    from orchestration.pipeline.assets.report import PAGE
    from orchestration.pipeline.resources import WorkspaceResource
    from orchestration.pipeline.run import instance, run_stages, stages_of
    from orchestration.pipeline.stage import STAGES
    from orchestration.rendering.results import transfer_table
    from orchestration.scoring.scores import read_scores
    from orchestration.workspace import open_workspace

    with failing():
        workspace = open_workspace(profile, tuple(set_))
        names = stages_of(only)
        with _stage_bars(names):
            failed = run_stages(
                names,
                WorkspaceResource(profile=workspace.settings.profile, overrides=set_, force=force),
                instance(workspace.root),
            )
        used = workspace.settings.profile
        drifted = (
            settle(workspace.root, used, names)
            if not set_ and used == open_workspace().settings.profile
            else {}
        )
    tables = [
        (workspace.artifacts / f"{name}.md").read_text("utf-8")
        for name in names
        if f"artifacts/{{profile}}/{name}.md" in STAGES[name].outs
    ]
    # A benchmark that shares its table with others shows its own rows.
    for table in tables or [
        transfer_table(read_scores(workspace.artifacts / "scores", only or ""), workspace.settings).render(
            "md"
        )
    ]:
        out.print(f"\n{_plain(table)}", soft_wrap=True, highlight=False)
    if "report/html" in names:
        out.print(f"The report: {workspace.path(PAGE)}\n", soft_wrap=True, highlight=False)
    for check in failed:
        if check.check_name != "drift":
            err.print(
                f"[yellow]check:[/] {check.asset_key.to_user_string()}: {check.check_name}: {_plain(str(check.description))}",
                soft_wrap=True,
            )
    for path, how in sorted(drifted.items()):
        err.print(f"[yellow]drift:[/] {path} is {how} against its pin", soft_wrap=True)
    if drifted:
        err.print(
            "`substrate verify` shows what changed; `substrate accept REASON` pins the new results.",
            soft_wrap=True,
        )


@app.command()
def materialize(
    stage: Annotated[str, typer.Argument(help="A stage's name, such as clevrer/answers.")],
    profile: ProfileOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Run it although nothing it depends on has changed.")
    ] = False,
) -> None:
    """Run one stage on inputs that are there."""
    from orchestration.pipeline.resources import WorkspaceResource
    from orchestration.pipeline.run import instance, run_stages
    from orchestration.pipeline.stage import ordered_stages
    from orchestration.workspace import open_workspace

    with failing():
        workspace = open_workspace(profile)
        if stage not in (names := [known.name for known in ordered_stages()]):
            raise SubstrateError(f"no stage {stage!r}", hint=f"Choose one of {', '.join(names)}")
        with _stage_bars([stage]):
            run_stages(
                [stage],
                WorkspaceResource(profile=workspace.settings.profile, force=force),
                instance(workspace.root),
            )


@app.command()
def verify(
    profile: ProfileOption = None,
    recompute: Annotated[
        bool,
        typer.Option(
            "--recompute/--no-recompute", help="Compute everything anew, or only compare what is there."
        ),
    ] = True,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="COMMIT", help="Also report what was accepted after this commit."),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="As Markdown, for a comment on a change.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Recompute everything and compare it with the pins, cell by cell and row by row; exit 1 on drift."""
    from orchestration.pins.verification import verify_profile
    from orchestration.rendering.drift import render_markdown, render_text
    from orchestration.workspace import open_workspace

    with failing():
        workspace = open_workspace(profile)
        with _stage_bars_for_recomputation() if recompute else nullcontext():
            report = verify_profile(workspace, recompute=recompute, since=since)
    sys.stdout.write(
        msgspec.json.encode(report).decode() + "\n"
        if json
        else render_markdown(report)
        if markdown
        else render_text(report)
    )
    raise typer.Exit(1 if report.differences else 0)


def _stage_bars_for_recomputation() -> Any:
    from orchestration.pipeline.stage import ordered_stages

    return _stage_bars([stage.name for stage in ordered_stages() if stage.pinned_by == "dvc.yaml"])


@app.command()
def accept(
    reason: Annotated[str, typer.Argument(help="Why the new results are right; kept with them.")],
) -> None:
    """Pin the present data and artifacts as the results, and record why."""
    from orchestration.pins.verification import accept_results
    from orchestration.workspace import open_workspace

    with failing():
        changed = accept_results(open_workspace(), reason)
    out.print(f"pinned; {len(changed)} outputs changed" + "".join(f"\n  {path}" for path in changed))


@app.command()
def ui(port: Annotated[int, typer.Option("--port", help="Port on the loopback interface.")] = 3000) -> None:
    """The Dagster UI on the same definitions and the same instance as the command."""
    from orchestration.pipeline.run import instance
    from orchestration.workspace import find_root

    with failing():
        root = find_root()
        instance(root).dispose()
    address = f"http://127.0.0.1:{port}"
    out.print(
        f"Reproduce:    {address}/locations/substrate/jobs/reproduce_sample  (Materialize all, then watch the run)",
        soft_wrap=True,
        highlight=False,
    )
    out.print(f"Asset graph:  {address}/asset-groups", soft_wrap=True, highlight=False)
    out.print(f"Runs:         {address}/runs; Ctrl-C ends the server", soft_wrap=True, highlight=False)
    # In this process's place, so that a signal reaches the server and not only what started it.
    os.chdir(root)
    os.execv(
        sys.executable,
        [
            sys.executable,
            "-m",
            "dagster",
            "dev",
            "--workspace",
            "workspace.yaml",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ],
    )


@app.command()
def fetch(
    benchmark: Annotated[str, typer.Argument(help="clevrer, babi or gqa.")],
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="URL", help="A mirror that holds the files under their names."),
    ] = None,
    file: Annotated[
        list[str], typer.Option("--file", metavar="NAME", help="Only this file; may be repeated.")
    ] = [],  # noqa: B006  # typer copies it
) -> None:
    """Official data: resumed, verified, pinned."""
    from orchestration.fetch.downloads import fetch_shown
    from orchestration.workspace import find_root

    with failing():
        root = find_root()
        for fetched in fetch_shown(
            benchmark,
            root / "downloads" / benchmark,
            pins=root / "pins" / "downloads.json",
            base=base,
            only=file,
        ):
            out.print(_plain(str(fetched)), soft_wrap=True, highlight=False)


WorldOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder to write to.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Same seed, same bytes.")]


@generate_app.command("clevrer")
def generate_clevrer(
    out_: WorldOption,
    scenes: Annotated[int, typer.Option("--scenes", min=1, help="How many scenes.")] = 100,
    seed: SeedOption = 20,
    first: Annotated[int, typer.Option("--first", min=0, help="Number of the first scene.")] = 10000,
) -> None:
    """Rigid-body scenes in Bullet, as official annotation and question files with gold of their own."""
    from orchestration.pipeline.generate import generate_clevrer as generate

    with failing(), _bars() as bars, filling(out_) as fresh:
        task = bars.add_task("scenes", total=scenes)
        questions = generate(fresh, range(first, first + scenes), seed, lambda: bars.advance(task))
    out.print(f"{scenes} scenes and {questions} questions in {out_}", soft_wrap=True)


@generate_app.command("babi")
def generate_babi(
    out_: WorldOption,
    questions: Annotated[int, typer.Option("--questions", min=1, help="How many a task.")] = 1000,
    seed: SeedOption = 20,
) -> None:
    """Stories of bAbI's 20 tasks in the official format, with gold of their own."""
    from substrate.worlds.babi import write_tasks

    with failing(), filling(out_) as fresh:
        files = write_tasks(fresh, questions=questions, seed=seed)
    out.print(f"{len(files)} tasks of {questions} questions in {out_}", soft_wrap=True)


@generate_app.command("gqa")
def generate_gqa(
    out_: WorldOption,
    scenes: Annotated[int, typer.Option("--scenes", min=1, help="How many scenes.")] = 100,
    seed: SeedOption = 20,
) -> None:
    """Everyday scenes as official scene graphs and questions, with gold of their own."""
    from substrate.worlds.gqa import write

    with failing(), filling(out_) as fresh:
        write(fresh, scenes=scenes, seed=seed)
    out.print(f"{scenes} scenes in {out_}", soft_wrap=True)


@generate_app.command("comphy")
def generate_comphy(
    out_: WorldOption,
    targets: Annotated[int, typer.Option("--targets", min=1, help="How many targets.")] = 60,
    seed: SeedOption = 20,
) -> None:
    """Targets with four reference videos each: rigid bodies with hidden mass and charge, and questions with
    gold of their own.
    """
    from orchestration.pipeline.generate import generate_comphy as generate

    with failing(), _bars() as bars, filling(out_) as fresh:
        task = bars.add_task("targets", total=targets)
        questions = generate(fresh, range(targets), seed, lambda: bars.advance(task))
    out.print(f"{targets} targets and {questions} questions in {out_}", soft_wrap=True)


@generate_app.command("twin")
def generate_twin(
    out_: WorldOption,
    specs: Annotated[int, typer.Option("--specs", min=1, help="How many specifications.")] = 500,
    seed: SeedOption = 20,
) -> None:
    """Twin-EventLog: villages, interventions and questions with gold of their own, and their datasheet."""
    from substrate.worlds.smallville import spec_line, write_specs

    with failing(), _bars() as bars, filling(out_) as fresh:
        write_specs(
            fresh,
            (spec_line(number, seed) for number in bars.track(range(specs), description="specifications")),
            seed,
        )
    out.print(f"{specs} specifications in {out_}", soft_wrap=True)


AnnotationsOption = Annotated[
    Path | None, typer.Option("--annotations", metavar="DIR_OR_ZIP", help="Official annotations.")
]
EventsOption = Annotated[
    Path | None,
    typer.Option("--events", metavar="FILE", help="Compact event records as JSON lines; may be gzip."),
]
OutOption = Annotated[Path, typer.Option("--out", metavar="OUT.jsonl", help="Rows, one a question.")]


@answer_app.command("clevrer")
def answer_clevrer(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="The official list, or JSON lines of the same records; may be gzip.",
        ),
    ],
    out_: OutOption,
    annotations: AnnotationsOption = None,
    events: EventsOption = None,
    set_: SetOption = [],  # noqa: B006  # typer copies it
    json: JsonOption = False,
) -> None:
    """CLEVRER questions on annotations or event files."""
    from orchestration.benchmarks.answer import answer_clevrer as answer

    _answer(
        lambda advance: answer(
            annotations, events, questions, out_, parameters_of(ClevrerParameters, "clevrer", set_), advance
        ),
        questions,
        json,
    )


@answer_app.command("clevrer-humans")
def answer_clevrer_humans(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions", metavar="FILE", help="The released file of human causal questions; may be gzip."
        ),
    ],
    out_: OutOption,
    annotations: AnnotationsOption = None,
    events: EventsOption = None,
    set_: SetOption = [],  # noqa: B006  # typer copies it
    json: JsonOption = False,
) -> None:
    """Causal questions in people's own words, resolved to events of the scene."""
    from orchestration.benchmarks.answer import answer_clevrer_humans as answer

    _answer(
        lambda advance: answer(
            annotations, events, questions, out_, parameters_of(ClevrerParameters, "clevrer", set_), advance
        ),
        questions,
        json,
    )


@answer_app.command("babi")
def answer_babi(
    tasks: Annotated[
        Path, typer.Option("--tasks", metavar="DIR", help="Official files qaN_….txt, gzipped or not.")
    ],
    out_: OutOption,
    json: JsonOption = False,
) -> None:
    """The tasks of bAbI, with the facts that each answer rests on."""
    from orchestration.benchmarks.answer import answer_babi as answer

    _answer(lambda advance: answer(tasks, out_, advance), tasks, json)


@answer_app.command("gqa")
def answer_gqa(
    scene_graphs: Annotated[
        Path, typer.Option("--scene-graphs", metavar="FILE", help="Official scene graphs; may be gzip.")
    ],
    questions: Annotated[
        Path,
        typer.Option(
            "--questions", metavar="FILE", help="Official questions with semantic programs; may be gzip."
        ),
    ],
    out_: OutOption,
    json: JsonOption = False,
) -> None:
    """GQA questions on scene graphs: a row by name and a row by id for each."""
    from orchestration.benchmarks.answer import answer_gqa as answer

    _answer(lambda advance: answer(scene_graphs, questions, out_, advance), questions, json)


@answer_app.command("comphy")
def answer_comphy(
    annotations: Annotated[
        Path,
        typer.Option(
            "--annotations", metavar="DIR_OR_ZIP", help="Annotations of targets and their reference videos."
        ),
    ],
    questions: Annotated[
        Path,
        typer.Option(
            "--questions", metavar="FILE", help="A list, or JSON lines of the same records; may be gzip."
        ),
    ],
    out_: OutOption,
    set_: SetOption = [],  # noqa: B006  # typer copies it
    json: JsonOption = False,
) -> None:
    """ComPhy questions; `--set comphy.infer_properties=true` infers mass and charge first."""
    from orchestration.benchmarks.answer import answer_comphy as answer
    from substrate.domains.comphy.parameters import Parameters

    _answer(
        lambda advance: answer(
            annotations, questions, out_, parameters_of(Parameters, "comphy", set_), advance
        ),
        questions,
        json,
    )


SpecsOption = Annotated[
    Path, typer.Option("--specs", metavar="FILE", help="Specifications as JSON lines; may be gzip.")
]


@answer_app.command("twin")
def answer_twin(specs: SpecsOption, out_: OutOption, json: JsonOption = False) -> None:
    """Twin specifications: a row for each arm, replayed from the specification alone."""
    from orchestration.benchmarks.answer import answer_twin as answer

    _answer(lambda advance: answer(specs, out_, advance), specs, json)


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
    json: JsonOption = False,
) -> None:
    """Per-arm, joint and divergence accuracy of any agent's answers, with Wilson intervals, by linkage and
    query too.
    """
    from orchestration.benchmarks.twin import specs_of
    from orchestration.scoring.grading import score_twin as grade
    from orchestration.scoring.grading import scoreboard
    from orchestration.workspace import open_workspace

    with failing():
        scores = grade(answers, specs or specs_of(open_workspace(profile).data / "twin"))
    sys.stdout.write((msgspec.json.encode(scores).decode() if json else scoreboard(scores)) + "\n")


def _answer(answer: Callable[[Callable[[int, int], None]], Any], questions: Path, json: bool) -> None:
    """Run an answering function under a progress bar, and close with one line of counts."""
    with failing(), _bars() as bars:
        task = bars.add_task("scenes", total=None)
        tally = answer(lambda done, total: bars.update(task, completed=done, total=total))
    if tally.errors:
        err.print(
            f"[yellow]could not run:[/] {tally.errors}, the first of them: {_plain(f'{questions}: {tally.first_error}')}",
            soft_wrap=True,
        )
    sys.stdout.write((msgspec.json.encode(tally).decode() if json else tally.line()) + "\n")


@predict_app.command("clevrer")
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
) -> None:
    """Collisions of the unseen future from observed motion, by the calibrated simulator."""
    from orchestration.cli.predict import predict_clevrer as predict

    with failing(), _bars() as bars:
        task = bars.add_task("scenes", total=None)
        scenes, collisions = predict(
            trajectories,
            events,
            at,
            until,
            out_,
            lambda done, total: bars.update(task, completed=done, total=total),
        )
    sys.stdout.write(f"{scenes} scenes, {collisions} collisions predicted in frames {at + 1} to {until}\n")


@app.command()
def explain(
    answer: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER",
            help="clevrer/SCENE/QUESTION, babi/TASK/STORY/QUESTION, gqa/by_name|by_id/IMAGE/QUESTION or twin/SPEC/ARM.",
        ),
    ],
    profile: ProfileOption = None,
    annotations: Annotated[
        Path | None,
        typer.Option(
            "--annotations", metavar="DIR_OR_ZIP", help="Your own annotations instead of the profile's."
        ),
    ] = None,
    events: Annotated[
        Path | None,
        typer.Option("--events", metavar="FILE", help="Your own event file instead of the profile's data."),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option("--tasks", metavar="DIR", help="Your own bAbI tasks instead of the profile's."),
    ] = None,
    scene_graphs: Annotated[
        Path | None,
        typer.Option(
            "--scene-graphs", metavar="FILE", help="Your own scene graphs instead of the profile's."
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="Your own questions, with --annotations, --events or --scene-graphs.",
        ),
    ] = None,
    specs: Annotated[
        Path | None,
        typer.Option(
            "--specs", metavar="FILE", help="Your own twin specifications instead of the profile's."
        ),
    ] = None,
    set_: SetOption = [],  # noqa: B006  # typer copies it
    json: JsonOption = False,
) -> None:
    """Why: the steps to an answer, with the queries, triples and ticks behind each."""
    from orchestration.lineage.explain import Input, explain_answer

    with failing():
        explained = explain_answer(
            answer, Input(profile, tuple(set_), annotations, events, tasks, scene_graphs, questions, specs)
        )
    sys.stdout.write(msgspec.json.encode(explained.record).decode() + "\n" if json else explained.text)


@app.command()
def trace(
    number: Annotated[
        str,
        typer.Argument(
            metavar="NUMBER",
            help="BENCHMARK/SUBSET/METRIC, as in scores and tables: clevrer/explanatory/per_question.",
        ),
    ],
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
    from orchestration.cli.trace import print_trace

    with failing():
        fits = print_trace(number, question, profile, reexecute=reexecute, prov=prov, json=json)
    raise typer.Exit(0 if fits else 1)


@app.command()
def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help="clevrer")] = "clevrer",
    scenes: Annotated[int, typer.Option("--scenes", min=1)] = 200,
    json: JsonOption = False,
) -> None:
    """Speed, as a ratio to a reference measured in the same run."""
    from orchestration.cli.bench import BENCHES

    with failing():
        if name not in BENCHES:
            raise SubstrateError(f"no benchmark {name!r}", hint=f"Choose one of {', '.join(BENCHES)}")
        figures = BENCHES[name](scenes)
    if json:
        sys.stdout.write(msgspec.json.encode(figures).decode() + "\n")
    else:
        for figure in figures:
            out.print(str(figure), highlight=False, soft_wrap=True)


@dvc_app.command("sync")
def dvc_sync() -> None:
    """Write dvc.yaml from the asset graph."""
    from orchestration.pins.dvc import sync
    from orchestration.workspace import find_root

    with failing():
        changed = sync(find_root())
    out.print("dvc.yaml written" if changed else "dvc.yaml is up to date")


def main() -> None:
    """Run the command."""
    app()


if __name__ == "__main__":
    main()
