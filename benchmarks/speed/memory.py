"""Questions to a memory about one thing among many, beside SQLite with an index for each question."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from functools import lru_cache
from typing import NamedTuple

from benchmarks.speed.children import CHILDREN
from benchmarks.speed.measure import Bench, Pair, Work, scratch_folder
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


class _Both(NamedTuple):
    """A memory, a database with the same content, and the facts and tellings to ask about."""

    memory: Memory
    table: sqlite3.Connection
    facts: list[Triple]
    known: list[tuple[str, str]]


@lru_cache(3)
def _filled(records: int) -> _Both:
    """Fill both with records of things. Of ten records, seven are observed (of these, one in five has a
    cause), one is an end and two are tellings. A thing has about twenty records, whatever the size.
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
    return _Both(memory, table, facts, known)


_SAME = "subject = ? AND predicate = ? AND object = ?"


def _texts(triple: Triple) -> tuple[str, ...]:
    return tuple(map(str, triple))


def _asked(
    question: Callable[[_Both, random.Random], Work], select: Callable[[_Both, random.Random], Work]
) -> Callable[[int], AbstractContextManager[Pair]]:
    """The preparation of a bench in which both sides draw the same things in the same order to ask about."""

    @contextmanager
    def prepared(size: int) -> Iterator[Pair]:
        both = _filled(size)
        ours = question(both, random.Random(3))
        ours()  # the first question makes the index
        yield Pair(ours, select(both, random.Random(3)))

    return prepared


def _cold(
    question: Callable[[_Both], object], theirs: Callable[[_Both], object]
) -> Callable[[int], AbstractContextManager[Pair]]:
    """The preparation of a bench in which each run is a new process that has just read the memory's log."""

    @contextmanager
    def prepared(size: int) -> Iterator[Pair]:
        both = _filled(size)
        with scratch_folder() as folder:
            path = folder / "memory.rdfp"
            both.memory.log.save(path)

            def read() -> _Both:
                # Read in the child: shared pages of the parent's memory would be copied at their first use.
                return both._replace(memory=Memory(EventLog.read(path)))

            yield Pair(lambda: CHILDREN.run(read, question), lambda: CHILDREN.run(lambda: both, theirs))

    return prepared


def _first(work: str, question: Callable[[_Both], object], theirs: Callable[[_Both], object]) -> Bench:
    return Bench(work, "a table in SQLite", _SIZES, _cold(question, theirs), clock=CHILDREN)


def _rows(query: str, given: Callable[[_Both, random.Random], tuple[object, ...]]) -> Callable[..., Work]:
    return lambda both, draw: lambda: both.table.execute(query, given(both, draw)).fetchall()


def _fact(both: _Both, draw: random.Random) -> tuple[str, ...]:
    return _texts(draw.choice(both.facts))


def _moment(both: _Both, draw: random.Random) -> tuple[str, int, int]:
    subject, at = str(draw.choice(both.facts)[0]), draw.randrange(both.memory.log.last_tick)
    return subject, at, at


def _told_by(both: _Both, draw: random.Random) -> Work:
    def work() -> object:
        agent, fact = draw.choice(both.known)
        return both.memory.told_by(_V[agent], _V[fact])

    return work


def _as_of(both: _Both, draw: random.Random) -> Work:
    def work() -> object:
        last = both.memory.log.last_tick
        state = both.memory.as_of(draw.randrange(last), about=draw.randrange(last))
        return list(state.match(draw.choice(both.facts)[0]))  # pyright: ignore[reportArgumentType]

    return work


def _forget(both: _Both, draw: random.Random) -> Work:
    memory = Memory(copy(both.memory.log))  # other benches ask the shared memory, so it must not change

    def work() -> None:
        triple = draw.choice(both.facts)
        try:
            memory.forget(*triple)
        except LogError:  # already forgotten
            memory.observe(*triple)

    return work


def _bench(name: str, ours: Callable[[_Both, random.Random], Work], theirs: Callable[..., Work]) -> Bench:
    return Bench(name, "a table in SQLite", _SIZES, _asked(ours, theirs))


def _seventh(both: _Both) -> object:
    return both.table.execute(f"SELECT * FROM said WHERE {_SAME}", _texts(both.facts[7])).fetchall()


@contextmanager
def _bulk(size: int) -> Iterator[Pair]:
    """Observations remembered at once, in a memory without a file, beside rows of an indexed table."""
    facts = [(_V[f"t{n // 20}"], _V[f"p{n % 5}"], _V[f"o{n}"]) for n in range(size)]

    def rows() -> None:
        table = sqlite3.connect(":memory:")
        table.executescript(_SCHEMA)
        values = ((*map(str, fact), "bo", tick, None) for tick, fact in enumerate(facts))
        table.executemany("INSERT INTO said VALUES (?, ?, ?, ?, ?, ?)", values)

    yield Pair(lambda: Memory().observe_many(facts, author=_V.bo), rows)


MEMORY = {
    "memory-who-knew": _bench(
        "who knew a thing",
        lambda both, draw: lambda: both.memory.who_knew(_V[draw.choice(both.known)[1]]),
        _rows(
            "SELECT agent FROM knows WHERE fact = ? ORDER BY tick",
            lambda both, draw: (draw.choice(both.known)[1],),
        ),
    ),
    "memory-told-by": _bench(
        "who was told by whom",
        _told_by,
        _rows(
            "SELECT teller FROM knows WHERE agent = ? AND fact = ?",
            lambda both, draw: draw.choice(both.known),
        ),
    ),
    "memory-why": _bench(
        "why a fact is remembered",
        lambda both, draw: lambda: both.memory.why(*draw.choice(both.facts)),
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
        lambda both: both.memory.observe(_V.new, _V.p0, _V.o0),
        lambda both: both.table.execute("INSERT INTO said VALUES ('new', 'p0', 'o0', NULL, 0, NULL)"),
    ),
    "memory-first-why": _first("the first why", lambda both: both.memory.why(*both.facts[7]), _seventh),
    "memory-first-impact": _first(
        "the first impact", lambda both: both.memory.impact(*both.facts[7]), _seventh
    ),
    "memory-first-forget": _first(
        "the first forget",
        lambda both: both.memory.forget(*both.facts[7]),
        lambda both: both.table.execute(f"UPDATE said SET last = 0 WHERE {_SAME}", _texts(both.facts[7])),
    ),
    "memory-first-who-knew": _first(
        "the first who knew",
        lambda both: both.memory.who_knew(_V[both.known[5][1]]),
        lambda both: both.table.execute(
            "SELECT agent FROM knows WHERE fact = ?", (both.known[5][1],)
        ).fetchall(),
    ),
    "memory-bulk": Bench("observe many", "rows in SQLite", (1_000, 10_000), _bulk),
}
"""Benches of a memory's questions by name; the goal is 2 ms at the largest size, and an exponent of 0.2; the
first one of a log that was just read may take 20 ms.
"""
