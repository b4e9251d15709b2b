"""Spark compared with a plain loop over the same cases: the table of docs/scale.md.

    python benchmarks/beside_a_loop.py gqa 1000 [ROUNDS] [--set KEY=VALUE …]

Both make an index of logs, the logs themselves, and the rows of answers from the same official files. The
loop is this process alone: it reads a case, builds its log, keeps the log's text in one Parquet file, and
answers from the log that it has in memory. Spark runs the stages of the platform, in a session whose start is
measured by itself. The first round is cold, and the later ones are warm: the tables are removed, the session
and its workers stay. The bytes of index and answers are compared. Processor seconds are those of all
processes, by the kernel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.processes import KINDS, spent
from benchmarks.projects import run_stage, scratch_project
from orchestration.benchmarks.benchmark import Interpreted
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.spark.session import spark_session
from orchestration.stages.graph import STAGES
from orchestration.workspace.dataset_files import files_of, split_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.log_table import LOGS, LogEntry
from orchestration.workspace.storage import ROWS_AT_ONCE
from substrate.domains.rows import encode


def loop(workspace: Workspace, benchmark: Interpreted, out: Path) -> None:
    """Make the files of the stages in this process, case by case."""
    source, logger = benchmark.source, benchmark.logger
    settings, split = workspace.settings, split_of(workspace, source)
    for_logs, for_rows = logger.parameters.of(settings), benchmark.parameters.of(settings)
    out.mkdir()
    batch: list[dict[str, Any]] = []
    with (
        (out / "index.jsonl").open("wb") as index,
        (out / "answers.jsonl").open("wb") as answers,
        pq.ParquetWriter(out / "logs.parquet", LOGS, compression="zstd") as table,
    ):
        for number, read in enumerate(source.cases(files_of(workspace, source), None, True).each):
            case = read._replace(source=read.source.removeprefix(f"{workspace.home}/"))
            named_logs = logger.logs(case, for_logs)
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
                rows = benchmark.rows(case, logs, for_rows, split)
                answers.writelines(encode(row) + b"\n" for row in rows)
        table.write_table(pa.Table.from_pylist(batch, LOGS))


def spark(workspace: Workspace, benchmark: Interpreted) -> None:
    """Run the stages of logs and of answers."""
    shutil.rmtree(workspace.root / "storage", ignore_errors=True)
    for step in ("logs", "answers"):
        run_stage(workspace, STAGES[f"{benchmark.name}/{step}"])


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=("clevrer", "gqa"))
    parser.add_argument("scenes", type=int)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given: Any = parser.parse_args()
    benchmark: Any = BENCHMARKS[given.benchmark]
    with scratch_project() as project:
        os.chdir(project)
        size = f"profiles.sample.{given.benchmark}.scenes={given.scenes}"
        workspace = open_workspace("sample", (size, *given.set))
        start = spent(lambda: spark_session(workspace.settings.spark).range(1).count())
        run_stage(workspace, STAGES[f"{given.benchmark}/dataset"])
        rounds: dict[str, list[dict[str, float]]] = {"loop": [], "Spark": []}
        for number in range(1 + given.rounds):
            rounds["loop"].append(spent(lambda at=number: loop(workspace, benchmark, project / f"loop{at}")))
            rounds["Spark"].append(spent(lambda: spark(workspace, benchmark)))
        mine, theirs = project / "loop0", workspace.artifacts / given.benchmark
        for loop_file, spark_file in (
            ("index.jsonl", "logs/index.jsonl"),
            ("answers.jsonl", "answers.jsonl"),
        ):
            assert (mine / loop_file).read_bytes() == (theirs / spark_file).read_bytes(), loop_file
    sys.stdout.write(f"| {given.scenes:,} cases | CPU s | {' | '.join(KINDS)} | times the loop |\n")
    sys.stdout.write(f"{'|---' * (3 + len(KINDS))}|\n")
    of_loop = median(sum(seconds.values()) for seconds in rounds["loop"])
    loop_median, spark_median = (
        {kind: median(seconds[kind] for seconds in rounds[name][1:]) for kind in KINDS} for name in rounds
    )
    rows = {
        "a session's start": start,
        "loop": loop_median,
        "Spark, first": rounds["Spark"][0],
        "Spark, warm": spark_median,
    }
    for name, seconds in rows.items():
        parts = " | ".join(f"{seconds[kind]:.2f}" for kind in KINDS)
        total = sum(seconds.values())
        sys.stdout.write(f"| {name} | {total:.2f} | {parts} | {total / of_loop:.2f} |\n")
    sys.stdout.flush()
    os._exit(0)  # without waiting for the end of Spark's session


if __name__ == "__main__":
    main()
