"""Replay: the state at a tick, moving between ticks, the history of a triple, the difference of two ticks.

Replay is the deterministic function ρ of the paper: a delta applied to a set of triples, insertion as
union, retraction as difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyoxigraph as ox

from substrate.log import EventLog, Op, Term, Triple


class State:
    """The ABox at one tick, in an Oxigraph store: a finite set of triples.

    >>> from substrate import Delta
    >>> ann, at, cafe = ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe")
    >>> state = EventLog([Delta(0, Op.INSERT, (ann, at, cafe))]).state(0)
    >>> bool(state.query("ASK { <urn:ann> <urn:at> ?place }")), (ann, at, cafe) in state
    (True, True)
    """

    def __init__(self, store: ox.Store, tick: int) -> None:
        self.store = store
        self.tick = tick

    @classmethod
    def of(cls, log: EventLog, tick: int) -> State:
        """The state of a log after every delta with tick <= ``tick``, in O(deltas)."""
        store = ox.Store()
        store.extend(fold(log.changes(0, log.position(tick)))[0])
        return cls(store, tick)

    def query(
        self, sparql: str, *, prefixes: Mapping[str, str] | None = None, substitutions: Mapping[ox.Variable, Term] | None = None
    ) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
        """Run a SPARQL query on this state.

        Args:
            sparql: a SELECT, ASK, CONSTRUCT or DESCRIBE query.
            prefixes: prefix names to IRIs, beside those the query declares.
            substitutions: values put in place of variables.

        Raises:
            SyntaxError: the query is not SPARQL.
        """
        return self.store.query(sparql, prefixes=dict(prefixes or {}), substitutions=dict(substitutions or {}))

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[Triple]:
        return ((quad.subject, quad.predicate, quad.object) for quad in self.store)

    def __contains__(self, triple: Triple) -> bool:
        return ox.Quad(*triple) in self.store

    def match(self, subject: ox.NamedNode | ox.BlankNode | None = None, predicate: ox.NamedNode | None = None, object: Term | None = None) -> Iterator[Triple]:
        """The triples that fit a pattern; ``None`` fits any term."""
        return ((quad.subject, quad.predicate, quad.object) for quad in self.store.quads_for_pattern(subject, predicate, object))

    def nquads(self) -> str:
        """The state as sorted N-Quads: equal states whose blank nodes have equal labels, equal text."""
        return "".join(sorted(f"{quad} .\n" for quad in self.store))


class Replay:
    """A state that moves: forward by applying deltas, backward by undoing them.

    Undoing needs to know which deltas changed anything, since inserting what is there already is no
    change; this is found once as the replay first passes them.

    >>> from substrate import Delta
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> replay = Replay(EventLog([Delta(2, Op.INSERT, fact), Delta(5, Op.RETRACT, fact)]))
    >>> [len(replay.seek(tick)) for tick in (0, 2, 5, 4)]
    [0, 1, 0, 1]
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.state = State(ox.Store(), -1)
        self._position = 0
        self._effective: list[bool] = []

    def seek(self, tick: int) -> State:
        """Move the one state of this replay to ``tick`` and return it; its cost is the deltas between."""
        target = self.log.position(tick)
        store = self.state.store
        if not self._effective:
            quads, self._effective = fold(self.log.changes(0, target))
            store.extend(quads)
            self._position = target
        for index, (op, quad) in enumerate(self.log.changes(self._position, target), start=self._position):
            if index == len(self._effective):
                self._effective.append((quad in store) is (op is Op.RETRACT))
            if self._effective[index]:
                (store.add if op is Op.INSERT else store.remove)(quad)
        undone = list(zip(self._effective[target : self._position], self.log.changes(target, self._position), strict=True))
        for effective, (op, quad) in reversed(undone):
            if effective:
                (store.remove if op is Op.INSERT else store.add)(quad)
        self._position = target
        self.state.tick = tick
        return self.state


def fold(changes: Iterable[tuple[Op, ox.Quad]]) -> tuple[Iterable[ox.Quad], list[bool]]:
    """ρ over operations, from the empty state: the triples that stand, and which operations changed anything."""
    standing: dict[ox.Quad, None] = {}
    effective: list[bool] = []
    for op, quad in changes:
        effective.append((quad in standing) is (op is Op.RETRACT))
        if op is Op.INSERT:
            standing[quad] = None
        else:
            standing.pop(quad, None)
    return standing, effective
