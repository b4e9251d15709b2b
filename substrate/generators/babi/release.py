"""bAbI's 20 tasks as a world to generate."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from substrate.generators.babi import TASKS, tell_task, write_texts
from substrate.generators.world import World

_task = msgspec.json.Decoder(tuple[str, str])


def make_task(number: int, seed: int, data: Any) -> bytes:
    """A generated task, by its place among the tasks, with ``data.questions`` questions."""
    subset = [*TASKS][number]
    return msgspec.json.encode((subset, tell_task(subset, questions=data.questions, seed=seed)))


def write_tasks(out: Path, tasks: Iterable[bytes], _: int) -> None:
    """Generated tasks as official files."""
    write_texts(out, map(_task.decode, tasks))


WORLD = World(
    numbers=lambda data: range(len(TASKS) if data.questions else 0),
    make=make_task,
    write=write_tasks,
    counted=("questions", 1000),
    unit="questions a task",
    about="bAbI's 20 tasks: stories told by a little world with gold of its own.",
)
