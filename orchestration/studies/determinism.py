"""Determinism: the same answers computed in several ways, and the hash of each result."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from orchestration.benchmarks.benchmark import Case
from orchestration.benchmarks.clevrer import CLEVRER
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.rows import encode
from substrate.log.event_log import EventLog

# The benchmark whose answers are recomputed.
BASE = CLEVRER
# The number of scenes; all of their bytes are compared.
SCENES = 20
SPLIT = "determinism"
# The input of an interpreter: parameters, and each scene's case with its log.
Given = tuple[Parameters, list[tuple[Case, str]]]
# The conditions: Spark with these numbers of partitions.
WAYS = {"Spark, 4 partitions": 4, "Spark, 4 partitions, again": 4, "Spark, 7 partitions": 7}
# Further conditions: interpreters without Spark, with these hash seeds.
SEEDS = ("1", "2")


class Repetition(msgspec.Struct, frozen=True):
    """A way to compute the answers, their number, and the hash of the rows."""

    how: str
    rows: int
    sha256: str


def in_processes(parameters: Any, scenes: Sequence[tuple[Case, str]]) -> Iterator[Repetition]:
    """Answer scenes in a separate interpreter for each hash seed.

    Args:
        parameters: the benchmark's parameters.
        scenes: cases, each with the text of its log.
    """
    given = msgspec.json.encode((parameters, scenes))
    for seed in SEEDS:
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", __name__]
        made = subprocess.run(command, input=given, env=environment, capture_output=True, check=True).stdout
        digest = f"sha256:{hashlib.sha256(made).hexdigest()}"
        yield Repetition(f"one process, hash seed {seed}", len(made.splitlines()), digest)


def main() -> None:
    """Answer the scenes that :func:`in_processes` gives on standard input, and write the rows."""
    parameters, scenes = msgspec.json.decode(sys.stdin.buffer.read(), type=Given)
    for case, patch in scenes:
        if case.questions:
            for row in BASE.rows(case, [EventLog.from_patch(patch)], parameters, SPLIT):
                sys.stdout.buffer.write(encode(row) + b"\n")


if __name__ == "__main__":
    main()
