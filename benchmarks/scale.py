"""The cost of a benchmark's stages as the number of cases grows: the table of docs/scale.md.

    python benchmarks/scale.py gqa 200 1000 5000 10159 20000
    python benchmarks/scale.py clevrer 200 1000 5000
    python benchmarks/scale.py clevrer 200 1000 5000 20000 --again data/full/clevrer
    python benchmarks/scale.py tiny 1000 10000 100000 1000000

Each size is one run of dataset, logs, answers and scores from nothing, in a separate project and process. The
peak of a process is the kernel's (VmHWM); processor time is that of all processes. Each size is printed when
it is measured, as JSON with --json; exponents are least squares of the logarithms. With --keep FOLDER the
data and artifacts of each size stay there, as BENCHMARK-CASES. With --again FOLDER no scene is simulated: the
cases are those of a generated release of CLEVRER, repeated under new numbers, and given as a user's own
files. `tiny` is a user's files too: event records with one object and a question each. Their log has one
delta, and their answer is known, so that the cost is the platform's own cost of a case.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from benchmarks.processes import KINDS, Process, peak, watched
from benchmarks.projects import ROOT, run_stage, scratch_project
from benchmarks.scaled_input import TINY, write_again, write_tiny
from benchmarks.speed.measure import exponent
from orchestration.stage import Stage

STEPS = ("dataset", "logs", "answers", "scores")
SIZES = {"clevrer": "scenes", "gqa": "scenes", "comphy": "targets", "babi": "questions", "tiny": ""}
"""The key of `params.yaml` by which a benchmark's data grow; bAbI's counts questions of each of 20 tasks."""
HEADS = "cases | wall s | CPU s | driver MiB | JVM MiB | a worker MiB | tasks | busy % | files | MiB"
FIGURES = "figures.json"
"""The figures of each stage's tasks, beside the project's folders."""


class Measured(NamedTuple):
    """A run: its seconds, the peaks of its processes (MiB), its tasks, and the files that it left (MiB).

    ``busy`` is the share of the jobs' core-seconds in which tasks were at work, in per cent.
    """

    benchmark: str
    cases: int
    wall: float
    cpu: float
    driver: float
    jvm: float
    worker: float
    tasks: int
    busy: float
    files: int
    mib: float


def stages_of(benchmark: str) -> Iterator[Stage]:
    """The stages from a benchmark's data to its scores."""
    from orchestration.stages.benchmark_stages import answer_stage, log_stage
    from orchestration.stages.graph import STAGES

    name = "clevrer" if benchmark == "tiny" else benchmark
    tiny = {"logs": log_stage(TINY.logger), "answers": answer_stage(TINY)}
    for step in STEPS:
        yield tiny[step] if name != benchmark and step in tiny else STAGES[f"{name}/{step}"]


def measure(benchmark: str, cases: int, keep: Path | None, release: Path | None) -> Measured:
    """Run the stages at a size; with ``keep``, move the data and artifacts to a folder there."""
    with scratch_project() as project, tempfile.TemporaryDirectory(prefix="substrate-files-") as files:
        if release or benchmark == "tiny":
            folder = Path(files)
            given = write_again(folder, release, cases) if release else write_tiny(folder, cases)
            settings = {f"local.clevrer.{key}": path for key, path in given.items()}
        else:
            settings = {f"sample.{benchmark}.{SIZES[benchmark]}": cases}
        began = time.monotonic()
        processes = run_and_watch(benchmark, cases, project, settings)
        wall = time.monotonic() - began
        made = [path for path in project.rglob("*") if path.is_file() and path.parent != project]
        jobs = msgspec.json.decode((project / FIGURES).read_bytes(), type=dict[str, dict[str, float]])
        spans, room = (sum(job[key] for job in jobs.values()) for key in ("task seconds, all", "job seconds"))
        measured = Measured(
            benchmark,
            cases,
            wall=wall,
            cpu=sum(process.cpu for process in processes),
            **{kind: peak(processes, kind) for kind in KINDS},
            tasks=int(sum(job["tasks"] for job in jobs.values())),
            busy=100 * spans / (room * (os.cpu_count() or 1)),
            files=len(made),
            mib=sum(path.stat().st_size for path in made) / 2**20,
        )
        if keep:
            target = keep / f"{benchmark}-{cases}"
            target.mkdir(parents=True)
            for name in ("data", "artifacts"):
                shutil.move(project / name, target)
        return measured


def run_and_watch(benchmark: str, cases: int, project: Path, settings: Mapping[str, object]) -> list[Process]:
    """Run this program's hidden option ``--stages`` in a project; the accounts of the run's processes.

    Args:
        settings: the settings of the run below `profiles`; the first part of each is the profile.
    """
    profile = next(iter(settings)).partition(".")[0]
    overrides = [f"profiles.{key}={value}" for key, value in settings.items()]
    command = [sys.executable, str(Path(__file__).resolve()), benchmark, str(cases)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DAGSTER_HOME": str(project)}
    running = subprocess.Popen(
        [*command, "--stages", profile, *overrides], cwd=project, env=environment, stdout=subprocess.DEVNULL
    )
    processes = watched(running)
    if running.returncode:
        sys.exit(f"error: {benchmark} at {cases} cases ended with {running.returncode}")
    return processes


def run_stages(benchmark: str, profile: str, *overrides: str) -> NoReturn:
    """Run the stages in the project around the current folder, then end this process at once."""
    from orchestration.base.progress import task_figures
    from orchestration.project import open_workspace

    workspace, jobs = open_workspace(profile, overrides), dict[str, dict[str, float]]()
    for stage in stages_of(benchmark):
        with task_figures() as figures:
            run_stage(workspace, stage)
        if figures:
            jobs[stage.name] = figures
    Path(FIGURES).write_bytes(msgspec.json.encode(jobs))
    os._exit(0)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=SIZES)
    parser.add_argument("cases", type=int, nargs="+")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--again", type=Path, metavar="FOLDER")
    parser.add_argument("--stages", nargs="+", help=argparse.SUPPRESS)
    given: Any = parser.parse_args()
    if given.stages:
        run_stages(given.benchmark, *given.stages)
    if given.again and given.benchmark != "clevrer":
        parser.error("--again takes a release of clevrer")
    runs = []
    if not given.json:
        sys.stdout.write(f"| {HEADS} |\n")
        sys.stdout.write(f"{'|---' * (1 + HEADS.count('|'))}|\n")
    for cases in given.cases:
        runs.append(run := measure(given.benchmark, cases, given.keep, given.again))
        row = f"| {cases:,} | {run.wall:.0f} | {run.cpu:.0f} | {run.driver:.0f} | {run.jvm:.0f} "
        row += f"| {run.worker:.0f} | {run.tasks} | {run.busy:.0f} | {run.files} | {run.mib:.1f} |"
        sys.stdout.write(f"{json.dumps(run._asdict()) if given.json else row}\n")
        sys.stdout.flush()
    if len(runs) > 1 and not given.json:
        places = range(Measured._fields.index("wall"), len(Measured._fields))
        slopes = [exponent([(run.cases, run[place]) for run in runs]) for place in places]
        sys.stdout.write(f"| exponent | {' | '.join(f'{slope:.2f}' for slope in slopes)} |\n")


if __name__ == "__main__":
    main()
