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

from orchestration.acceptance import accept_results, proposed
from orchestration.dvc import dvc_files
from orchestration.ledger.manifest import changing, look_at
from orchestration.models.exchange import Reply, make_record
from orchestration.models.transcript import TranscriptError, journal, partial_of, read_transcript, settle
from orchestration.pins.paths import ACCEPTED
from orchestration.pins.pin_files import broken_seals, read_pin_file
from orchestration.project import SETTINGS
from orchestration.settings import load_settings
from orchestration.stage import Stage
from orchestration.workspace.folders import Workspace
from substrate.base.errors import SubstrateError
from substrate.base.files import clear_leftovers, filling, replacing

# For each write that was not synced, how many ways to cut it off; the more, the more states.
CUTS = int(os.environ.get("SUBSTRATE_CRASH_CUTS", "2"))
# Check all states and let each call fail; without the variable, only a sample.
ALL = "SUBSTRATE_CRASH_CUTS" in os.environ
# Sets the outcomes that are allowed from now on.
Allow = Callable[..., None]


class Case(NamedTuple):
    """Work in a folder that sets the allowed outcomes, and the outcome that the next run gets there."""

    work: Callable[[Path, Allow], None]
    outcome: Callable[[Path], Hashable]


def text(number: int) -> bytes:
    return f"{number} ".encode() * 400


def number_of(path: Path) -> int:
    """The version of a file; fails where the file is not whole."""
    if not path.exists():
        return 0
    number = int(path.read_bytes().split()[0])
    assert path.read_bytes() == text(number)
    return number


def replaced_file(root: Path, allow: Allow) -> None:
    for before, after in pairwise(range(4)):
        allow(before, after)
        with replacing(root / "out") as fresh:
            fresh.write_bytes(text(after))
        allow(after)


def file_outcome(root: Path) -> Hashable:
    clear_leftovers(root / "out")
    assert {path.name for path in root.iterdir()} <= {"out", "params.yaml"}
    return number_of(root / "out")


def replaced_folder(root: Path, allow: Allow) -> None:
    for before, after in pairwise(range(3)):
        allow(before, after)
        with replacing(root / "out") as fresh:
            (fresh / "in").mkdir(parents=True)
            for name in ("one", "in/two"):
                (fresh / name).write_bytes(text(after))
        allow(after)


def folder_outcome(root: Path) -> Hashable:
    clear_leftovers(root / "out")
    first, second = number_of(root / "out/one"), number_of(root / "out/in/two")
    assert first == second
    return first


def filled(root: Path, allow: Allow) -> None:
    # The second time the folder has the same bytes already: `filling` refuses others.
    before = (0, 0)
    for number in (1, 1):
        allow(*((first, second) for first in (before[0], number) for second in (before[1], number)))
        with filling(root / "out") as fresh:
            (fresh / "in").mkdir()
            for name in ("one", "in/two"):
                (fresh / name).write_bytes(text(number))
        allow(before := (number, number))


def fill_outcome(root: Path) -> Hashable:
    clear_leftovers(root / "out")
    return number_of(root / "out/one"), number_of(root / "out/in/two")


def stage_made(root: Path, allow: Allow) -> None:
    """Two outs of a stage, then its record, as a run makes them."""
    for before, after in pairwise(range(3)):
        mixed = {(before, first, second) for first in (before, after) for second in (before, after)}
        allow(*mixed, (after, after, after))
        with ExitStack() as stack:
            for out in ("one", "two"):
                stack.enter_context(replacing(root / out)).write_bytes(text(after))
        allow((before, after, after), (after, after, after))
        with changing(root / "ledger") as manifest:
            manifest.beside["number"] = str(after)
        allow((after, after, after))


def stage_outcome(root: Path) -> Hashable:
    for out in ("one", "two"):
        clear_leftovers(root / out)
    manifest, sound = look_at(root / "ledger")
    assert sound
    with changing(root / "ledger"):
        pass  # the ledger can still be locked and written
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


def accepted(root: Path, allow: Allow) -> None:
    """Results taken over twice."""
    workspace = workspace_of(root)
    for before, after in pairwise(range(3)):
        allow(before)
        with replacing(workspace.path(OUT)) as fresh:
            fresh.write_bytes(rows(after))
        allow(before, after, "begun")
        accept_results(workspace, TINY, proposed(workspace, TINY, REASONS[after], unsafe=True))
        allow(after)


def acceptance_outcome(root: Path) -> Hashable:
    """The number of the acceptance that the pins hold, or ``begun`` where results must be accepted again."""
    clear_leftovers(workspace_of(root).path(OUT))
    file = read_pin_file(root, "sample")
    assert file is not None, "the file of pins is damaged"
    lines = (root / ACCEPTED).read_bytes().splitlines() if (root / ACCEPTED).exists() else []
    reasons = [json.loads(line)["reason"] for line in lines]
    assert reasons in ([], ["the first"], ["the first", "the second"])
    if broken_seals(root, "sample"):
        workspace = workspace_of(root)
        accept_results(workspace, TINY, proposed(workspace, TINY, "again", unsafe=True))
        assert not broken_seals(root, "sample")
        return "begun"
    pinned = file.stages["tiny/answers"].outs.values() if file.stages else ()
    number = next((n for n in (1, 2) if hashlib.sha256(rows(n)).hexdigest() in str(pinned)), 0)
    assert len(reasons) >= number
    return number


def exchange(number: int) -> tuple[dict[str, object], Reply]:
    return {"model": "m", "messages": [], "number": number}, Reply("word " * 300, "stop", "text")


def answered(root: Path, allow: Allow) -> None:
    """Replies kept one by one, put into the transcript, and more of them."""
    transcript = root / "of-model.jsonl.gz"
    for first, end in ((0, 2), (2, 4)):
        allow(first)
        with journal(partial_of(transcript)) as written:
            for number in range(first, end):
                allow(number, number + 1)
                written.append(make_record(*exchange(number)))
                allow(number + 1)
        settle(transcript)


def answers_outcome(root: Path) -> Hashable:
    transcript = root / "of-model.jsonl.gz"
    settle(transcript)
    records = read_transcript(transcript)
    numbers = sorted(record.request["number"] for record in records.values())
    assert numbers == list(range(len(numbers)))
    return len(numbers)


CASES = {
    "file": Case(replaced_file, file_outcome),
    "folder": Case(replaced_folder, folder_outcome),
    "filling": Case(filled, fill_outcome),
    "stage": Case(stage_made, stage_outcome),
    "acceptance": Case(accepted, acceptance_outcome),
    "answers": Case(answered, answers_outcome),
}


@pytest.fixture(autouse=True)
def _without_dvc(monkeypatch: pytest.MonkeyPatch) -> None:
    """DVC, another program, writes its own files; and nothing waits for the disk, to save time."""
    monkeypatch.setattr(dvc_files, "commit", lambda root, *targets: None)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where the system has one: thousands of states are written."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as name:
        yield Path(name)


def new_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "params.yaml").write_bytes(b"{}")
    return folder


def run_case(case: Case, record: Recorder) -> None:
    case.work(record.folder, lambda *states: setattr(record, "allowed", frozenset(states)))


def check_states(case: Case, record: Recorder, after: Path, most: int) -> int:
    """Restore states that a workload may have left, and check each outcome; the number of these states."""
    record.end()
    states = [*record.states(CUTS, seed=20)]
    taken = random.Random(20).sample(states, min(most, len(states)))
    for number, state in enumerate(taken):
        state.write(place := after / str(number))
        reached = case.outcome(place)
        assert reached in state.allowed, (number, reached, state.allowed)
    return len(taken)


@pytest.mark.parametrize("name", CASES)
def test_a_power_loss_leaves_the_old_or_the_new(name: str, place: Path) -> None:
    folder = new_folder(place / "disk")
    with pytest.MonkeyPatch.context() as patch:
        record = Recorder(folder, patch)
        run_case(CASES[name], record)
    states = check_states(CASES[name], record, place / "after", 10**6 if ALL else 60)
    sys.stdout.write(f"{name}: {states} states\n")
    assert states > 20


def refusals() -> Iterator[tuple[int, int]]:
    """Numbers of calls that the disk refuses, each with an error, without end."""
    number = 0
    while True:
        yield number, FAULTS[number % len(FAULTS)]
        number += 1 if ALL else 7


@pytest.mark.parametrize("name", CASES)
def test_a_call_that_the_disk_refuses_leaves_the_old_or_the_new(name: str, place: Path) -> None:
    states = 0
    for number, error in refusals():
        folder = new_folder(place / f"disk-{number}")
        with pytest.MonkeyPatch.context() as patch:
            record = Recorder(folder, patch)
            failing = Failing(number, error, patch)
            try:
                run_case(CASES[name], record)
            except (SubstrateError, InterruptedError, TranscriptError):
                assert failing.failed
        if not failing.failed:
            break
        states += check_states(CASES[name], record, place / f"after-{number}", 100 if ALL else 20)
    sys.stdout.write(f"{name}: {states} states\n")
    assert states > 9
