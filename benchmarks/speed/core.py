"""The core's hot paths: logs, states, forks, ancestry, files."""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pyoxigraph as ox
import rdflib
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from benchmarks.speed.measure import Bench, Pair, scratch_folder
from benchmarks.speed.workloads import (
    IS_SOMEWHERE,
    branch_tick,
    last_edges,
    meetings,
    quads,
    village_lines,
    village_log,
)
from substrate import Assert, Delta, Event, EventLog, Op, Term, ancestors, fork

_NEW = (ox.NamedNode("urn:bench:s"), ox.NamedNode("urn:bench:p"), ox.NamedNode("urn:bench:o"))
_LARGE = (1_000, 10_000, 100_000, 1_000_000)
_MIDDLE = (1_000, 10_000, 100_000)
_EVENTS = (1_000, 5_000, 20_000)
_LAST = 40
"""The number of the log's last events whose ancestry is asked for, one by one."""


@contextmanager
def forks(size: int) -> Iterator[Pair]:
    """A fork with an intervention beside a copy of the deltas after the branch tick, the least copy."""
    log = village_log(size)
    at = branch_tick(log)
    stop = log.position(at - 1)
    fork(log, at)  # the parent's digest is computed once, before the clock starts
    columns = [list(range(size)) for _ in range(3)]
    yield Pair(lambda: fork(log, at, Assert(_NEW)), lambda: [column[stop:] for column in columns])


@contextmanager
def fork_digests(size: int) -> Iterator[Pair]:
    """A fork with its digest beside the digest of a log that has only the parent's last tenth."""
    log = village_log(size)
    at = branch_tick(log)
    stop = log.position(at - 1)

    def suffix() -> str:
        alone = EventLog()
        alone.extend_from(log, stop)
        return alone.digest

    yield Pair(lambda: fork(log, at, Assert(_NEW)).digest, suffix)


@contextmanager
def many_forks(size: int) -> Iterator[Pair]:
    """A thousand forks kept at once; the figure to read is their peak memory."""
    log = village_log(size)
    at = branch_tick(log)
    yield Pair(
        lambda: [fork(log, at, Assert(_NEW)) for _ in range(1000)], lambda: [EventLog() for _ in range(1000)]
    )


@contextmanager
def ancestry_of_all(size: int) -> Iterator[Pair]:
    """The ancestry of every event, as sets of names, beside masks in numpy: a row of bits an event."""
    events = meetings(size, max(2, size // 10))

    def theirs() -> np.ndarray:
        rows = np.zeros((size, size // 8 + 1), np.uint8)
        last: dict[object, int] = {}
        for place, event in enumerate(events):
            for other in {last[object_] for object_ in event.objects if object_ in last}:
                rows[place] |= rows[other]
                rows[place, other >> 3] |= 1 << (other & 7)
            last |= dict.fromkeys(event.objects, place)
        return rows

    assert _all_ancestors(events) == sum(int(np.unpackbits(row).sum()) for row in theirs())
    yield Pair(lambda: _all_ancestors(events), theirs)


@contextmanager
def ancestry_beside_sets(size: int) -> Iterator[Pair]:
    """The ancestry of every event beside unions of sets: those of the last event of each participant."""
    events = meetings(size, max(2, size // 10))

    def theirs() -> int:
        closures: list[set[int]] = []
        last: dict[object, int] = {}
        for place, event in enumerate(events):
            before = {last[object_] for object_ in event.objects if object_ in last}
            closures.append(before.union(*(closures[other] for other in before)))
            last |= dict.fromkeys(event.objects, place)
        return sum(map(len, closures))

    assert _all_ancestors(events) == theirs()
    yield Pair(lambda: _all_ancestors(events), theirs)


def _all_ancestors(events: list[Event]) -> int:
    by_event = ancestors(events)
    return sum(len(by_event[event.id].events) for event in events)


@contextmanager
def ancestry_of_one(size: int) -> Iterator[Pair]:
    """The ancestry of each of the last events, in a mapping that is made already, beside scipy's search in a
    matrix.
    """
    events = meetings(size, max(2, size // 10))
    pairs = np.array(last_edges(events))
    matrix = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    by_event, last = ancestors(events), range(size - _LAST, size)

    def ours() -> int:
        return sum(len(by_event[place].events) for place in last)

    def theirs() -> int:
        # A search gives the event itself as well
        return sum(len(breadth_first_order(matrix, n, return_predecessors=False)) - 1 for n in last)

    assert ours() == theirs()
    yield Pair(ours, theirs)


@contextmanager
def cold_state(size: int) -> Iterator[Pair]:
    """A state computed from nothing, as a set, beside the same changes of a set of integers."""
    lines = village_lines(size)
    numbers = {text: number for number, text in enumerate(dict.fromkeys(line[2:] for _, line in lines))}
    steps = [(line[0] == "A", numbers[line[2:]]) for _, line in lines]
    log = village_log(size)

    def ours() -> int:
        fresh = log.branch(0, None)
        fresh.follow(log, 0, len(log))
        return len(fresh.state())

    def ints() -> int:
        standing: set[int] = set()
        for insert, number in steps:
            if insert:
                standing.add(number)
            else:
                standing.discard(number)
        return len(standing)

    assert ours() == ints()
    yield Pair(ours, ints)


def _replayed(log: EventLog) -> bool:
    fresh = log.branch(0, None)
    fresh.follow(log, 0, len(log))
    return bool(fresh.state().query("ASK { ?a ?does ?b . ?b ?does ?a }"))


@contextmanager
def replay_beside_store(size: int) -> Iterator[Pair]:
    """A state with its store beside every change made in a bare Oxigraph store."""
    log = village_log(size)
    changes = quads(log)

    def bare() -> int:
        store = ox.Store()
        for insert, quad in changes:
            (store.add if insert else store.remove)(quad)
        return len(store)

    yield Pair(lambda: _replayed(log), bare)


def _rdflib(term: Term) -> rdflib.Literal | rdflib.URIRef:
    if isinstance(term, ox.Literal):
        return rdflib.Literal(term.value)
    return rdflib.URIRef(str(term)[1:-1])


@contextmanager
def replay_beside_rdflib(size: int) -> Iterator[Pair]:
    """A state with its store beside every change made in an rdflib graph."""
    log = village_log(size)
    changes = [(delta.op is Op.INSERT, tuple(map(_rdflib, delta.triple))) for delta in log]

    def theirs() -> int:
        graph = rdflib.Graph()
        for insert, triple in changes:
            (graph.add if insert else graph.remove)(triple)  # pyright: ignore
        return len(graph)

    yield Pair(lambda: _replayed(log), theirs)


@contextmanager
def history(size: int) -> Iterator[Pair]:
    """A triple's history beside the look-up in a dictionary of positions by triple."""
    log = village_log(size)
    wanted = log[size // 2].triple
    index: dict[ox.Quad, list[int]] = {}
    for position, (_, quad) in enumerate(log.changes()):
        index.setdefault(quad, []).append(position)
    log.history(wanted)
    yield Pair(lambda: log.history(wanted), lambda: [log[position] for position in index[ox.Quad(*wanted)]])


@contextmanager
def live_head(size: int) -> Iterator[Pair]:
    """An append and a query of the head beside a triple and a query in a store that is kept."""
    log, store = village_log(size), ox.Store()
    store.extend(ox.Quad(*triple) for triple in log.state())
    for _ in range(2):  # the first question of a head fills no store
        log.head.query(IS_SOMEWHERE)
    ours, bare = count(), count()

    def append() -> bool:
        log.append(Delta(log.last_tick, Op.INSERT, (_NEW[0], _NEW[1], ox.Literal(next(ours)))))
        return bool(log.head.query(IS_SOMEWHERE))

    def add() -> bool:
        store.add(ox.Quad(_NEW[0], _NEW[1], ox.Literal(next(bare))))
        return bool(store.query(IS_SOMEWHERE))

    yield Pair(append, add)


@contextmanager
def neighbours(size: int) -> Iterator[Pair]:
    """The differences of a hundred neighbouring ticks beside reading the deltas between."""
    log = village_log(size)
    ticks = log.ticks[-101:]
    log.diff(ticks[0], ticks[1])

    def between() -> int:
        spans = [(log.position(a), log.position(b)) for a, b in pairwise(ticks)]
        return sum(1 for start, stop in spans for place in range(start, stop) if log[place])

    yield Pair(lambda: [log.diff(a, b) for a, b in pairwise(ticks)], between)


def _reading(deltas: int | None) -> Callable[[int], AbstractContextManager[Pair]]:
    """A log read from its file and verified, beside only parsing its statements, one by one.

    Args:
        deltas: the number of deltas in a tick; ``None`` for the village's own ticks, of about five.
    """

    @contextmanager
    def prepare(size: int) -> Iterator[Pair]:
        lines = [line for _, line in village_lines(size)]
        log = village_log(size) if deltas is None else EventLog()
        if deltas is not None:
            log.extend_lines((place // deltas, line) for place, line in enumerate(lines))
        with scratch_folder() as folder:
            log.save(folder / "log.rdfp")
            statements = "\n".join(line[2:] for line in lines)
            yield Pair(
                lambda: EventLog.read(folder / "log.rdfp"),
                lambda: deque(ox.parse(statements, ox.RdfFormat.N_TRIPLES), maxlen=0),
            )

    return prepare


@contextmanager
def opening(size: int) -> Iterator[Pair]:
    """Opening a log, one append and closing it beside only parsing its statements."""
    with scratch_folder() as folder:
        village_log(size).save(folder / "log.rdfp")
        statements = "\n".join(line[2:] for _, line in village_lines(size))

        def append() -> None:
            with EventLog.open(folder / "log.rdfp") as log:
                log.append(Delta(log.last_tick, Op.INSERT, _NEW))

        yield Pair(append, lambda: deque(ox.parse(statements, ox.RdfFormat.N_TRIPLES), maxlen=0))


@contextmanager
def _appending(size: int, deltas: int) -> Iterator[tuple[EventLog, Path, list[Delta]]]:
    with scratch_folder() as folder, EventLog.open(folder / "log.rdfp") as log:
        yield log, folder, [Delta(0, Op.INSERT, (_NEW[0], _NEW[1], ox.Literal(n))) for n in range(deltas)]


@contextmanager
def durable_append(size: int) -> Iterator[Pair]:
    """Appends that are durable, one by one, beside the same bytes written and synced."""
    with _appending(size, size) as (log, folder, deltas):
        data = b"x" * 260
        raw = os.open(folder / "raw", os.O_RDWR | os.O_CREAT)

        def ours() -> None:
            for delta in deltas:
                log.append(delta)

        def write() -> None:
            for _ in deltas:
                os.write(raw, data)
                os.fsync(raw)

        try:
            yield Pair(ours, write)
        finally:
            os.close(raw)


@contextmanager
def append_beside_sqlite(size: int) -> Iterator[Pair]:
    """Durable appends, one by one, beside SQLite: a transaction per row, write-ahead log, full syncs."""
    with _appending(size, size) as (log, folder, deltas):
        base = sqlite3.connect(folder / "log.db", isolation_level=None)
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("PRAGMA synchronous=FULL")
        base.execute("CREATE TABLE deltas (tick INTEGER, op TEXT, s TEXT, p TEXT, o TEXT)")
        row = (0, "A", *map(str, _NEW))

        def ours() -> None:
            for delta in deltas:
                log.append(delta)

        def insert() -> None:
            for _ in deltas:
                base.execute("INSERT INTO deltas VALUES (?, ?, ?, ?, ?)", row)

        try:
            yield Pair(ours, insert)
        finally:
            base.close()


@contextmanager
def batch(size: int) -> Iterator[Pair]:
    """A batch of durable appends given at once beside one write and one sync for each delta."""
    with _appending(size, size) as (log, folder, deltas):
        raw = os.open(folder / "raw", os.O_RDWR | os.O_CREAT)

        def write() -> None:
            for _ in deltas:
                os.write(raw, b"x" * 260)
                os.fsync(raw)

        try:
            yield Pair(lambda: log.extend(deltas), write)
        finally:
            os.close(raw)


@contextmanager
def memory(size: int) -> Iterator[Pair]:
    """A log read into memory beside its deltas as a list of tuples; the figure to read is the peak memory."""
    with scratch_folder() as folder:
        log = village_log(size)
        log.save(folder / "log.rdfp")
        path = folder / "log.rdfp"
        yield Pair(lambda: EventLog.read(path), lambda: list(log))


CORE = {
    "fork": Bench("fork and intervene at 0.9", "a copy of the suffix", _MIDDLE, forks, goal=2),
    "fork-digest": Bench("fork and digest", "digest of the suffix alone", _MIDDLE, fork_digests),
    "fork-memory": Bench("1,000 forks kept", "1,000 empty logs", (100_000,), many_forks),
    "ancestry": Bench("ancestry of all events", "numpy masks", _EVENTS, ancestry_of_all, goal=60),
    "ancestry-sets": Bench("ancestry of all events", "sets", _EVENTS[:2], ancestry_beside_sets),
    "ancestry-one": Bench("ancestry of 40 events", "scipy", (*_EVENTS, 30_000), ancestry_of_one, goal=3),
    "state": Bench("cold state", "a set of integers", _LARGE, cold_state, goal=1.6),
    "replay": Bench("cold state and store", "a bare Oxigraph store", _MIDDLE, replay_beside_store, goal=1),
    "replay-rdflib": Bench("cold state and store", "an rdflib graph", _MIDDLE, replay_beside_rdflib, goal=1),
    "memory": Bench("a log read", "its deltas as tuples", (100_000,), memory),
    "history": Bench("history of a triple", "an index", _MIDDLE, history, goal=3),
    "head": Bench("append and query the head", "a kept store", _LARGE, live_head, goal=3),
    "diff": Bench("100 differences of neighbours", "the deltas between", _MIDDLE, neighbours),
    "read": Bench("read and verify", "only parsing", _LARGE, _reading(None), goal=2),
    "read-thin": Bench("one delta a tick, read", "only parsing", _MIDDLE, _reading(1), goal=2.5),
    "read-thick": Bench("100 deltas a tick, read", "only parsing", _MIDDLE, _reading(100), goal=2),
    "open": Bench("open, append once, close", "only parsing", _LARGE, opening),
    "append": Bench("durable appends", "write and fsync", (500,), durable_append, goal=1 / 0.7, clock="wall"),
    "append-sqlite": Bench("durable appends", "SQLite", (200,), append_beside_sqlite, goal=1, clock="wall"),
    "append-batch": Bench("one durable batch", "write and fsync each", (500,), batch, goal=0.1, clock="wall"),
}
"""Benches of the core by name."""
