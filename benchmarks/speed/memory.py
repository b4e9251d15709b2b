"""The questions of a memory, of one thing among many, beside a table in SQLite that has an index for each."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.speed.measure import Bench, Pair, Work, in_a_child, time_of_children
from substrate import EventLog, LogError, Memory, Namespace
from substrate.base.delta import Triple
from substrate.memory.records import Node

_V = Namespace("urn:bench:")
_SIZES = (1_000, 10_000, 100_000)
_SCHEMA = """
CREATE TABLE said (subject TEXT, predicate TEXT, object TEXT, author TEXT, first INTEGER, last INTEGER);
CREATE INDEX by_subject ON said(subject, predicate, object);
CREATE TABLE knows (agent TEXT, fact TEXT, teller TEXT, tick INTEGER);
CREATE INDEX by_fact ON knows(fact, tick);
"""


class _Told(NamedTuple):
    """A memory, the same as a table, and what can be asked about."""

    memory: Memory
    table: sqlite3.Connection
    facts: list[Triple]
    known: list[tuple[str, str]]


@lru_cache(3)
def _told(records: int) -> _Told:
    """Records of things: seven in ten are observed, of these one in five because of another; one in ten is
    ended, and two are tellings. A thing is spoken of twenty times, whatever the size.
    """
    draw, memory, table = random.Random(7), Memory(), sqlite3.connect(":memory:")
    table.executescript(_SCHEMA)
    facts, known, nodes = list[Triple](), list[tuple[str, str]](), list[Node]()
    things = max(2, records // 20)
    for tick in range(records):
        kind = draw.random()
        if kind < 0.7:
            triple = (
                _V[f"t{draw.randrange(things)}"],
                _V[f"p{draw.randrange(5)}"],
                _V[f"o{draw.randrange(50)}"],
            )
            cause = draw.choice(nodes[-50:]) if nodes and draw.random() < 0.2 else None
            nodes.append(memory.observe(*triple, author=_V.bo, cause=cause, tick=tick).node)
            table.execute("INSERT INTO said VALUES (?, ?, ?, 'bo', ?, NULL)", (*map(str, triple), tick))
            facts.append(triple)
        elif kind < 0.8 and facts and (triple := draw.choice(facts)) in memory.log.state():
            memory.end(*triple, tick=tick)
            table.execute(f"UPDATE said SET last = {tick} WHERE {_SAME} AND last IS NULL", _texts(triple))
        else:
            agent, fact, teller = (f"{kind}{draw.randrange(things)}" for kind in "afa")
            memory.believe(_V[agent], _V[fact], told_by=_V[teller], tick=tick)
            table.execute("INSERT INTO knows VALUES (?, ?, ?, ?)", (agent, fact, teller, tick))
            known.append((agent, fact))
    return _Told(memory, table, facts, known)


_SAME = "subject = ? AND predicate = ? AND object = ?"


def _texts(triple: Triple) -> tuple[str, ...]:
    return tuple(map(str, triple))


def _asked(
    question: Callable[[_Told, random.Random], Work], select: Callable[[_Told, random.Random], Work]
) -> Callable[[int], AbstractContextManager[Pair]]:
    """A bench's preparation: both sides ask of what they draw, each in the same order."""

    @contextmanager
    def prepared(size: int) -> Iterator[Pair]:
        told = _told(size)
        ours = question(told, random.Random(3))
        ours()  # the index is made by the first question
        yield Pair(ours, select(told, random.Random(3)))

    return prepared


def _cold(
    question: Callable[[_Told], object], theirs: Callable[[_Told], object]
) -> Callable[[int], AbstractContextManager[Pair]]:
    """A bench's preparation: each time a process of its own asks a memory whose log was just read."""

    @contextmanager
    def prepared(size: int) -> Iterator[Pair]:
        told = _told(size)
        with TemporaryDirectory(prefix="substrate-bench-") as folder:
            path = Path(folder, "memory.rdfp")
            told.memory.log.save(path)

            def read() -> _Told:
                # In the child: pages that it shares with its parent would be copied as they are looked at
                return told._replace(memory=Memory(EventLog.read(path)))

            yield Pair(lambda: in_a_child(read, question), lambda: in_a_child(lambda: told, theirs))

    return prepared


def _first(work: str, question: Callable[[_Told], object], theirs: Callable[[_Told], object]) -> Bench:
    return Bench(work, "a table in SQLite", None, _SIZES, _cold(question, theirs), time_of_children)


def _rows(query: str, given: Callable[[_Told, random.Random], tuple[object, ...]]) -> Callable[..., Work]:
    return lambda told, draw: lambda: told.table.execute(query, given(told, draw)).fetchall()


def _fact(told: _Told, draw: random.Random) -> tuple[str, ...]:
    return _texts(draw.choice(told.facts))


def _moment(told: _Told, draw: random.Random) -> tuple[str, int, int]:
    subject, at = str(draw.choice(told.facts)[0]), draw.randrange(told.memory.log.last_tick)
    return subject, at, at


def _told_by(told: _Told, draw: random.Random) -> Work:
    def work() -> object:
        agent, fact = draw.choice(told.known)
        return told.memory.told_by(_V[agent], _V[fact])

    return work


def _as_of(told: _Told, draw: random.Random) -> Work:
    def work() -> object:
        last = told.memory.log.last_tick
        state = told.memory.as_of(draw.randrange(last), about=draw.randrange(last))
        return list(state.match(draw.choice(told.facts)[0]))  # pyright: ignore[reportArgumentType]

    return work


def _forget(told: _Told, draw: random.Random) -> Work:
    memory = Memory(copy(told.memory.log))  # the other benches ask the same memory

    def work() -> None:
        triple = draw.choice(told.facts)
        try:
            memory.forget(*triple)
        except LogError:  # it was forgotten before
            memory.observe(*triple)

    return work


def _bench(name: str, ours: Callable[[_Told, random.Random], Work], theirs: Callable[..., Work]) -> Bench:
    return Bench(name, "a table in SQLite", None, _SIZES, _asked(ours, theirs))


def _seventh(told: _Told) -> object:
    return told.table.execute(f"SELECT * FROM said WHERE {_SAME}", _texts(told.facts[7])).fetchall()


@contextmanager
def _bulk(size: int) -> Iterator[Pair]:
    """Observations remembered at once, in a memory without a file, beside rows of an indexed table."""
    facts = [(_V[f"t{n // 20}"], _V[f"p{n % 5}"], _V[f"o{n}"]) for n in range(size)]

    def rows() -> None:
        table = sqlite3.connect(":memory:")
        table.executescript(_SCHEMA)
        said = ((*map(str, fact), "bo", tick, None) for tick, fact in enumerate(facts))
        table.executemany("INSERT INTO said VALUES (?, ?, ?, ?, ?, ?)", said)

    yield Pair(lambda: Memory().observe_many(facts, author=_V.bo), rows)


MEMORY = {
    "memory-who-knew": _bench(
        "who knew a thing",
        lambda told, draw: lambda: told.memory.who_knew(_V[draw.choice(told.known)[1]]),
        _rows(
            "SELECT agent FROM knows WHERE fact = ? ORDER BY tick",
            lambda told, draw: (draw.choice(told.known)[1],),
        ),
    ),
    "memory-told-by": _bench(
        "who was told by whom",
        _told_by,
        _rows(
            "SELECT teller FROM knows WHERE agent = ? AND fact = ?",
            lambda told, draw: draw.choice(told.known),
        ),
    ),
    "memory-why": _bench(
        "why a fact is remembered",
        lambda told, draw: lambda: told.memory.why(*draw.choice(told.facts)),
        _rows(f"SELECT * FROM said WHERE {_SAME}", _fact),
    ),
    "memory-as-of": _bench(
        "what a thing was, at a tick, as of another",
        _as_of,
        _rows("SELECT * FROM said WHERE subject = ? AND first <= ? AND (last IS NULL OR last > ?)", _moment),
    ),
    "memory-forget": _bench(
        "forget a fact", _forget, _rows(f"UPDATE said SET last = 0 WHERE {_SAME}", _fact)
    ),
    "memory-first-write": _first(
        "the first write",
        lambda told: told.memory.observe(_V.new, _V.p0, _V.o0),
        lambda told: told.table.execute("INSERT INTO said VALUES ('new', 'p0', 'o0', NULL, 0, NULL)"),
    ),
    "memory-first-why": _first("the first why", lambda told: told.memory.why(*told.facts[7]), _seventh),
    "memory-first-impact": _first(
        "the first impact", lambda told: told.memory.impact(*told.facts[7]), _seventh
    ),
    "memory-first-forget": _first(
        "the first forget",
        lambda told: told.memory.forget(*told.facts[7]),
        lambda told: told.table.execute(f"UPDATE said SET last = 0 WHERE {_SAME}", _texts(told.facts[7])),
    ),
    "memory-first-who-knew": _first(
        "the first who knew",
        lambda told: told.memory.who_knew(_V[told.known[5][1]]),
        lambda told: told.table.execute(
            "SELECT agent FROM knows WHERE fact = ?", (told.known[5][1],)
        ).fetchall(),
    ),
    "memory-bulk": Bench("observe many", "rows in SQLite", None, (1_000, 10_000), _bulk),
}
"""Benches of a memory's questions by name; the goal is 2 ms at the largest size, and an exponent of 0.2; the
first one of a log that was just read may take 20 ms.
"""
