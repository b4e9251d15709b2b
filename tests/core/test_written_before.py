"""Logs of earlier versions: their files open, and their digests are what they were."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from substrate import Delta, EventLog, LogError, Op, Retract, TBox, fork, unfold

FILES = Path(__file__).parent / "written_before"
S, P, OBJ = (NamedNode(f"urn:{name}") for name in "spo")
INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
STEPS = [
    Delta(0, Op.INSERT, (S, P, OBJ)),
    Delta(0, Op.INSERT, (S, P, Literal('é\u2028\u0085 "q" \\ \n\t\x00'))),
    Delta(0, Op.INSERT, (BlankNode("b"), P, Literal("1", datatype=INTEGER))),
    Delta(3, Op.RETRACT, (S, P, OBJ)),
    Delta(3, Op.RETRACT, (S, P, OBJ)),
    Delta(3, Op.INSERT, (S, P, Literal("01", datatype=INTEGER))),
    Delta(7, Op.INSERT, (S, P, Literal("hi", language="en"))),
    Delta(7, Op.INSERT, (S, P, Literal("שלום", language="he", direction=BaseDirection.RTL))),
    Delta(9, Op.INSERT, (S, P, Triple(S, P, Literal("x")))),
]
DIGEST = "sha256:4c8a9bc30575a064a3ec45b74d0af31d04b7c1df7e55b6f9ce405a25dcdb9ffc"
BRANCH = "sha256:a8cbd5aee3f848c08f86c74aec8812282f51e22814ae039b500a971cf33e1f8c"
STATE = "sha256:d74fa4b5f400355e12833fb4cd30261cba4b167c6c9560ec9824a6667ba20d96"


def test_digests_are_as_before() -> None:
    log = EventLog(STEPS)
    assert log.digest == log.digest_at(9) == DIGEST
    assert log.digest_at(0) == "sha256:c1872fc59eb9ea77ed7eda58a766b68ab4154f8732d93ca43f6faa61e60cc0bb"
    assert log.digest_at(3) == "sha256:643d7cccae1ffd0f7f384e298cd87c90fe3a9b6d5c5c338a9c5dbc38749240da"
    assert log.state().digest == STATE
    branch = fork(log, 3, Retract((S, P, OBJ)))
    assert (branch.digest, branch.state().digest) == (BRANCH, STATE)


def test_the_log_that_rules_unfold_is_as_before() -> None:
    village = TBox.load("village")
    log = unfold(village, village.opening(), until=6)
    assert len(log) == 112
    assert log.digest == "sha256:8f5c6ccb90a86d8a2a6f7d2299997509f0efc726f9facd95998b03174d353455"
    assert log.state().digest == "sha256:4c05b66bc0e9f6fcedd592d486ad963da31678c8bf7ae45a6588bfbc18fa6d33"


@pytest.mark.parametrize("name", ["log.rdfp", "log.rdfp.gz"])
def test_a_file_written_before_is_read_opened_and_written_the_same(tmp_path: Path, name: str) -> None:
    before = EventLog.read(FILES / name)
    assert list(before) == STEPS
    assert before.digest == DIGEST
    with EventLog.open(tmp_path / name) as log:
        for step in STEPS:
            log.append(step)
    assert (tmp_path / name).read_bytes() == (FILES / name).read_bytes()
    shutil.copy(FILES / name, tmp_path / f"more.{name}")
    with EventLog.open(tmp_path / f"more.{name}") as log:
        log.append(Delta(9, Op.INSERT, (S, P, OBJ)))
    assert EventLog.read(tmp_path / f"more.{name}").digest == EventLog([*STEPS, log[-1]]).digest


def test_a_branch_written_before_keeps_its_descent(tmp_path: Path) -> None:
    branch = EventLog.read(FILES / "branch.rdfp")
    assert (branch.digest, branch.parent_digest, branch.branch_tick) == (BRANCH, DIGEST, 3)
    branch.save(tmp_path / "again.rdfp")
    assert (tmp_path / "again.rdfp").read_bytes() == (FILES / "branch.rdfp").read_bytes()


@pytest.mark.parametrize("name", ["log.rdfp", "log.rdfp.gz"])
def test_a_log_of_a_later_version_is_not_called_edited(name: str, tmp_path: Path) -> None:
    packed = name.endswith(".gz")
    data = (FILES / name).read_bytes()
    later = b'H version "2" .\n' + (gzip.decompress(data) if packed else data)
    file = tmp_path / name
    file.write_bytes(gzip.compress(later) if packed else later)
    before = file.read_bytes()
    for door in (EventLog.read, EventLog.open):
        with pytest.raises(LogError, match="has version 2 of the format"):
            door(file)
    assert file.read_bytes() == before
