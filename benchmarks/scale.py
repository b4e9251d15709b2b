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
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from zipfile import ZipFile

import msgspec
from pyoxigraph import NamedNode

from orchestration.benchmarks.benchmark import Case, NamedLog
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.stage import Stage
from substrate import Delta, EventLog, Op
from substrate.domains.clevrer.format import SceneQuestions
from substrate.domains.rows import Row
from substrate.generators.layout import QUESTIONS, encode_scene, write_release

ROOT = Path(__file__).resolve().parents[1]
STEPS = ("dataset", "logs", "answers", "scores")
SIZES = {"clevrer": "scenes", "gqa": "scenes", "comphy": "targets", "babi": "questions", "tiny": ""}
"""The key of `params.yaml` by which a benchmark's data grow; bAbI's counts questions of each of 20 tasks."""
EVERY = 0.25
"""Seconds between two readings of the processes."""
TICKS = os.sysconf("SC_CLK_TCK")
HEADS = "cases | wall s | CPU s | driver MiB | JVM MiB | a worker MiB | tasks | busy % | files | MiB"
FIGURES = "figures.json"
"""The figures of each stage's tasks, beside the project's folders."""
FIRST_SCENE = 10000
"""The number of the first scene that is given again."""


class Process(NamedTuple):
    """The kernel's account of a process: its command, its peak in MiB, and its processor seconds."""

    kind: str
    peak: float
    cpu: float


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


def descendants(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from descendants(int(child))


def look(pid: int, driver: int) -> Process:
    """The kernel's account of a process now; ``driver`` is the number of the process that runs the stages."""
    folder = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    stat = (folder / "stat").read_text().rpartition(")")[2].split()
    name = status["Name"].strip()
    kind = "driver" if pid == driver else "jvm" if name == "java" else "worker"
    if kind == "worker" and b"pyspark" not in (folder / "cmdline").read_bytes():
        kind = "other"
    peak = int(status.get("VmHWM", "0 kB").split()[0]) / 1024
    return Process(kind, peak, (int(stat[11]) + int(stat[12])) / TICKS)


def scenes_again(release: Path, count: int) -> Iterator[bytes]:
    """A number of scenes: those of a release of CLEVRER, repeated under new numbers."""
    questions = msgspec.json.decode((release / "questions.json").read_bytes(), type=list[msgspec.Raw])
    with ZipFile(release / "annotation.zip") as archive:
        members = archive.namelist()
        for place in range(count):
            member = members[place % len(members)]
            number, old_number = FIRST_SCENE + place, member.removesuffix(".json")[-5:].encode()
            # A record begins with its scene's number and the name of its video.
            record, scene_questions = (
                msgspec.Raw(before.replace(old_number, b"%05d" % number, 2))
                for before in (archive.read(member), bytes(questions[place % len(members)]))
            )
            yield encode_scene(
                {f"annotation/annotation_{number:05d}.json": record, QUESTIONS: scene_questions}
            )


def write_tiny(folder: Path, count: int) -> None:
    """Write a number of event records of one object, and a question about each."""
    with (
        (folder / "events.jsonl").open("wb") as events,
        (folder / "questions.json").open("wb") as question_file,
    ):
        for place in range(count):
            scene = FIRST_SCENE + place
            thing = {"color": "red", "material": "metal", "shape": "cube", "id": 0}
            record = {
                "scene_index": scene,
                "n_frames": 1,
                "objects": [thing],
                "in_outs": [],
                "collisions": [],
            }
            events.write(msgspec.json.encode(record) + b"\n")
            question = {"question_id": 0, "question": "How many?", "question_type": "descriptive"}
            questions = [question | {"program": ["objects", "count"], "answer": "1"}]
            question_file.write(b"," if place else b"[")
            question_file.write(msgspec.json.encode({"scene_index": scene, "questions": questions}))
        question_file.write(b"]")


def tiny_log(case: Case, _: Any = None) -> list[NamedLog]:
    """A log of one delta."""
    log, scene = EventLog(), NamedNode(f"urn:tiny:{case.scene}")
    log.append(Delta(tick=0, op=Op.INSERT, triple=(scene, scene, scene)))
    return [NamedLog(f"{case.scene:05d}", log)]


def tiny_rows(case: Case, logs: Sequence[EventLog], _: Any, split: str) -> Iterator[Row]:
    """A row a question, each with the answer that the question has."""
    for question in msgspec.json.decode(case.questions, type=SceneQuestions).questions:
        about = {"benchmark": "clevrer", "split": split, "subset": "descriptive", "scene": case.scene}
        answer = {"predicted": "1", "expected": question.answer, "correct": True, "log": logs[0].digest}
        yield Row(**about, question=question.question_id, **answer)


def stages_of(benchmark: str) -> Iterator[Stage]:
    """The stages from a benchmark's data to its scores."""
    from orchestration.stages.benchmark_stages import answer_stage, log_stage
    from orchestration.stages.graph import STAGES

    name = "clevrer" if benchmark == "tiny" else benchmark
    own: dict[str, Stage] = {}
    if benchmark == "tiny":
        logger = replace(CLEVRER.logger, logs=tiny_log)
        own = {
            "logs": log_stage(logger),
            "answers": answer_stage(replace(CLEVRER, logger=logger, rows=tiny_rows)),
        }
    for step in STEPS:
        yield own.get(step) or STAGES[f"{name}/{step}"]


def measure(benchmark: str, cases: int, keep: Path | None, release: Path | None) -> Measured:
    """Run the stages at a size; with ``keep``, move the data and artifacts to a folder there."""
    with tempfile.TemporaryDirectory(prefix="substrate-scale-") as scratch, ExitStack() as stack:
        project = Path(scratch)
        for name in ("params.yaml", "workspace.yaml"):
            shutil.copy(ROOT / name, project)
        profile, source, settings = "sample", benchmark, {SIZES[benchmark]: cases}
        if release or benchmark == "tiny":
            given = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="substrate-files-")))
            profile, source = "local", "clevrer"
            if release:
                write_release(given, scenes_again(release, cases))
                settings = {"annotations": given / "annotation.zip", "questions": given / "questions.json"}
            else:
                write_tiny(given, cases)
                settings = {"events": given / "events.jsonl", "questions": given / "questions.json"}
        overrides = [f"profiles.{profile}.{source}.{key}={value}" for key, value in settings.items()]
        began = time.monotonic()
        environment = os.environ | {"PYTHONPATH": str(ROOT), "DAGSTER_HOME": str(project)}
        stages = [benchmark, str(cases), "--stages", profile, *overrides]
        command = [sys.executable, str(Path(__file__).resolve()), *stages]
        running = subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL)
        seen: dict[int, Process] = {}
        while running.poll() is None:
            try:
                for pid in descendants(running.pid):
                    now, before = look(pid, running.pid), seen.get(pid)
                    # A process that has just ended has no peak any more: keep the one before.
                    seen[pid] = before._replace(cpu=now.cpu) if before and not now.peak else now
            except (FileNotFoundError, ProcessLookupError, KeyError):
                pass  # one of them has just ended
            time.sleep(EVERY)
        if running.returncode:
            sys.exit(f"error: {benchmark} at {cases} cases ended with {running.returncode}")
        wall = time.monotonic() - began
        files = [path for path in project.rglob("*") if path.is_file() and path.parent != project]
        peaks = {
            kind: max((process.peak for process in seen.values() if process.kind == kind), default=0.0)
            for kind in ("driver", "jvm", "worker")
        }
        size = sum(path.stat().st_size for path in files) / 2**20
        jobs = msgspec.json.decode((project / FIGURES).read_bytes(), type=dict[str, dict[str, float]])
        spans, room = (sum(job[key] for job in jobs.values()) for key in ("task seconds, all", "job seconds"))
        busy = 100 * spans / (room * (os.cpu_count() or 1))
        tasks = int(sum(job["tasks"] for job in jobs.values()))
        cpu = sum(process.cpu for process in seen.values())
        if keep:
            target = keep / f"{benchmark}-{cases}"
            target.mkdir(parents=True)
            for folder in ("data", "artifacts"):
                shutil.move(project / folder, target)
        return Measured(
            benchmark, cases, wall, cpu, **peaks, tasks=tasks, busy=busy, files=len(files), mib=size
        )


def run_stages(benchmark: str, profile: str, *overrides: str) -> NoReturn:
    """Run the stages in the project around the current folder, then end this process at once."""
    from orchestration.base.progress import task_figures
    from orchestration.project import open_workspace
    from substrate.base.files import replacing

    workspace, jobs = open_workspace(profile, overrides), dict[str, dict[str, float]]()
    for stage in stages_of(benchmark):
        with ExitStack() as stack:
            figures = stack.enter_context(task_figures())
            paths = [workspace.path(out) for out in stage.outs]
            stage.run(workspace, *(stack.enter_context(replacing(path)) for path in paths))
        if figures:
            jobs[stage.name] = figures
    Path(FIGURES).write_bytes(msgspec.json.encode(jobs))
    os._exit(0)


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of the logarithms by least squares.

    >>> round(exponent([1, 10, 100], [3, 30, 300]), 3)
    1.0
    """
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)


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
        sizes = [run.cases for run in runs]
        slopes = [exponent(sizes, [run[place] for run in runs]) for place in range(2, len(Measured._fields))]
        sys.stdout.write(f"| exponent | {' | '.join(f'{slope:.2f}' for slope in slopes)} |\n")


if __name__ == "__main__":
    main()
