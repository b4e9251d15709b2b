"""A power loss at any moment of a replacement, an acceptance or an answer leaves the old or the new, and
loses nothing that was acknowledged; nor does a call that the disk refuses.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from crash_states import FAULTS, Failing, Recorder

from orchestration.ledger import dvc
from orchestration.ledger import manifest as ledger
from orchestration.ledger.acceptance import accept_results
from orchestration.ledger.pinned import ACCEPTED, broken, read_pin_file
from orchestration.ledger.soundness import Acceptance
from orchestration.models.transcript import (
    Reply,
    TranscriptError,
    journal,
    make_record,
    partial_of,
    read_transcript,
    settle,
)
from orchestration.project import SETTINGS
from orchestration.settings import load_settings
from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import clear_leftovers, filling, replacing

CUTS = int(os.environ.get("SUBSTRATE_CRASH_CUTS", "2"))
"""For each write that was not synced, how many ways to cut it off; the more, the more states."""
ALL = "SUBSTRATE_CRASH_CUTS" in os.environ
"""Look at all states, and let each call fail, where it is set; else at a sample."""
Said = Callable[..., None]
"""Takes what may be found from now on."""


class Case(NamedTuple):
    """Work in a folder that says what may be found there, and what the next run makes of the folder."""

    work: Callable[[Path, Said], None]
    found: Callable[[Path], Hashable]


def text(number: int) -> bytes:
    return f"{number} ".encode() * 400


def number_of(path: Path) -> int:
    """The version of a file; an error where it is no whole one."""
    if not path.exists():
        return 0
    number = int(path.read_bytes().split()[0])
    assert path.read_bytes() == text(number)
    return number


def replaced_file(root: Path, may: Said) -> None:
    for before, after in pairwise(range(4)):
        may(before, after)
        with replacing(root / "out") as fresh:
            fresh.write_bytes(text(after))
        may(after)


def file_found(root: Path) -> Hashable:
    clear_leftovers(root / "out")
    assert {path.name for path in root.iterdir()} <= {"out", "params.yaml"}
    return number_of(root / "out")


def replaced_folder(root: Path, may: Said) -> None:
    for before, after in pairwise(range(3)):
        may(before, after)
        with replacing(root / "out") as fresh:
            (fresh / "in").mkdir(parents=True)
            for name in ("one", "in/two"):
                (fresh / name).write_bytes(text(after))
        may(after)


def folder_found(root: Path) -> Hashable:
    clear_leftovers(root / "out")
    first, second = number_of(root / "out/one"), number_of(root / "out/in/two")
    assert first == second
    return first


def filled(root: Path, may: Said) -> None:
    before = (0, 0)
    for number in (1, 2):
        may(*((first, second) for first in (before[0], number) for second in (before[1], number)))
        with filling(root / "out") as fresh:
            (fresh / "in").mkdir()
            for name in ("one", "in/two"):
                (fresh / name).write_bytes(text(number))
        may(before := (number, number))


def fill_found(root: Path) -> Hashable:
    clear_leftovers(root / "out")
    return number_of(root / "out/one"), number_of(root / "out/in/two")


def stage_made(root: Path, may: Said) -> None:
    """Two outs of a stage, then its record, as a run makes them."""
    for before, after in pairwise(range(3)):
        mixed = {(before, first, second) for first in (before, after) for second in (before, after)}
        may(*mixed, (after, after, after))
        with ExitStack() as stack:
            for out in ("one", "two"):
                stack.enter_context(replacing(root / out)).write_bytes(text(after))
        may((before, after, after), (after, after, after))
        with ledger.changing(root / "ledger") as manifest:
            manifest.beside["number"] = str(after)
        may((after, after, after))


def stage_found(root: Path) -> Hashable:
    for out in ("one", "two"):
        clear_leftovers(root / out)
    manifest, sound = ledger.look_at(root / "ledger")
    assert sound
    with ledger.changing(root / "ledger"):
        pass
    number = int(manifest.beside.get("number", "0"))
    return number, number_of(root / "one"), number_of(root / "two")


OUT = "artifacts/{profile}/tiny/answers.jsonl"
TINY = {"tiny/answers": Stage("tiny/answers", (OUT,), lambda workspace, out: {}, "Answers.")}
REASONS = ("", "the first", "the second")


settings = cache(load_settings)


def workspace_of(root: Path) -> Workspace:
    return Workspace(root, settings(Path(__file__).parents[2] / "params.yaml", SETTINGS))


def rows(number: int) -> bytes:
    row = {"benchmark": "gqa", "split": "", "subset": "by_id", "scene": 1, "question": 1}
    row |= {"predicted": f"{number}" * 600, "expected": "1", "correct": number == 1, "log": "sha256:00"}
    return json.dumps(row).encode() + b"\n"


def accepted(root: Path, may: Said) -> None:
    """Results taken over twice."""
    workspace = workspace_of(root)
    for before, after in pairwise(range(3)):
        may(before)
        with replacing(workspace.path(OUT)) as fresh:
            fresh.write_bytes(rows(after))
        may(before, after, "begun")
        accept_results(workspace, TINY, Acceptance("2026-01-01", "sample", REASONS[after]))
        may(after)


def acceptance_found(root: Path) -> Hashable:
    """The acceptance that the pins hold, or ``begun``, where accepting again must do."""
    clear_leftovers(workspace_of(root).path(OUT))
    file = read_pin_file(root, "sample")
    assert file is not None, "the file of pins is damaged"
    lines = (root / ACCEPTED).read_bytes().splitlines() if (root / ACCEPTED).exists() else []
    reasons = [json.loads(line)["reason"] for line in lines]
    assert reasons in ([], ["the first"], ["the first", "the second"])
    if broken(root, "sample"):
        accept_results(workspace_of(root), TINY, Acceptance("2026-01-01", "sample", "again"))
        assert not broken(root, "sample")
        return "begun"
    pinned = file.stages["tiny/answers"].outs.values() if file.stages else ()
    number = sum(hashlib.sha256(rows(n)).hexdigest() in str(pinned) and n for n in (1, 2))
    assert len(reasons) >= number
    return number


def exchange(number: int) -> tuple[dict[str, object], Reply]:
    return {"model": "m", "messages": [], "number": number}, Reply("word " * 300, "stop", "text")


def answered(root: Path, may: Said) -> None:
    """Replies kept one by one, put into the transcript, and more of them."""
    transcript = root / "of-model.jsonl.gz"
    for first, end in ((0, 2), (2, 4)):
        may(first)
        with journal(partial_of(transcript)) as written:
            for number in range(first, end):
                may(number, number + 1)
                written.append(make_record(*exchange(number)))
                may(number + 1)
        settle(transcript)


def answers_found(root: Path) -> Hashable:
    transcript = root / "of-model.jsonl.gz"
    settle(transcript)
    records = read_transcript(transcript)
    numbers = sorted(record.request["number"] for record in records.values())
    assert numbers == list(range(len(numbers)))
    return len(numbers)


CASES = {
    "file": Case(replaced_file, file_found),
    "folder": Case(replaced_folder, folder_found),
    "filling": Case(filled, fill_found),
    "stage": Case(stage_made, stage_found),
    "acceptance": Case(accepted, acceptance_found),
    "answers": Case(answered, answers_found),
}


@pytest.fixture(autouse=True)
def _without_dvc(monkeypatch: pytest.MonkeyPatch) -> None:
    """DVC is a program of its own and writes its files itself; no disk need be waited for."""
    monkeypatch.setattr(dvc, "commit", lambda root, *targets: None)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where the system has one: thousands of states are written."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as name:
        yield Path(name)


def begun(folder: Path) -> Path:
    folder.mkdir()
    (folder / "params.yaml").write_bytes(b"{}")
    return folder


def worked(case: Case, record: Recorder) -> None:
    case.work(record.folder, lambda *states: setattr(record, "allowed", frozenset(states)))


def held(case: Case, record: Recorder, after: Path, most: int) -> int:
    """Bring back the states that a workload may have left, and hold them against what was promised."""
    record.end()
    states = [*record.states(CUTS, seed=20)]
    taken = random.Random(20).sample(states, min(most, len(states)))
    for number, state in enumerate(taken):
        state.write(place := after / str(number))
        reached = case.found(place)
        assert reached in state.allowed, (number, reached, state.allowed)
    return len(taken)


@pytest.mark.parametrize("name", CASES)
def test_a_power_loss_leaves_the_old_or_the_new(name: str, place: Path) -> None:
    folder = begun(place / "disk")
    with pytest.MonkeyPatch.context() as patch:
        record = Recorder(folder, patch)
        worked(CASES[name], record)
    states = held(CASES[name], record, place / "after", 10**6 if ALL else 60)
    sys.stdout.write(f"{name}: {states} states\n")
    assert states > 20


def refused(name: str) -> Iterator[tuple[int, int]]:
    """The calls of a workload, each with an error for it; ends where the test finds no more of them."""
    number = 0
    while True:
        yield number, FAULTS[number % len(FAULTS)]
        number += 1 if ALL else 7


@pytest.mark.parametrize("name", CASES)
def test_a_call_that_the_disk_refuses_leaves_the_old_or_the_new(name: str, place: Path) -> None:
    states = 0
    for number, error in refused(name):
        folder = begun(place / f"disk-{number}")
        with pytest.MonkeyPatch.context() as patch:
            record = Recorder(folder, patch)
            failing = Failing(number, error, patch)
            try:
                worked(CASES[name], record)
            except (SubstrateError, InterruptedError, TranscriptError):
                assert failing.failed
        if not failing.failed:
            break
        states += held(CASES[name], record, place / f"after-{number}", 100 if ALL else 20)
    sys.stdout.write(f"{name}: {states} states\n")
    assert states > 9
