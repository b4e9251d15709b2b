"""Same input, same bytes: the same answers computed in several ways, and the hash of each."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from orchestration.benchmarks import clevrer
from orchestration.files import sha256
from orchestration.pipeline.spark import spark_session, write_lines
from orchestration.workspace import Workspace
from substrate.domains.clevrer.parameters import Parameters

SCENES = 20
"""How many scenes; the bytes of all of them are compared."""


class Run(msgspec.Struct, frozen=True):
    """A way in which the answers were computed, how many there are, and the hash of their rows."""

    how: str
    rows: int
    sha256: str


def runs(workspace: Workspace) -> list[Run]:
    """Two runs of Spark, two numbers of partitions, and two interpreters with hash seeds of their own."""
    logs, questions = (
        workspace.artifacts / "clevrer" / "logs",
        clevrer.questions_of(workspace.data / "clevrer"),
    )
    work = clevrer.Answer(logs, questions, workspace.settings.clevrer, "determinism")
    scenes = [scene for scene in clevrer.scenes_of(logs) if scene in clevrer.questions_by_scene(questions)][
        :SCENES
    ]
    session, found = spark_session(workspace.settings.spark), []
    with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
        out = Path(folder) / "answers.jsonl"
        for how, partitions in (
            ("Spark, 4 partitions", 4),
            ("Spark, 4 partitions, again", 4),
            ("Spark, 7 partitions", 7),
        ):
            write_lines(session, scenes, work, out, stage="ablations/determinism", partitions=partitions)
            found.append(Run(how, len(out.read_bytes().splitlines()), sha256(out)))
    given = msgspec.json.encode((str(logs), str(questions), workspace.settings.clevrer, scenes))
    for seed in ("1", "2"):
        finished = subprocess.run(
            [sys.executable, "-m", __name__],
            input=given,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        found.append(
            Run(
                f"one process, hash seed {seed}",
                len(finished.stdout.splitlines()),
                f"sha256:{hashlib.sha256(finished.stdout).hexdigest()}",
            )
        )
    return found


def main() -> None:
    """Answers scenes in this process: takes what :func:`runs` gives on standard input, writes the rows."""
    logs, questions, parameters, scenes = msgspec.json.decode(
        sys.stdin.buffer.read(), type=tuple[str, str, Parameters, list[int]]
    )
    for line in clevrer.Answer(Path(logs), Path(questions), parameters, "determinism")(scenes):
        sys.stdout.buffer.write(line.encode() + b"\n")


if __name__ == "__main__":
    main()
