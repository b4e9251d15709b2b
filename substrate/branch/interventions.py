"""The intervention vocabulary of the paper (section 2): exactly five typed functions on a state.

Each checks its pre-condition and gives the triples to retract and to insert. An intervention that
would change nothing is refused: a counterfactual question whose premise already holds is a mistake.
What is no triple is refused where it is made; an object may be a Python value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pyoxigraph as ox

from substrate.base.delta import Delta, Op, Term, Triple
from substrate.base.errors import InterventionError, ParameterError
from substrate.base.terms import triple
from substrate.base.vocabulary import AWARE_OF, LOCATION
from substrate.log.state import State

Node = ox.NamedNode | ox.BlankNode


class Intervention(Protocol):
    """A function from a state to the deltas that set it otherwise, at one tick (paper, section 2).

    >>> from substrate import EventLog
    >>> fact = (ox.NamedNode("urn:ann"), LOCATION, ox.NamedNode("urn:cafe"))
    >>> [(delta.tick, delta.op.name) for delta in Assert(fact).deltas(EventLog().state(), tick=3)]
    [(3, 'INSERT')]
    """

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """The deltas of this intervention on ``state``, all at ``tick``.

        Raises:
            InterventionError: the pre-condition does not hold.
        """
        ...


@dataclass(frozen=True)
class Assert:
    """Make a triple true. Pre-condition: it does not hold yet.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:location> <urn:home> .")])
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:awareOf> <urn:secret> .")])
    >>> ann, home, cafe, secret = (ox.NamedNode(f"urn:{name}") for name in ("ann", "home", "cafe", "secret"))
    >>> (ann, LOCATION, cafe) in fork(log, 1, Assert((ann, LOCATION, cafe))).state(1)
    True
    """

    triple: Triple

    def __post_init__(self) -> None:
        object.__setattr__(self, "triple", _three(self.triple, "Assert"))

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """An insertion."""
        if self.triple in state:
            raise _refused(
                tick, f"Assert: {_text(self.triple)} holds already", "Assert a triple that does not hold"
            )
        return [Delta(tick, Op.INSERT, self.triple)]


@dataclass(frozen=True)
class Retract:
    """Make a triple false. Pre-condition: it holds.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:location> <urn:home> .")])
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:awareOf> <urn:secret> .")])
    >>> ann, home, cafe, secret = (ox.NamedNode(f"urn:{name}") for name in ("ann", "home", "cafe", "secret"))
    >>> len(fork(log, 1, Retract((ann, LOCATION, home))).state(1))
    1
    """

    triple: Triple

    def __post_init__(self) -> None:
        object.__setattr__(self, "triple", _three(self.triple, "Retract"))

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """A retraction."""
        if self.triple not in state:
            raise _refused(
                tick,
                f"Retract: {_text(self.triple)} does not hold",
                "Retract a triple of the state before the branch tick",
            )
        return [Delta(tick, Op.RETRACT, self.triple)]


@dataclass(frozen=True)
class OverrideLocation:
    """Put an entity elsewhere. Pre-condition: it has one location, and a different one.

    Args:
        entity: what is moved.
        location: where it is put.
        predicate: the TBox's property of place; the core's own unless given.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:location> <urn:home> .")])
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:awareOf> <urn:secret> .")])
    >>> ann, home, cafe, secret = (ox.NamedNode(f"urn:{name}") for name in ("ann", "home", "cafe", "secret"))
    >>> branch = fork(log, 1, OverrideLocation(ann, cafe))
    >>> [place.value for _, _, place in branch.state(1).match(ann, LOCATION)]
    ['urn:cafe']
    """

    entity: Node
    location: Term
    predicate: ox.NamedNode = LOCATION

    def __post_init__(self) -> None:
        said = _three((self.entity, self.predicate, self.location), "OverrideLocation")
        object.__setattr__(self, "location", said[2])

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """The retraction of the old location and the insertion of the new."""
        places = [place for _, _, place in state.match(self.entity, self.predicate)]
        if len(places) != 1:
            raise _refused(
                tick,
                f"OverrideLocation: {self.entity} has {len(places)} locations by {self.predicate}",
                "Name an entity with exactly one location",
            )
        if places[0] == self.location:
            raise _refused(
                tick,
                f"OverrideLocation: {self.entity} is at {self.location} already",
                "Name another location",
            )
        return [
            Delta(tick, Op.RETRACT, (self.entity, self.predicate, places[0])),
            Delta(tick, Op.INSERT, (self.entity, self.predicate, self.location)),
        ]


@dataclass(frozen=True)
class AssertAwareness:
    """Let an agent know a fact: a node, or a triple term. Pre-condition: it does not know it.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:location> <urn:home> .")])
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:awareOf> <urn:secret> .")])
    >>> ann, home, cafe, secret = (ox.NamedNode(f"urn:{name}") for name in ("ann", "home", "cafe", "secret"))
    >>> (ann, AWARE_OF, cafe) in fork(log, 1, AssertAwareness(ann, cafe)).state(1)
    True
    """

    agent: Node
    fact: Term
    predicate: ox.NamedNode = AWARE_OF

    def __post_init__(self) -> None:
        said = _three((self.agent, self.predicate, self.fact), "AssertAwareness")
        object.__setattr__(self, "fact", said[2])

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """An insertion."""
        said = (self.agent, self.predicate, self.fact)
        if said in state:
            raise _refused(
                tick,
                f"AssertAwareness: {self.agent} is aware of {self.fact} already",
                "Name a fact the agent does not know",
            )
        return [Delta(tick, Op.INSERT, said)]


@dataclass(frozen=True)
class RetractAwareness:
    """Let an agent not know a fact. Pre-condition: it knows it.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:location> <urn:home> .")])
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:awareOf> <urn:secret> .")])
    >>> ann, home, cafe, secret = (ox.NamedNode(f"urn:{name}") for name in ("ann", "home", "cafe", "secret"))
    >>> (ann, AWARE_OF, secret) in fork(log, 1, RetractAwareness(ann, secret)).state(1)
    False
    """

    agent: Node
    fact: Term
    predicate: ox.NamedNode = AWARE_OF

    def __post_init__(self) -> None:
        said = _three((self.agent, self.predicate, self.fact), "RetractAwareness")
        object.__setattr__(self, "fact", said[2])

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """A retraction."""
        said = (self.agent, self.predicate, self.fact)
        if said not in state:
            raise _refused(
                tick,
                f"RetractAwareness: {self.agent} is not aware of {self.fact}",
                "Name a fact the agent knows before the branch tick",
            )
        return [Delta(tick, Op.RETRACT, said)]


def _three(said: object, name: str) -> Triple:
    """Three values as a triple, by the rule of :mod:`substrate.base.terms`.

    Raises:
        ParameterError: they are none; says which of them.
    """
    if not isinstance(said, tuple | list) or len(said) != 3:
        hint = "Give subject, predicate and object"
        raise ParameterError(f"{said!r} is not three terms", where=(name,), hint=hint)
    try:
        return triple(*said)
    except ParameterError as error:
        raise error.within(name) from None


def _refused(tick: int, what: str, hint: str) -> InterventionError:
    return InterventionError(what, where=(f"tick {tick}",), hint=hint)


def _text(triple: Triple) -> str:
    return " ".join(map(str, triple))
