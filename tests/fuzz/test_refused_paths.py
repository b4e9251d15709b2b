"""A pipe, a device, a folder or a file of holes is refused at every door that takes a path."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestration.fetch.archives import extract
from orchestration.project import SETTINGS
from orchestration.settings import load_settings
from research.domains.grading import read_answers
from research.domains.humans import read_human_questions
from research.domains.perception.format import proposal_names
from substrate import EventLog, TBox
from substrate.base.errors import SubstrateError
from substrate.cli._log_common import text_of_file
from substrate.domains.babi.format import read_tasks
from substrate.domains.clevrer.format import annotation_names, read_questions, read_scene_events
from substrate.domains.clevrer.trajectories import read_trajectories
from substrate.domains.comphy import format as comphy
from substrate.domains.gqa import format as gqa
from substrate.domains.smallville.format import read_gold, read_specs
from substrate.log.repair import repair

DOORS: dict[str, Callable[[Path], object]] = {
    "annotations": annotation_names,
    "answers": lambda path: read_answers(path, ()),
    "archive": lambda path: extract(path, str, path.parent / "out", what="file"),
    "babi tasks": lambda path: read_tasks(path.rename(path.with_name("qa1_test.txt"))),
    "comphy annotations": comphy.target_names,
    "comphy questions": comphy.read_questions,
    "events": read_scene_events,
    "gold": read_gold,
    "gqa graphs": gqa.read_scene_graphs,
    "gqa questions": gqa.read_questions,
    "human questions": read_human_questions,
    "log": EventLog.read,
    "log to repair": repair,
    "log to write": EventLog.open,
    "parameters": lambda path: load_settings(path, SETTINGS),
    "proposals": proposal_names,
    "questions": read_questions,
    "specs": read_specs,
    "tbox": TBox.load,
    "text": text_of_file,
    "trajectories": read_trajectories,
}


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def holes(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(5 << 30)


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    """End a test whose door waits for a pipe or takes all memory with an error, not a hang."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, _waited)
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, handler)


def _waited(number: int, frame: object) -> None:
    raise AssertionError("it waits")


@pytest.mark.parametrize("make", [pipe, device, holes])
@pytest.mark.parametrize("name", DOORS)
def test_a_path_that_is_no_file_is_refused(name: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    for suffix in (".ttl", ".zip", ".tar.gz"):
        path = tmp_path / f"qa1_test{suffix}"
        make(path)
        with pytest.raises(SubstrateError, match=r"not a file|holes|more than"):
            DOORS[name](path)
