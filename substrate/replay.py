"""Replay: the state at a tick, checkpoints along the log, and moving between ticks.

Replay is the deterministic function rho of the paper (section 2): a delta applied to a set of triples,
insertion as union, retraction as difference. Two triples are the same where their terms are: ``"01"``
and ``"1"`` are two integers to a state, although SPARQL takes them for one value.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

import pyoxigraph as ox

from substrate.log import EventLog, Op, Term, Triple, triple_of

SPACING = 1024
"""Fewest deltas between two checkpoints; there are never fewer than the state has triples."""


class State:
    """The ABox at one tick: a finite set of triples, and an Oxigraph store to query it.

    >>> from substrate import Delta
    >>> ann, at, cafe = ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe")
    >>> state = EventLog([Delta(0, Op.INSERT, (ann, at, cafe))]).state(0)
    >>> bool(state.query("ASK { <urn:ann> <urn:at> ?place }")), (ann, at, cafe) in state
    (True, True)
    """

    def __init__(self, standing: dict[ox.Quad, None], tick: int) -> None:
        self.tick = tick
        self._standing = standing
        self._store: ox.Store | None = None
        self._distinct = True
        self._pending: list[tuple[Op, ox.Quad]] = []

    @classmethod
    def of(cls, log: EventLog, tick: int) -> State:
        """The state of a log after every delta with tick <= ``tick``, from the nearest checkpoint."""
        return cls(log.checkpoints.reach(log.position(tick)), tick)

    @property
    def store(self) -> ox.Store:
        """The state as an Oxigraph store, brought up to date when asked for; to be read only."""
        store = self._store
        if store is None or (self._pending and not self._distinct):
            store = self._store = ox.Store()
            store.extend(self._standing)
            # The store keeps values: where it tells fewer triples apart it cannot be changed one at a time.
            self._distinct = len(store) == len(self._standing)
            self._pending.clear()
            return store
        for position, (op, quad) in enumerate(self._pending):
            if op is Op.RETRACT:
                store.remove(quad)
            elif quad not in store:
                store.add(quad)
            else:
                self._distinct = False
                del self._pending[:position]
                return self.store
        self._pending.clear()
        return store

    def apply(self, op: Op, quad: ox.Quad) -> bool:
        """Change this state by one operation; whether it made a difference.

        For replays and emitters, which own their state; the log it came from is not touched.
        """
        if (quad in self._standing) is (op is Op.INSERT):
            return False
        if op is Op.INSERT:
            self._standing[quad] = None
        else:
            del self._standing[quad]
        if self._store is not None:
            self._pending.append((op, quad))
            if len(self._pending) > len(self._standing) + SPACING:
                self._reset(self._standing)
        return True

    def _reset(self, standing: dict[ox.Quad, None]) -> None:
        self._standing, self._store = standing, None
        self._pending.clear()

    def query(
        self,
        sparql: str,
        *,
        prefixes: Mapping[str, str] | None = None,
        substitutions: Mapping[ox.Variable, Term] | None = None,
    ) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
        """Run a SPARQL query on this state.

        Args:
            sparql: a SELECT, ASK, CONSTRUCT or DESCRIBE query.
            prefixes: prefix names to IRIs, beside those the query declares.
            substitutions: values put in place of variables.

        Raises:
            SyntaxError: the query is not SPARQL.
        """
        return self.store.query(
            sparql, prefixes=dict(prefixes or {}), substitutions=dict(substitutions or {})
        )

    def __len__(self) -> int:
        return len(self._standing)

    def __iter__(self) -> Iterator[Triple]:
        return map(triple_of, self._standing)

    def __contains__(self, triple: Triple) -> bool:
        return ox.Quad(*triple) in self._standing

    def match(
        self,
        subject: ox.NamedNode | ox.BlankNode | None = None,
        predicate: ox.NamedNode | None = None,
        object: Term | None = None,
    ) -> Iterator[Triple]:  # RDF calls it so
        """The triples that fit a pattern, in no order; ``None`` fits any term."""
        found = list(self.store.quads_for_pattern(subject, predicate, object))
        if not (self._distinct and all(quad in self._standing for quad in found)):
            found = [
                quad
                for quad in self._standing
                if subject in (None, quad.subject) and predicate in (None, quad.predicate)
            ]
        return (triple_of(quad) for quad in found if object is None or quad.object == object)

    def nquads(self) -> str:
        """The state as sorted N-Quads: equal states whose blank nodes have equal labels, equal text."""
        return "".join(sorted(f"{quad} .\n" for quad in self._standing))

    def canonical(self) -> str:
        """The state as canonical N-Quads, blank nodes relabelled by RDFC-1.0 (W3C, 2024).

        Triple terms, which RDFC-1.0 does not know yet, are relabelled inside as well. The cost grows
        steeply where many blank nodes look alike.
        """
        dataset = ox.Dataset(self._standing)
        dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
        return "".join(sorted(f"{quad} .\n" for quad in dataset))

    @property
    def digest(self) -> str:
        """``sha256:…`` of :meth:`canonical`: equal for states that differ in blank node labels only.

        >>> from substrate import Delta
        >>> one, two = (EventLog([Delta(0, Op.INSERT, (ox.BlankNode(label), ox.NamedNode("urn:p"), ox.Literal(1)))]) for label in "ab")
        >>> one.state().digest == two.state().digest, one.digest == two.digest
        (True, False)
        """
        return f"sha256:{hashlib.sha256(self.canonical().encode()).hexdigest()}"


class Replay:
    """A state that moves: forward by applying deltas, backward by undoing them.

    Undoing needs to know which deltas changed anything, since inserting what is there already is no
    change; this is kept from the nearest checkpoint on, and so a step costs the deltas between.

    >>> from substrate import Delta
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> replay = Replay(EventLog([Delta(2, Op.INSERT, fact), Delta(5, Op.RETRACT, fact)]))
    >>> [len(replay.seek(tick)) for tick in (0, 2, 5, 4)]
    [0, 1, 0, 1]
    """

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.state = State({}, -1)
        self._base = self._position = 0
        self._effective: list[bool] = []

    def seek(self, tick: int) -> State:
        """Move the one state of this replay to ``tick`` and return it; its cost is the deltas between."""
        target = self.log.position(tick)
        nearest = self.log.checkpoints.nearest(target)
        if target < self._base or nearest - self._position > SPACING:
            self._restart(nearest)
        state = self.state
        if target < self._position:
            undone = zip(
                self._effective[target - self._base :], self.log.changes(target, self._position), strict=True
            )
            for effective, (op, quad) in reversed(list(undone)):
                if effective:
                    state.apply(Op.RETRACT if op is Op.INSERT else Op.INSERT, quad)
            del self._effective[target - self._base :]
        else:
            self._effective += [
                state.apply(op, quad) for op, quad in self.log.changes(self._position, target)
            ]
        self._position = target
        state.tick = tick
        return state

    def _restart(self, position: int) -> None:
        self.state._reset(self.log.checkpoints.reach(position))
        self._base = self._position = position
        self._effective.clear()


class Checkpoints:
    """States kept along a log, so that any other is near one.

    A checkpoint is left where :data:`SPACING` deltas, and as many as the state has triples, lie behind
    the one before: together they take no more room than the log.

    >>> from substrate import Delta
    >>> log = EventLog(Delta(t, Op.INSERT, (ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal(t % 10))) for t in range(5000))
    >>> len(log.state(4999)), log.checkpoints.nearest(3000)
    (10, 2048)
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._positions = [0]
        self._saved: list[dict[ox.Quad, None]] = [{}]

    def nearest(self, position: int) -> int:
        """The last checkpoint's position at or before a position in the log."""
        return self._positions[bisect_right(self._positions, position) - 1]

    def reach(self, position: int) -> dict[ox.Quad, None]:
        """The triples that stand after ``position`` deltas; the caller owns the mapping."""
        nearest = bisect_right(self._positions, position) - 1
        start, standing = self._positions[nearest], self._saved[nearest].copy()
        while start < position:
            stop = min(position, start + max(SPACING, len(standing)))
            for op, quad in self._log.changes(start, stop):
                if op is Op.INSERT:
                    standing[quad] = None
                else:
                    standing.pop(quad, None)
            start = stop
            if start < position and start > self._positions[-1]:
                self._positions.append(start)
                self._saved.append(standing.copy())
        return standing


def fold(changes: Iterable[tuple[Op, ox.Quad]]) -> tuple[Iterable[ox.Quad], list[bool]]:
    """Rho over operations, from the empty state: the triples that stand, and which operations changed
    anything.

    >>> quad = ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal(1))
    >>> standing, effective = fold([(Op.INSERT, quad), (Op.INSERT, quad), (Op.RETRACT, quad)])
    >>> len(list(standing)), effective
    (0, [True, False, True])
    """
    standing: dict[ox.Quad, None] = {}
    effective: list[bool] = []
    for op, quad in changes:
        effective.append((quad in standing) is (op is Op.RETRACT))
        if op is Op.INSERT:
            standing[quad] = None
        else:
            standing.pop(quad, None)
    return standing, effective
