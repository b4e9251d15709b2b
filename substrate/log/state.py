"""The state at one tick: a set of triples, and a store to query it (paper, section 2).

Two triples are equal if their terms are equal: a state keeps ``"01"`` and ``"1"`` apart, although they are
one integer in SPARQL.

A state refers to a triple by its number in a table (:class:`substrate.log._triples.Triples`). Its set is a
dictionary from these numbers to ``None``, because a dictionary keeps their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import pyoxigraph as ox

from substrate.base.delta import Op, Term, Triple, triple_of
from substrate.base.errors import LogError
from substrate.base.ntriples import fitting, quads_of, spelled, text_of
from substrate.base.words import counted
from substrate.log._columns import DeltaSequence
from substrate.log._locking import MEMORY
from substrate.log._stores import Stores
from substrate.log._triples import Triples
from substrate.sparql.patterns import Pattern, patterns_of

# The number of pending changes, beyond its number of triples, after which a state makes its store anew
_ROOM = 1024


class State:
    """The ABox at one tick: a finite set of triples, and an Oxigraph store to query it.

    The set and the store are made on first use; a test of a single triple needs neither.

    Args:
        log: the state's log.
        position: the number of the log's deltas before the state.
        tick: the state's tick.
        reach: returns the triples that hold after a number of the log's deltas.
        shared: the stores to query while the state is unchanged; ``None`` means a store of its own.

    >>> from substrate import Delta, EventLog
    >>> ann, at, cafe = ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe")
    >>> state = EventLog([Delta(0, Op.INSERT, (ann, at, cafe))]).state(0)
    >>> bool(state.query("ASK { <urn:ann> <urn:at> ?place }")), (ann, at, cafe) in state
    (True, True)
    """

    def __init__(
        self,
        log: DeltaSequence,
        position: int,
        tick: int,
        reach: Callable[[int], dict[int, None]],
        shared: Stores | None = None,
    ) -> None:
        self.tick = tick
        self._log = log
        self._position = position
        self._reach = reach
        self._triples = log.triples
        self._set: dict[int, None] | None = None
        self._shared = shared
        # Only a head has it: shared stores, for its first query alone
        self._first_query: Stores | None = None
        self._store: ox.Store | None = None
        self._distinct = True  # false if the store has merged triples of equal value
        self._pending: list[tuple[int, int]] = []  # changes of the state that its own store lacks

    def __repr__(self) -> str:
        return f"<State: tick {self.tick}, {counted(len(self), 'triple')}>"

    @property
    def prefixes(self) -> dict[str, str]:
        """The log's prefixes, each name with its IRI.

        >>> from substrate import EventLog, Namespace
        >>> log = EventLog()
        >>> log.prefixes["v"] = V = Namespace("urn:v:")
        >>> _ = log.insert(V.ann, V.at, V.cafe)
        >>> bool(log.state().query("ASK { v:ann v:at v:cafe }")), log.state().prefixes
        (True, {'v': 'urn:v:'})
        """
        return {name: str(iri) for name, iri in self._log.prefixes.items()}

    @property
    def _standing(self) -> dict[int, None]:
        if self._set is None:
            self._set = self._reach(self._position)
        return self._set

    @contextmanager
    def _store_for(self, patterns: Iterable[Pattern] | None) -> Iterator[ox.Store]:
        """A store to query; while the state is unchanged, this may be a shared store moved here.

        Args:
            patterns: patterns of all triples that affect the answer; ``None`` if any triple may.
        """
        named = [pattern.text for pattern in patterns or ()]
        if patterns is not None and None not in named:
            # Triples that the query names are looked up one by one
            store = ox.Store()
            store.extend(quads_of(text for text in named if text and self._holds(text)))
            yield store
            return
        if self._store is None and (stores := self._shared or self._first_query):
            self._first_query = None
            part = stores.part(self._log, self._position, patterns, self._held)
            if part is not None:
                yield part
                return
        if self._shared is None or self._store is not None:
            yield self._own_store()
            return
        with self._shared.at(self._log, self._position, self._held) as store:
            yield self._own_store() if store is None else store

    def _own_store(self) -> ox.Store:
        with MEMORY:
            pending, self._pending = self._pending, []
            store = self._store
            if store is None or (pending and not self._distinct):
                return self._filled()
            quads = self._triples.quads([number for _, number in pending])
            for (insert, _), quad in zip(pending, quads, strict=True):
                if not insert:
                    store.remove(quad)
                elif quad not in store:
                    store.add(quad)
                else:
                    return self._filled()
            return store

    def _filled(self) -> ox.Store:
        store = self._store = ox.Store()
        store.extend(self._quads())
        # The store compares values: if it merged triples, it cannot be changed one triple at a time.
        self._distinct = len(store) == len(self._standing)
        return store

    def _quads(self) -> Iterator[ox.Quad]:
        return self._triples.quads(self._held())

    def _held(self) -> list[int]:
        """The numbers of the state's triples, without making the state's set."""
        return list(self._reach(self._position) if self._set is None else self._set)

    def apply(self, op: Op, quad: ox.Quad) -> bool:
        """Change this state by one operation; tell whether it made a difference.

        This is for replays and emitters, which own their state; the state's log does not change.
        """
        return self._apply_spelled(op, str(quad), quad)

    def _apply_spelled(self, op: Op, text: str, quad: ox.Quad | None = None) -> bool:
        """Apply an operation on a triple's spelling; ``quad``, if given, is the same triple."""
        number = self._triples.find(text)
        if number is None:
            if op is Op.RETRACT:
                return False
            if self._triples is self._log.triples:
                # A new triple must not enter the log's table
                self._triples = Triples(self._log.triples)
            number = self._triples.number(text)
            if quad is not None:
                self._triples.keep((number,), (quad,))
        return self.apply_numbered(int(op is Op.INSERT), number)

    def apply_numbered(self, insert: int, number: int) -> bool:
        """For replays and heads: apply a log's delta, 1 to insert or 0 to retract a triple by its number."""
        standing = self._standing
        if (number in standing) is bool(insert):
            return False
        with MEMORY:
            self._shared = None
            if insert:
                standing[number] = None
            else:
                del standing[number]
            if self._store is not None:
                self._pending.append((insert, number))
                if len(self._pending) > len(standing) + _ROOM:
                    self._forget()
        return True

    def _forget(self) -> None:
        with MEMORY:
            self._store = None
            self._pending.clear()

    def move(self, position: int, tick: int) -> None:
        """For replays: become the state after another number of the log's deltas."""
        self._forget()
        self._set, self._position, self.tick = None, position, tick

    def query(
        self,
        sparql: str,
        *,
        prefixes: Mapping[str, str] | None = None,
        substitutions: Mapping[ox.Variable, Term] | None = None,
        functions: Mapping[ox.NamedNode, Callable[..., Term | None]] | None = None,
    ) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
        """Run a SPARQL query on this state.

        Args:
            sparql: a SELECT, ASK, CONSTRUCT or DESCRIBE query.
            prefixes: prefix names to IRIs, in addition to the query's and the log's own.
            substitutions: values that replace variables.
            functions: your own functions by their IRIs; each maps terms to a term, or to ``None`` if it has
                no answer; see :mod:`substrate.ask.functions`.

        Raises:
            SyntaxError: the query is not SPARQL.
        """
        names = {**self.prefixes, **(prefixes or {})}
        with self._store_for(patterns_of(sparql, tuple(names.items()))) as store:
            given, called = dict(substitutions or {}), dict(functions or {})
            return store.query(sparql, prefixes=names, substitutions=given, custom_functions=called)

    def __eq__(self, other: object) -> bool:
        """Tell whether two states have exactly the same triples.

        To ignore the labels of blank nodes, compare :attr:`digest`.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> fact = "A <urn:ann> <urn:in> <urn:cafe> ."
        >>> log.extend_lines([(0, fact), (4, fact)])
        >>> log.state(0) == log.state(4), log.state(0) == EventLog().state()
        (True, False)
        """
        if not isinstance(other, State):
            return NotImplemented
        return self is other or (len(self) == len(other) and self.texts() == other.texts())

    def __copy__(self) -> State:
        """Copy the state: a change to either does not affect the other; a head's copy stays fixed."""
        other = State(self._log, self._position, self.tick, self._reach, self._shared)
        with MEMORY:
            other._triples = self._triples
            other._set = dict(self._standing)
        return other

    def __deepcopy__(self, memo: object) -> State:
        return self.__copy__()

    def __reduce__(self) -> tuple[Callable[..., State], tuple[object, ...]]:
        """Pickle the tick and the triples, without the log."""
        with MEMORY:
            return _restored, (self.tick, self._triples.texts(self._standing))

    def __len__(self) -> int:
        return len(self._standing)

    def __iter__(self) -> Iterator[Triple]:
        return map(triple_of, self._quads())

    def __contains__(self, triple: Triple) -> bool:
        return self._holds(text_of(triple))

    def _holds(self, text: str) -> bool:
        number = self._triples.find(text)
        if number is None:
            return False
        if self._set is None:
            return self._log.holds_after(number, self._position)
        return number in self._set

    def texts(self) -> set[str]:
        """The triples in their one spelling, as :func:`substrate.base.ntriples.text_of` gives it."""
        return set(self._triples.texts(self._standing))

    def match(
        self,
        subject: ox.NamedNode | ox.BlankNode | None = None,
        predicate: ox.NamedNode | None = None,
        object: Term | None = None,  # the name in RDF
    ) -> Iterator[Triple]:
        """The triples that fit a pattern, in no order; ``None`` fits any term."""
        # ``None`` fits any term: a value has several spellings, and a pattern cannot name a blank node
        wanted = (
            spelled(term) if isinstance(term, ox.NamedNode | ox.Triple) else None
            for term in (subject, predicate, object)
        )
        with self._store_for([Pattern(*wanted)]) as store:
            triples = [triple_of(quad) for quad in store.quads_for_pattern(subject, predicate, object)]
        if self._distinct and all(map(self._is_own, triples)):
            return (triple for triple in triples if object is None or triple[2] == object)
        # The store returns a value, such as `1`, in place of the state's term, such as `01`
        fits = fitting(subject, predicate, object)
        texts = self._triples.texts(self._standing)
        return map(triple_of, quads_of(text for text in texts if fits(text)))

    def _is_own(self, triple: Triple) -> bool:
        """Tell whether a triple from the store is spelled exactly as in the state."""
        object_ = triple[2]
        if isinstance(object_, ox.NamedNode | ox.BlankNode):
            return True
        spelled = str(object_)
        # Only a value with a datatype can have several spellings
        return "^^<" not in spelled or self._holds(text_of(triple))

    def nquads(self) -> str:
        """The state as sorted N-Quads; equal states with equal blank node labels give equal text."""
        return "".join([f"{text} .\n" for text in sorted(self._triples.texts(self._standing))])

    def canonical(self) -> str:
        """The state as canonical N-Quads, blank nodes relabelled by RDFC-1.0 (W3C, 2024).

        RDFC-1.0 does not cover triple terms yet; blank nodes inside them are relabelled too. The cost grows
        steeply if many blank nodes look alike.
        """
        dataset = ox.Dataset(self._quads())
        dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
        return "".join(sorted(f"{quad} .\n" for quad in dataset))

    @property
    def digest(self) -> str:
        """``sha256:…`` of :meth:`canonical`: equal for states that differ only in blank node labels.

        >>> from substrate import EventLog
        >>> one, two = EventLog(), EventLog()
        >>> one.extend_lines([(0, "A _:a <urn:p> <urn:o> .")])
        >>> two.extend_lines([(0, "A _:b <urn:p> <urn:o> .")])
        >>> one.state().digest == two.state().digest, one.digest == two.digest
        (True, False)
        """
        return f"sha256:{hashlib.sha256(self.canonical().encode()).hexdigest()}"


def _restored(tick: int, texts: list[str]) -> State:
    """Unpickle a state, on an empty log."""
    log = DeltaSequence()
    standing = dict.fromkeys(log.triples.numbers(texts))
    return State(log, 0, tick, lambda _: dict(standing))


class Head(State):
    """The state after a log's last delta, which only appends change.

    The first query reads only the triples that it needs, if they are few; the second query makes a store.
    """

    def __init__(
        self, log: DeltaSequence, tick: int, reach: Callable[[int], dict[int, None]], stores: Stores
    ) -> None:
        super().__init__(log, len(log), tick, reach)
        self._first_query = stores

    def _apply_spelled(self, op: Op, text: str, quad: ox.Quad | None = None) -> bool:
        """Refuse the change: a head changes only in :meth:`follow`, which an append calls."""
        what = "only its log can change the head of a log"
        raise LogError(what, hint="Append to the log, or change log.state()")

    def follow(self, steps: Iterable[tuple[int, int]], tick: int) -> None:
        """Apply the deltas that were just appended to the log."""
        with MEMORY:
            self._position, self.tick = len(self._log), tick
            if self._set is not None:
                for insert, number in steps:
                    self.apply_numbered(insert, number)
