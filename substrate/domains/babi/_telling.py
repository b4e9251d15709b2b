"""Tell a fact: its changes to its story so far, as RDF Patch lines.

Terms are spelled as in N-Triples. The changes are computed from the triples that earlier facts left; there is
no other memory of the story.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

from substrate.base.errors import FormatError
from substrate.base.ntriples import integer
from substrate.base.vocabulary import RDFS_LABEL
from substrate.domains._facts import Facts, literal, text_of_term
from substrate.domains.babi._terms import AT, CARRIES, MAY_BE_AT, NOT_AT, TICK, TYPE, event, iri, local, term
from substrate.domains.babi.format import Statement

_LABEL, _GENDER, _RANK = str(RDFS_LABEL), term("gender"), term("rank")
_CLASSES = ("Agent", "Place", "Thing", "Kind")
"""Classes that exclude each other."""


class Pronoun(NamedTuple):
    """A subject whose antecedent is in an earlier sentence: ``he``, ``she`` or ``they``."""

    word: str


Who = tuple[str, ...] | Pronoun
"""The people of a sentence: their names, or a pronoun."""


class Telling:
    """A sentence's fact while its changes are written.

    Attributes:
        event: the fact's event.
        facts: the state before it.
        earlier: the events before it, in order.
        lines: its changes so far.
    """

    def __init__(self, statement: Statement, order: int, facts: Facts, earlier: Sequence[str]) -> None:
        self.text, self.tick, self.order = statement.text, statement.id, order
        self.event, self.facts, self.earlier = event(statement.id, order), facts, earlier
        self.lines: list[str] = []

    def fail(self, what: str, hint: str) -> NoReturn:
        """Refuse the sentence."""
        raise FormatError(f"{what} in {self.text!r}", hint=hint)

    def add(self, subject: str, predicate: str, *objects: str) -> None:
        """Insert triples of a subject, a predicate and each object."""
        self.lines += (f"A {subject} {predicate} {object_} ." for object_ in objects)

    def drop(self, subject: str, predicate: str, *objects: str) -> None:
        """Retract triples of a subject, a predicate and each object."""
        self.lines += (f"D {subject} {predicate} {object_} ." for object_ in objects)

    def is_a(self, node: str, kind: str) -> bool:
        """Tell whether an individual is known to have a class."""
        return (node, TYPE, term(kind)) in self.facts

    def objects(self, node: str, predicate: str) -> list[str]:
        """The individuals that a node has by a predicate, sorted."""
        return sorted(other for other in self.facts.objects(node, predicate) if other[0] == "<")

    def holders(self, thing: str) -> list[str]:
        """The people who are known to hold a thing."""
        return list(self.facts.subjects(CARRIES, thing))

    def mention(self, name: str, kind: str = "") -> str:
        """The node of a named entity; its label and its class are inserted if they are not known."""
        node = iri(name)
        for known in _CLASSES if kind in _CLASSES else ():
            if known != kind and self.is_a(node, known):
                self.fail(f"{name!r} is both {known} and {kind}", "Give each of the two a name of its own")
        if not self.facts.objects(node, _LABEL):
            self.add(node, _LABEL, literal(name))
        if kind and not self.is_a(node, kind):
            self.add(node, TYPE, term(kind))
        return node

    def happens(self, kind: str, **roles: str | Iterable[str]) -> None:
        """Insert the sentence's event with its roles."""
        self.add(self.event, TYPE, term(kind))
        self.add(self.event, TICK, integer(self.tick))
        if self.order > 1:
            self.add(self.event, term("order"), integer(self.order))
        for role, filler in roles.items():
            self.add(self.event, term(role), *([filler] if isinstance(filler, str) else filler))

    def people(self, who: Who) -> list[str]:
        """The people whom a subject means.

        ``he`` or ``she`` means the only person not of another gender in the latest event with such people;
        ``they`` means everyone in the latest event with at least two people.
        """
        if not isinstance(who, Pronoun):
            return [self.mention(name, "Agent") for name in who]
        pronoun = who.word
        hint = "Name the people before taking them up by a pronoun, and one only where it means one"
        for antecedent in reversed(self.earlier):
            people = [
                person
                for role in ("agent", "receiver", "described")
                for person in self.facts.objects(antecedent, term(role))
            ]
            people.sort(key=local)
            if pronoun == "they":
                people = people if len(people) > 1 else []
            else:
                people = [p for p in people if {*self.facts.objects(p, _GENDER)} <= {literal(pronoun)}]
                if len(people) > 1:
                    names = " or ".join(local(person) for person in people)
                    self.fail(f"{pronoun!r} may be {names}", hint)
            if people:
                self.add(self.event, term("antecedent"), antecedent)
                if pronoun != "they" and not self.facts.objects(people[0], _GENDER):
                    self.add(people[0], _GENDER, literal(pronoun))
                return people
        return self.fail(f"{pronoun!r} has no antecedent", hint)

    def put(self, node: str, places: Iterable[str], predicate: str = AT) -> None:
        """Replace a node's place with a place, one of several (``mayBeAt``), or none."""
        for known in (AT, NOT_AT, MAY_BE_AT):
            self.drop(node, known, *self.objects(node, known))
        self.add(node, predicate, *places)

    def bring(self, agent: str, places: Iterable[str], predicate: str = AT, *, but: str = "") -> None:
        """Bring an agent somewhere with everything that the agent carries, except ``but``."""
        for node in (agent, *self.objects(agent, CARRIES)):
            if node != but:
                self.put(node, places, predicate)

    def leave(self, agent: str, place: str) -> None:
        """Take an agent, with everything that the agent carries, from a place to nowhere known."""
        self.put(agent, [place], NOT_AT)
        for thing in self.objects(agent, CARRIES):
            self.put(thing, [])

    def is_latest(self, agent: str, period: str) -> bool:
        """Tell whether no later period is told of an agent."""
        if period == "now":
            return True
        events = self.facts.subjects(term("agent"), agent)
        periods = {term(period)}.union(*(self.facts.objects(node, term("period")) for node in events))
        return max(periods, key=self._rank) == term(period)

    def _rank(self, period: str) -> int:
        return max(int(text_of_term(rank)) for rank in self.facts.objects(period, _RANK))
