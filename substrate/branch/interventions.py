"""The intervention vocabulary of the paper (section 2): exactly five typed functions on a state.

Each intervention checks its precondition and returns the triples to retract and to insert. An intervention
that would change nothing is refused, because a counterfactual question whose premise already holds is a
mistake. Its terms must form a triple; the object may be a Python value.

Each class here is the only definition of its intervention: :data:`INTERVENTIONS` supplies the command's
options, the memory tool of an agent, the specifications of twins and the table in the docs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import pyoxigraph as ox

from substrate.base.delta import Delta, Op, Term, Triple
from substrate.base.errors import InterventionError, ParameterError
from substrate.base.terms import triple
from substrate.base.vocabulary import AWARE_OF, LOCATION
from substrate.log.state import State

Node = ox.NamedNode | ox.BlankNode


class Intervention(Protocol):
    """A function from a state to the deltas that change it at one tick (paper, section 2).

    >>> from substrate import EventLog
    >>> fact = (ox.NamedNode("urn:ann"), LOCATION, ox.NamedNode("urn:cafe"))
    >>> [(delta.tick, delta.op.name) for delta in Assert(fact).deltas(EventLog().state(), tick=3)]
    [(3, 'INSERT')]
    """

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """The deltas of this intervention on ``state``, all at ``tick``.

        Raises:
            InterventionError: the precondition does not hold.
        """
        ...


class _Typed:
    """The base of the interventions: their declarations, and the common case of a single delta."""

    takes: ClassVar[str]
    """The names of the terms, in order."""
    about: ClassVar[str]  # a sentence for help texts
    example: ClassVar[str]  # the arguments of a command
    lasting: ClassVar[bool] = False
    """True if the change outlasts later observations: a fork omits the deltas that contradict it."""
    op: ClassVar[Op]
    refusal: ClassVar[tuple[str, str]]
    """The error for a triple that already holds, or does not hold, and the advice."""

    def spo(self) -> Sequence[object]:
        """The subject, predicate and object of the intervention's triple."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        terms, name = self.spo(), type(self).__name__
        if not isinstance(terms, tuple | list) or len(terms) != 3:
            hint = "Give subject, predicate and object"
            raise ParameterError(f"{terms!r} is not three terms", where=(name,), hint=hint)
        try:
            fact = triple(*terms)  # pyright: ignore[reportArgumentType]  # it refuses a value that is no term
        except ParameterError as error:
            raise error.within(name) from None
        # The last field is the triple, or its object
        for field, value in (("triple", fact), ("fact", fact[2]), ("location", fact[2])):
            if hasattr(self, field):
                object.__setattr__(self, field, value)

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """The deltas on a state, all at one tick; errors as :meth:`Intervention.deltas`."""
        fact: Triple = tuple(self.spo())  # pyright: ignore[reportAssignmentType]
        if (fact in state) is (self.op is Op.INSERT):
            raise self._refused(tick, self.refusal[0].format(*fact), self.refusal[1])
        return [Delta(tick, self.op, fact)]

    def _refused(self, tick: int, why: str, hint: str) -> InterventionError:
        return InterventionError(f"{type(self).__name__}: {why}", where=(f"tick {tick}",), hint=hint)


@dataclass(frozen=True)
class _OfTriple(_Typed):
    triple: Triple

    takes = "S P O"

    def spo(self) -> Sequence[object]:
        return self.triple


@dataclass(frozen=True)
class _OfAwareness(_Typed):
    agent: Node
    fact: Term
    predicate: ox.NamedNode = AWARE_OF

    takes = "AGENT FACT"

    def spo(self) -> Sequence[object]:
        return self.agent, self.predicate, self.fact


class Assert(_OfTriple):
    """Make a triple true. Precondition: it does not hold yet.

    >>> from substrate import EventLog, fork
    >>> ann, cafe = ox.NamedNode("urn:ann"), ox.NamedNode("urn:cafe")
    >>> (ann, LOCATION, cafe) in fork(EventLog(), 0, Assert((ann, LOCATION, cafe))).state(0)
    True
    """

    about = "Make a triple true."
    example = "assert entity:john :knows entity:party"
    op = Op.INSERT
    refusal = "{} {} {} holds already", "Assert a triple that does not hold"


class Retract(_OfTriple):
    """Make a triple false. Precondition: it holds.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:location> <urn:home> .")])
    >>> len(fork(log, 1, Retract((ox.NamedNode("urn:ann"), LOCATION, ox.NamedNode("urn:home")))).state(1))
    0
    """

    about = "Make a triple false."
    example = "retract entity:john :plans entity:plan2"
    op = Op.RETRACT
    refusal = "{} {} {} does not hold", "Retract a triple of the state before the branch tick"


@dataclass(frozen=True)
class OverrideLocation(_Typed):
    """Put an entity elsewhere. Precondition: it has exactly one location, which differs from the new one.

    Args:
        entity: the entity to move.
        location: its new location.
        predicate: the TBox's property of place; by default the core's own.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:location> <urn:home> .")])
    >>> branch = fork(log, 1, OverrideLocation(ox.NamedNode("urn:ann"), ox.NamedNode("urn:cafe")))
    >>> [place.value for _, _, place in branch.state(1)]
    ['urn:cafe']
    """

    entity: Node
    location: Term
    predicate: ox.NamedNode = LOCATION

    takes = "ENTITY PLACE"
    about = "Put an entity elsewhere."
    example = "override-location entity:john entity:park"
    lasting = True

    def spo(self) -> Sequence[object]:
        """The triple of the new location."""
        return self.entity, self.predicate, self.location

    def deltas(self, state: State, tick: int) -> list[Delta]:
        """The retraction of the old location and the insertion of the new."""
        places = [place for _, _, place in state.match(self.entity, self.predicate)]
        if len(places) != 1:
            why = f"{self.entity} has {len(places)} locations by {self.predicate}"
            raise self._refused(tick, why, "Name an entity with exactly one location")
        if places[0] == self.location:
            raise self._refused(tick, f"{self.entity} is at {self.location} already", "Name another location")
        return [
            Delta(tick, Op.RETRACT, (self.entity, self.predicate, places[0])),
            Delta(tick, Op.INSERT, (self.entity, self.predicate, self.location)),
        ]


class AssertAwareness(_OfAwareness):
    """Let an agent know a fact: a node, or a triple term. Precondition: the agent does not know it.

    >>> from substrate import EventLog, fork
    >>> ann, secret = ox.NamedNode("urn:ann"), ox.NamedNode("urn:secret")
    >>> (ann, AWARE_OF, secret) in fork(EventLog(), 0, AssertAwareness(ann, secret)).state(0)
    True
    """

    about = "Let an agent know a fact."
    example = "assert-awareness entity:sam entity:party"
    op = Op.INSERT
    refusal = "{0} is aware of {2} already", "Name a fact the agent does not know"


class RetractAwareness(_OfAwareness):
    """Let an agent not know a fact. Precondition: the agent knows it.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:substrate:awareOf> <urn:secret> .")])
    >>> len(fork(log, 1, RetractAwareness(ox.NamedNode("urn:ann"), ox.NamedNode("urn:secret"))).state(1))
    0
    """

    about = "Let an agent not know a fact."
    example = "retract-awareness entity:john entity:party"
    op = Op.RETRACT
    refusal = "{0} is not aware of {2}", "Name a fact the agent knows before the branch tick"


INTERVENTIONS: Mapping[str, Any] = {
    re.sub("(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind
    for kind in (Assert, Retract, OverrideLocation, AssertAwareness, RetractAwareness)
}
"""The interventions by name, such as ``override_location``."""


def new_intervention(name: str, terms: Sequence[Any], predicate: ox.NamedNode | None = None) -> Intervention:
    """Make an intervention from its name and its terms.

    Args:
        name: one of :data:`INTERVENTIONS`.
        terms: the intervention's terms; a property of place or awareness may follow them.
        predicate: the property if none follows the terms; by default the core's own.

    Raises:
        ParameterError: the name is unknown, or the number of terms is wrong.

    >>> ann, secret = ox.NamedNode("urn:ann"), ox.NamedNode("urn:secret")
    >>> new_intervention("assert_awareness", [ann, secret]) == AssertAwareness(ann, secret)
    True
    """
    kind = INTERVENTIONS.get(name)
    if kind is None:
        hint = f"Choose one of {', '.join(INTERVENTIONS)}"
        raise ParameterError(f"unknown intervention {name!r}", hint=hint)
    takes, whole = len(kind.takes.split()), issubclass(kind, _OfTriple)
    if len(terms) not in ((takes,) if whole else (takes, takes + 1)):
        raise ParameterError(f"{name} takes {kind.takes}, not {len(terms)} terms", hint="Give these terms")
    if whole:
        return kind(tuple(terms))
    named = terms[takes:] or ([predicate] if predicate else [])
    return kind(*terms[:takes], *named)
