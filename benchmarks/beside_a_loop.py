"""Spark's way beside a plain loop over the same cases: the table of docs/scale.md.

    python benchmarks/beside_a_loop.py gqa 1000 [ROUNDS] [--set KEY=VALUE …]

Both make an index of logs, the logs themselves, and the rows of answers from the same official files. The
loop is this process alone: it reads a case, builds its log, keeps the log's text in one Parquet file, and
answers from the log that it has in memory. Spark's way is the stages of the platform. Its first round begins
with a session, and the later ones are warm: the tables are removed, the session and its workers stay. The
bytes of index and answers are compared. Processor seconds are those of all processes, by the kernel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from orchestration.benchmarks.benchmark import Interpreted
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.spark.session import spark_session
from orchestration.stages.graph import STAGES
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, split_of
from orchestration.workspace.storage import ROWS_AT_ONCE
from orchestration.workspace.tables import LOGS, LogEntry
from substrate.base.files import replacing
from substrate.domains.rows import encode

ROOT = Path(__file__).resolve().parents[1]


def spent() -> dict[str, float]:
    """Processor seconds so far: of this process, of the JVM, and of Python's workers, ended ones included."""
    seconds = {"driver": time.process_time(), "jvm": 0.0, "workers": 0.0}
    for child in psutil.Process().children(recursive=True):
        try:
            times, kind = child.cpu_times(), "jvm" if child.name() == "java" else "workers"
            seconds[kind] += times.user + times.system
            if kind == "workers":  # those that the daemon has buried
                seconds[kind] += times.children_user + times.children_system
        except psutil.NoSuchProcess:
            pass
    return seconds


def measured(work: Callable[[], object]) -> dict[str, float]:
    """The processor seconds that some work takes, by kind of process."""
    before = spent()
    work()
    return {kind: seconds - before[kind] for kind, seconds in spent().items()}


def loop(workspace: Workspace, benchmark: Interpreted, out: Path) -> None:
    """The same files from one process, a case after the other."""
    source, logger = benchmark.source, benchmark.logger
    settings, split = workspace.settings, split_of(workspace, source)
    of_logs, of_rows = logger.parameters.of(settings), benchmark.parameters.of(settings)
    out.mkdir()
    batch: list[dict[str, Any]] = []
    with (
        (out / "index.jsonl").open("wb") as index,
        (out / "answers.jsonl").open("wb") as answers,
        pq.ParquetWriter(out / "logs.parquet", LOGS, compression="zstd") as table,
    ):
        for number, read in enumerate(source.cases(files_of(workspace, source), None, True).each):
            case = read._replace(source=read.source.removeprefix(f"{workspace.home}/"))
            named_logs = logger.logs(case, of_logs)
            for place, named in enumerate(named_logs):
                log, origin = named.log, named.source or case.source
                entry = LogEntry(named.name, log.digest, len(log), origin)
                index.write(msgspec.json.encode(entry) + b"\n")
                row = (number, place, named.name, log.digest, len(log), origin, log.to_patch())
                batch.append(dict(zip(LOGS.names, row, strict=True)))
            if len(batch) >= ROWS_AT_ONCE:
                table.write_table(pa.Table.from_pylist(batch, LOGS))
                batch = []
            if case.questions:
                logs = [named.log for named in named_logs]
                answers.writelines(encode(row) + b"\n" for row in benchmark.rows(case, logs, of_rows, split))
        table.write_table(pa.Table.from_pylist(batch, LOGS))


def spark(workspace: Workspace, benchmark: Interpreted) -> None:
    """The stages of logs and answers, from the official files on."""
    shutil.rmtree(workspace.root / "storage", ignore_errors=True)
    for step in ("logs", "answers"):
        run(workspace, f"{benchmark.name}/{step}")


def run(workspace: Workspace, name: str) -> None:
    """A stage."""
    stage = STAGES[name]
    with ExitStack() as stack:
        paths = [workspace.path(out) for out in stage.outs]
        stage.run(workspace, *(stack.enter_context(replacing(path)) for path in paths))


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=("clevrer", "gqa"))
    parser.add_argument("scenes", type=int)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given: Any = parser.parse_args()
    benchmark: Any = BENCHMARKS[given.benchmark]
    with tempfile.TemporaryDirectory(prefix="substrate-beside-") as scratch:
        project = Path(scratch)
        for name in ("params.yaml", "workspace.yaml"):
            shutil.copy(ROOT / name, project)
        os.chdir(project)
        size = f"profiles.sample.{given.benchmark}.scenes={given.scenes}"
        workspace = open_workspace("sample", (size, *given.set))
        start = measured(lambda: spark_session(workspace.settings.spark).range(1).count())
        run(workspace, f"{given.benchmark}/dataset")
        rounds: dict[str, list[dict[str, float]]] = {"loop": [], "Spark": []}
        for number in range(1 + given.rounds):
            rounds["loop"].append(
                measured(lambda at=number: loop(workspace, benchmark, project / f"loop{at}"))
            )
            rounds["Spark"].append(measured(lambda: spark(workspace, benchmark)))
        mine, theirs = project / "loop0", workspace.artifacts / given.benchmark
        for loop_file, spark_file in (
            ("index.jsonl", "logs/index.jsonl"),
            ("answers.jsonl", "answers.jsonl"),
        ):
            assert (mine / loop_file).read_bytes() == (theirs / spark_file).read_bytes(), loop_file
    heads = ("driver", "jvm", "workers")
    sys.stdout.write(f"| {given.scenes:,} cases | CPU s | {' | '.join(heads)} | times the loop |\n")
    sys.stdout.write(f"{'|---' * (3 + len(heads))}|\n")
    of_loop = median(sum(seconds.values()) for seconds in rounds["loop"])
    rows = {
        "a session's start": start,
        "loop": None,
        "Spark, first": rounds["Spark"][0],
        "Spark, warm": None,
    }
    for name, seconds in rows.items():
        seconds = seconds or {
            kind: median(seconds[kind] for seconds in rounds[name.partition(",")[0]][1:]) for kind in heads
        }
        parts = " | ".join(f"{seconds[kind]:.2f}" for kind in heads)
        total = sum(seconds.values())
        sys.stdout.write(f"| {name} | {total:.2f} | {parts} | {total / of_loop:.2f} |\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
