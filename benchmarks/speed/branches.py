"""Many branches, each asked by SPARQL, beside other stores that could hold them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import pyoxigraph as ox
import rdflib

from benchmarks.speed.measure import Bench, Pair
from benchmarks.speed.workloads import branch_tick, village_log
from substrate import Assert, Delta, EventLog, Intervention, Op, State, worlds

_KNOWS = ox.NamedNode("urn:village:knows")
_ASK = "ASK { <urn:village:agent1> <urn:village:knows> ?thing }"
_PATH = "ASK { <urn:village:agent1> (<urn:village:knows>|^<urn:village:knows>)+ <urn:village:thing7> }"
_COUNT = "SELECT (COUNT(?word) AS ?n) { <urn:village:agent1> <urn:village:heard> ?word }"
_PLACES = "SELECT ?place (COUNT(?agent) AS ?n) { ?agent <urn:village:at> ?place } GROUP BY ?place"
_ANY = "ASK { ?agent ?does ?thing . ?thing ?does ?agent }"
_TICKS = 40
QUERIES = {"ASK": _ASK, "path": _PATH, "count": _COUNT}
"""Questions of a branch by name."""
_BRANCHES = 100
_SIZES = (10_000, 100_000, 1_000_000)


class Several:
    """An intervention of several triples, which no other branch has."""

    def __init__(self, branch: int, triples: int) -> None:
        things = [ox.NamedNode(f"urn:village:thing{branch}-{n}") for n in range(triples)]
        self.triples = [(ox.NamedNode(f"urn:village:agent{branch}"), _KNOWS, thing) for thing in things]

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """An insertion for each."""
        return [Delta(tick, Op.INSERT, triple) for triple in self.triples]


def _interventions(triples: int) -> list[Intervention]:
    if triples > 1:
        return [Several(branch, triples) for branch in range(_BRANCHES)]
    return [Assert(Several(branch, 1).triples[0]) for branch in range(_BRANCHES)]


def _prepared(size: int) -> tuple[EventLog, int]:
    log = village_log(size)
    at = branch_tick(log)
    worlds(log, at, _interventions(1)[:1]).ask(_ASK)  # the first question fills the shared store
    return log, at


def _beside_a_copy(triples: int, query: str) -> Callable[[int], AbstractContextManager[Pair]]:
    """A hundred branches, each asked, beside a single store that is filled and asked once.

    So at a ratio of 2, all hundred branches together cost as much as two copies of the state.
    """

    @contextmanager
    def prepare(size: int) -> Iterator[Pair]:
        log, at = _prepared(size)
        changes, quads = _interventions(triples), [ox.Quad(*triple) for triple in log.state()]

        def ours() -> int:
            return sum(1 for answer in worlds(log, at, changes).query(query) if answer is not None)

        def copy() -> object:
            store = ox.Store()
            store.extend(quads)
            store.extend(ox.Quad(*triple) for triple in Several(1, triples).triples)
            return store.query(query)

        yield Pair(ours, copy)

    return prepare


def _random_ticks(query: str) -> Callable[[int], AbstractContextManager[Pair]]:
    """Forty ticks drawn at random, each asked by SPARQL, beside one store filled and asked."""

    @contextmanager
    def prepare(size: int) -> Iterator[Pair]:
        log, _ = _prepared(size)
        chance, last = random.Random(7), log.last_tick
        quads = [ox.Quad(*triple) for triple in log.state()]

        def ours() -> list[object]:
            return [_read(log.state(chance.randrange(last)).query(query)) for _ in range(_TICKS)]

        def copy() -> object:
            store = ox.Store()
            store.extend(quads)
            return _read(store.query(query))

        yield Pair(ours, copy)

    return prepare


def _read(result: ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples) -> object:
    return bool(result) if isinstance(result, ox.QueryBoolean) else sum(1 for _ in result)


@contextmanager
def _random_sets(size: int) -> Iterator[Pair]:
    """Forty ticks drawn at random, each state as a set, beside the set of the last state."""
    log, _ = _prepared(size)
    chance, last = random.Random(7), log.last_tick

    def ours() -> int:
        return sum(len(log.state(chance.randrange(last))) for _ in range(_TICKS))

    yield Pair(ours, lambda: len(log.state()))


@contextmanager
def _beside_sqlite(size: int) -> Iterator[Pair]:
    """A hundred savepoints of SQLite with an index of each column: insert, ask, roll back."""
    log, at = _prepared(size)
    changes = _interventions(1)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        base.execute("CREATE TABLE triples (s TEXT, p TEXT, o TEXT, PRIMARY KEY (s, p, o)) WITHOUT ROWID")
        base.execute("CREATE INDEX pos ON triples (p, o, s)")
        base.executemany("INSERT INTO triples VALUES (?, ?, ?)", [tuple(map(str, t)) for t in log.state()])
        rows = [tuple(map(str, Several(branch, 1).triples[0])) for branch in range(_BRANCHES)]
        pattern = ("<urn:village:agent1>", str(_KNOWS))

        def savepoints() -> int:
            count = 0
            for row in rows:
                base.execute("SAVEPOINT world")
                base.execute("INSERT INTO triples VALUES (?, ?, ?)", row)
                count += base.execute(
                    "SELECT EXISTS (SELECT 1 FROM triples WHERE s = ? AND p = ?)", pattern
                ).fetchone()[0]
                base.execute("ROLLBACK TO world")
                base.execute("RELEASE world")
            return count

        assert savepoints() == sum(worlds(log, at, changes).ask(_ASK)) == 1
        yield Pair(lambda: worlds(log, at, changes).ask(_ASK), savepoints)


@contextmanager
def _beside_rdflib(size: int) -> Iterator[Pair]:
    """An rdflib graph that is changed, asked by SPARQL, and changed back, a hundred times."""
    log, at = _prepared(size)
    changes, graph = _interventions(1), rdflib.Graph()
    graph.parse(data=log.state().nquads(), format="nt")
    rows = [
        tuple(rdflib.URIRef(str(term)[1:-1]) for term in Several(branch, 1).triples[0])
        for branch in range(_BRANCHES)
    ]

    def changed() -> int:
        count = 0
        for row in rows:
            graph.add(row)  # pyright: ignore[reportArgumentType]
            count += bool(graph.query(_ASK).askAnswer)
            graph.remove(row)  # pyright: ignore[reportArgumentType]
        return count

    assert changed() == sum(worlds(log, at, changes).ask(_ASK)) == 1
    yield Pair(lambda: worlds(log, at, changes).ask(_ASK), changed)


_FORKED, _COPY = "100 worlds forked and asked", "one store filled and asked"
WORLDS = {
    "worlds": Bench(_FORKED, _COPY, _SIZES, _beside_a_copy(1, _ASK), goal=2),
    "worlds-wide": Bench("100 worlds of 100 triples", _COPY, _SIZES, _beside_a_copy(100, _ASK)),
    "worlds-path": Bench("100 worlds asked for a path", _COPY, _SIZES, _beside_a_copy(1, _PATH)),
    "worlds-count": Bench("100 worlds asked to count", _COPY, _SIZES, _beside_a_copy(1, _COUNT)),
    "worlds-sqlite": Bench(_FORKED, "100 savepoints of SQLite", _SIZES[:2], _beside_sqlite),
    "as-of": Bench("40 random ticks asked", _COPY, _SIZES, _random_ticks(_ASK)),
    "as-of-count": Bench("40 ticks asked for all places", _COPY, _SIZES, _random_ticks(_PLACES)),
    "as-of-all": Bench("40 ticks asked for any triple", _COPY, _SIZES, _random_ticks(_ANY)),
    "as-of-set": Bench("40 random ticks as sets", "the last state", _SIZES, _random_sets),
    "worlds-rdflib": Bench(_FORKED, "an rdflib graph", _SIZES[:2], _beside_rdflib),
}
"""Benches of branches by name."""
