"""Same input, same bytes: the same answers computed in several ways, and the hash of each."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

import msgspec

from orchestration.benchmarks import clevrer
from orchestration.benchmarks.benchmark import Case, Interpreted
from orchestration.files import sha256
from orchestration.pipeline.cases import answer_cases, cases_of
from orchestration.scoring.scores import Repetition
from orchestration.tables import read_cases
from orchestration.workspace import Workspace
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog

SCENES = 20
"""How many scenes; the bytes of all of them are compared."""
SPLIT = "determinism"


class Given(msgspec.Struct, frozen=True):
    """What a bare interpreter computes from: parameters, and each scene's case with its log."""

    parameters: Parameters
    scenes: list[tuple[Case, str]]


WAYS = (("Spark, 4 partitions", 4), ("Spark, 4 partitions, again", 4), ("Spark, 7 partitions", 7))


def runs(workspace: Workspace, benchmark: Interpreted, stage: str) -> list[Repetition]:
    """Two runs of Spark, two numbers of partitions, and two interpreters with hash seeds of their own."""
    found: list[Repetition] = []
    with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
        out = Path(folder) / "answers.jsonl"
        for how, partitions in WAYS:
            answer_cases(workspace, benchmark, stage, out, split=SPLIT, partitions=partitions, first=SCENES)
            found.append(Repetition(how, len(out.read_bytes().splitlines()), sha256(out)))
    given = msgspec.json.encode(_given(workspace, benchmark, stage))
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", __name__]
        made = subprocess.run(command, input=given, env=environment, capture_output=True, check=True).stdout
        digest = f"sha256:{hashlib.sha256(made).hexdigest()}"
        found.append(Repetition(f"one process, hash seed {seed}", len(made.splitlines()), digest))
    return found


def _given(workspace: Workspace, benchmark: Interpreted, stage: str) -> Given:
    cases = read_cases(workspace.storage, cases_of(workspace, benchmark.source, stage))
    logs = workspace.logs(benchmark.logger.name)
    scenes = [(case, logs.patch(f"{case.scene:05d}")) for case in islice(cases, SCENES)]
    return Given(workspace.settings.of("clevrer"), scenes)


def main() -> None:
    """Answers scenes in this process: takes what :func:`runs` gives on standard input, writes the rows."""
    given = msgspec.json.decode(sys.stdin.buffer.read(), type=Given)
    for case, patch in given.scenes:
        if case.questions:
            for row in clevrer.rows(case, [EventLog.from_patch(patch)], given.parameters, SPLIT):
                sys.stdout.buffer.write(encode(row) + b"\n")


if __name__ == "__main__":
    main()
