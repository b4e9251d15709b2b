"""The log in memory, and RDF Patch in and out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import python
from pyoxigraph import NamedNode

from substrate import Delta, EventLog, LogError, Op
from substrate.log._chain import Chain
from substrate.log.patch import transactions

S, P, OBJ = (NamedNode(f"urn:{name}") for name in "spo")


@pytest.mark.parametrize(
    ("deltas", "message"),
    [
        ([Delta(3, Op.INSERT, (S, P, OBJ)), Delta(2, Op.INSERT, (S, P, OBJ))], "tick 2 lies before tick 3"),
        ([Delta(-1, Op.INSERT, (S, P, OBJ))], "tick -1 is negative"),
        ([(1.5, Op.INSERT, (S, P, OBJ))], "not a whole number"),
        ([(1, "X", (S, P, OBJ))], "not a delta"),
        ([(1, Op.INSERT, (S, "p", OBJ))], "not a delta"),
        ([(1, Op.INSERT, (S, P, OBJ, S))], "not a delta"),
    ],
)
def test_a_step_that_does_not_fit_is_refused_whole(deltas: Any, message: str) -> None:
    log = EventLog([Delta(0, Op.INSERT, (S, P, S))])
    with pytest.raises(LogError, match=message):
        log.extend([Delta(0, Op.INSERT, (OBJ, P, OBJ)), *deltas])
    assert len(log) == 1


@pytest.mark.parametrize(
    "line",
    [
        "A <urn:s> <urn:p> .",
        "A # nothing",
        "A <urn:s> <urn:p> <urn:o> .\n<urn:s> <urn:p> <urn:o> .",
        b"A <urn:s> <urn:p> <urn:o> .",
    ],
)
def test_a_line_that_is_not_one_statement_is_refused(line: Any) -> None:
    log = EventLog()
    with pytest.raises(LogError):
        log.extend_lines([(0, "A <urn:s> <urn:p> <urn:o> ."), (0, line)])
    assert len(log) == 0


def test_another_programs_patch_is_read() -> None:
    first = 'H id <uuid:1234> .\nPA "v" "urn:v:" .\nTX .\n# a comment\n  A <urn:s> <urn:p> "x" .\r\nTC .\n\n'
    text = first + 'TX .\nD <urn:s> <urn:p> "x" .\nTC .\nTX .\nA <urn:s> <urn:p> "aborted" .\nTA .\n'
    log = EventLog.from_patch(text)
    assert [(d.tick, d.op) for d in log] == [(0, Op.INSERT), (1, Op.RETRACT)]


BNODE = "<_:c097fcf795d4cc69b728a7b0f4cce050>"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (f"TX .\nA {BNODE} <urn:p> <_:x> .\nTC .\n", f"A {BNODE[1:-1]} <urn:p> _:x ."),
        ("\ufeffH id <uuid:a> .\nTX .\nA <urn:s> <urn:p> <urn:o> .\nTC .\n", ""),
        ("TX .\nA <urn:s> <urn:p> <urn:o> . # why\nTC . # done", ""),
        ('H cause-id <uuid:a> .\nH note "hallo"@de .\nTX .\nA <urn:s> <urn:p> <urn:o> .\nTC .\n', ""),
        ("H id <uuid:bbe2edae-325e>.\nTX.\nA <urn:s> <urn:p> <urn:o>.\nTC.\n", ""),
        ("H id   <uuid:2> .\nTX .\nA  <urn:s>   <urn:p>\t<urn:o>  .\nTC .\n", ""),
        ('TB "begin" .\nPA v: <urn:v:> .\nA <urn:s> <urn:p> <urn:o> .\nTC .', ""),
        ("TX 17 . A <urn:s> <urn:p>\n  <urn:o> . TC .", ""),
        ('TX .\nA <urn:s> <urn:p> "a . # b" .\nTC .\n', 'A <urn:s> <urn:p> "a . # b" .'),
        (
            "TX .\nA <urn:s> <urn:p> <<<urn:s> <urn:p> <_:x>>> .\nTC .\n",
            "A <urn:s> <urn:p> <<( <urn:s> <urn:p> _:x )>> .",
        ),
        ("TX .\nA <_:-a:b> <urn:p> _:a.b.\nTC .\n", "A _:x2d613a62 <urn:p> _:a.b ."),
    ],
)
def test_every_spelling_that_rdf_patch_allows_is_read(text: str, read: str) -> None:
    lines = [line for _, lines in EventLog.from_patch(text).lines() for line in lines]
    assert lines == [read or "A <urn:s> <urn:p> <urn:o> ."]


QUADS = (
    "# comment\n\nH id <uuid:a> .\nTX .\nA <urn:s> <urn:p> <urn:o> .\n"
    "A <urn:s> <urn:p> <urn:o> <urn:g> .\nD <urn:s> <urn:p> <urn:x> <urn:h> .\nTC .\n"
)


def test_a_quad_is_refused_by_its_line_or_taken_with_its_graph() -> None:
    with pytest.raises(LogError, match=r"a\.rdfp: line 6: .* <urn:g>.*--graph"):
        EventLog.from_patch(QUADS, "a.rdfp")
    assert len(EventLog.from_patch(QUADS, graph="urn:g").state()) == 1
    assert [delta.op for delta in EventLog.from_patch(QUADS, graph="urn:h")] == [Op.RETRACT]


def test_another_programs_patch_that_is_opened_as_a_log_names_the_import(tmp_path: Path) -> None:
    (tmp_path / "a.rdfp").write_text(QUADS)
    for door in (EventLog.read, EventLog.open):
        with pytest.raises(LogError, match=r"another program.*substrate log import"):
            door(tmp_path / "a.rdfp")
    assert (tmp_path / "a.rdfp").read_text() == QUADS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TX .\nA <urn:s> <urn:p> <urn:o> .\n", "cut off"),
        ("TX .\nA <urn:s> <urn:p> .\nTC .\n", "line 2: not a line of RDF Patch"),
        (
            "# a\nTX .\n\nA <urn:s> <urn:p>\n<o> .\nTC .\n",
            r"line 4: not a line of RDF Patch here \(No scheme",
        ),
        ("TX .\nA <urn:s> <urn:p> <urn:o>\nTC .\n", "line 2: not a line of RDF Patch"),
        ("TX .\nA <urn:s> <urn:p> 'o' .\nTC .\n", "line 2: not a line of RDF Patch"),
        ("TX .\nTX .\nTC .\n", "line 2: not a line of RDF Patch"),
        ("A <urn:s> <urn:p> <urn:o> .\n", "line 1"),
        ('H tick "x" .\nTX .\nTC .\n', "not a tick"),
        (
            'H tick "4" .\nTX .\nA <urn:s> <urn:p> <urn:o> .\nTC .\n'
            'H tick "2" .\nTX .\nA <urn:s> <urn:p> <urn:o> .\nTC .\n',
            "tick 2 lies before",
        ),
    ],
)
def test_a_text_that_is_no_patch_is_refused(text: str, message: str) -> None:
    with pytest.raises(LogError, match=message):
        EventLog.from_patch(text, "given.rdfp")


DEEP = "<urn:s> <urn:p> " + "<<( <urn:s> <urn:p> " * 20_000 + "<urn:o>" + " )>>" * 20_000


def _sealed(line: str) -> str:
    """The text of a log of one line whose chain holds: anyone who can compute a chain could write it."""
    return next(transactions(Chain(), None, [(0, [line])], None))[0]


TAKE = r"""
import os, sys
from pathlib import Path
from pyoxigraph import NamedNode, Triple
from substrate import Delta, EventLog, LogError, Op
from substrate.base.delta import Spelled
path, S = Path(sys.argv[1]), NamedNode("urn:s")
line = path.read_text().split("\n")[4]  # the one delta, after the header
term = S
for _ in range(300):
    term = Triple(S, S, term)
for take in (
    lambda: EventLog.read(path),
    lambda: EventLog.from_patch(path.read_text()),
    lambda: EventLog().extend_lines([(0, line)]),
    lambda: EventLog().extend_spelled([Spelled(0, Op.INSERT, line[2:-2])]),
    lambda: EventLog([Delta(0, Op.INSERT, (S, S, term))]),
):
    try:
        take()
    except LogError as error:
        print(error, flush=True)
os._exit(0)
"""


def test_a_triple_that_nests_too_deeply_is_refused_at_every_door(tmp_path: Path) -> None:
    path = tmp_path / "deep.rdfp"
    path.write_text(_sealed(f"A {DEEP} ."))
    # In a process of its own: a parser that runs out of its stack ends the process
    ran = python("-c", TAKE, path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("deep inside one another") == 5
