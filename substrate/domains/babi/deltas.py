"""Typed facts ► RDF deltas: one event log a story, a sentence's number its tick.

At tick 0 stands the TBox's common knowledge (motives and where they lead, inverse relations, the order
of the times of day). Each sentence adds an event node, and changes what holds: who is where, who
carries what. What a sentence changes is read from the triples that its predecessors left; there is no other
memory of the story.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import NoReturn
from urllib.parse import quote

import pyoxigraph as ox

from substrate.base.delta import quads_of
from substrate.base.errors import FormatError
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains._facts import Facts, literal, text_of_term
from substrate.domains.babi._lexicon import lexicon
from substrate.domains.babi.facts import (
    Absent,
    Belongs,
    Departed,
    Dropped,
    Either,
    Fears,
    Gave,
    Moved,
    Pronoun,
    Quality,
    Related,
    Took,
    Who,
)
from substrate.domains.babi.format import Statement, Story
from substrate.domains.babi.sentences import parse_sentence
from substrate.log.event_log import EventLog
from substrate.log.state import State
from substrate.rules.tbox import TBox

NAMESPACE = "urn:substrate:babi:"
ENTITY = "urn:babi:"
LABEL = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
PREFIXES = {"": NAMESPACE, "entity": ENTITY, "rdfs": "http://www.w3.org/2000/01/rdf-schema#"}

Lines = Iterator[str]
"""RDF Patch lines of one sentence."""


def term(name: str) -> ox.NamedNode:
    """A class, predicate or individual of the TBox."""
    return ox.NamedNode(NAMESPACE + name)


def entity(name: str) -> ox.NamedNode:
    """The IRI of who or what a name means; case does not matter.

    >>> entity("box of chocolates").value
    'urn:babi:box_of_chocolates'
    """
    return ox.NamedNode(ENTITY + quote(name.lower().replace(" ", "_")))


def event(tick: int, order: int = 1) -> ox.NamedNode:
    """The IRI of an event that the sentence of a tick tells; no entity's name has a colon.

    >>> event(3).value, event(3, 2).value
    ('urn:babi:event:3', 'urn:babi:event:3:2')
    """
    return ox.NamedNode(f"{ENTITY}event:{tick}" + (f":{order}" if order > 1 else ""))


@lru_cache(maxsize=1 << 12)
def _entity(name: str) -> str:
    return str(entity(name))


@lru_cache(maxsize=1 << 10)
def _term(name: str) -> str:
    return str(term(name))


_CLASSES = ("Agent", "Place", "Thing", "Kind")
"""Kinds of which no two can be the same entity."""

AT, NOT_AT, MAY_BE_AT, CARRIES, GENDER, UNREAD, REASON = map(
    term, ("at", "notAt", "mayBeAt", "carries", "gender", "Unread", "reason")
)
_TYPE, _LABEL, _AT, _NOT_AT, _MAY_BE_AT, _CARRIES, _GENDER = map(
    str, (RDF_TYPE, LABEL, AT, NOT_AT, MAY_BE_AT, CARRIES, GENDER)
)


@cache
def common_knowledge() -> tuple[str, ...]:
    """The TBox's own facts as RDF Patch lines, sorted: what every story may take for granted."""
    quads = [quad for quad in ox.parse(TBox.load("babi").turtle, ox.RdfFormat.TURTLE) if _is_fact(quad)]
    individuals = {quad.subject for quad in quads}
    labels = [
        quad
        for quad in ox.parse(TBox.load("babi").turtle, ox.RdfFormat.TURTLE)
        if quad.predicate == LABEL and quad.subject in individuals
    ]
    return tuple(sorted(f"A {quad} ." for quad in (*quads, *labels)))


@cache
def _common_quads() -> tuple[range, list[ox.Quad]]:
    """The same as quads, with their numbers in a story's log, which opens with them."""
    quads = quads_of(line[2:-2] for line in common_knowledge())
    return range(len(quads)), quads


def _is_fact(quad: ox.Quad) -> bool:
    classified = quad.object if quad.predicate == RDF_TYPE else quad.predicate
    return isinstance(classified, ox.NamedNode) and classified.value.startswith(NAMESPACE)


@cache
def _inverses() -> dict[str, str]:
    """Each relation's name to its inverse's."""
    parts = (line.split() for line in common_knowledge() if f" <{NAMESPACE}inverse> " in line)
    return {
        subject[1:-1].removeprefix(NAMESPACE): value[1:-1].removeprefix(NAMESPACE)
        for _, subject, _, value, _ in parts
    }


def story_log(story: Story) -> EventLog:
    """The event log of a story, as far as it can be read.

    A story ends at the first sentence that cannot be read: a part of it is none of the grammar's, a pronoun
    has no antecedent or several, an adjective is neither a colour nor a motive, a name is that of a person
    and of a thing, or what is told goes against what was told before. The log then says so
    (:func:`unread`).

    >>> from substrate.domains.babi.format import parse_stories
    >>> (story,) = parse_stories("1 Mary sings loudly.\\n", file="f", subset="qa1")
    >>> tick, reason = unread(story_log(story).head)
    >>> tick, reason.partition(". ")[0]
    (1, "unknown sentence 'Mary sings loudly.': 'sings loudly' cannot be read")
    """
    facts, deltas, told = Facts(), list[tuple[int, str]](), list[str]()

    def tell(tick: int, lines: Iterable[str]) -> None:
        for line in lines:
            facts.change(line[0], line[2:-2])
            deltas.append((tick, line))

    tell(0, common_knowledge())
    for statement in story.statements:
        try:
            for order, fact in enumerate(parse_sentence(statement.text, _kinds(facts)), start=1):
                # What a sentence tells second is told of the state that its first part left.
                teller = _Teller(statement, facts, order, told)
                tell(statement.id, list(_DELTAS[type(fact)](teller, fact)))
                if facts.objects(teller.event, _term("tick")):
                    told.append(teller.event)
        except FormatError as error:
            node = event(statement.id)
            lines = (
                f"A {node} {RDF_TYPE} {UNREAD} .",
                f"A {node} {_term('tick')} {ox.Literal(statement.id)} .",
                f"A {node} {REASON} {ox.Literal(str(error))} .",
            )
            tell(statement.id, lines)
            break
    log = EventLog()
    log.extend_lines(deltas)
    # A question's SPARQL needs these quads, in every story
    log.triples.keep(*_common_quads())
    return log


def unread(state: State) -> tuple[int, str] | None:
    """The tick of the sentence that could not be read and why; ``None`` where all were read by then."""
    for tick, reason in state.query(  # pyright: ignore[reportGeneralTypeIssues]
        "SELECT ?tick ?reason { ?sentence a :Unread ; :tick ?tick ; :reason ?reason }", prefixes=PREFIXES
    ):
        return int(tick.value), reason.value
    return None


def _kinds(facts: Facts) -> Callable[[str], frozenset[str]]:
    """The classes of nouns: those that were given them, and the TBox's where none were."""

    def kinds(noun: str) -> frozenset[str]:
        types = facts.objects(_entity(noun), _TYPE)
        return frozenset(kind[1:-1].removeprefix(NAMESPACE) for kind in types) or lexicon().kinds(noun)

    return kinds


class _Teller:
    """A fact of a sentence being told: its tick, its event, what holds before it, and the events before it.

    Terms are spelled as in N-Triples.
    """

    def __init__(self, statement: Statement, facts: Facts, order: int, told: Sequence[str]) -> None:
        self.tick, self.text, self.facts, self.order = statement.id, statement.text, facts, order
        self.event, self.told = str(event(statement.id, order)), told

    def fail(self, what: str, hint: str) -> NoReturn:
        """Refuse the sentence."""
        raise FormatError(f"{what} in {self.text!r}", hint=hint)

    def mention(self, name: str, *classes: str) -> Lines:
        """Type and label of an entity, where the state lacks them."""
        node = _entity(name)
        for known, kind in product(_CLASSES, classes):
            if kind in _CLASSES and known != kind and (node, _TYPE, _term(known)) in self.facts:
                self.fail(f"{name!r} is both {known} and {kind}", "Give each of the two a name of its own")
        if not self.facts.objects(node, _LABEL):
            yield f"A {node} {_LABEL} {literal(name)} ."
        yield from (
            f"A {node} {_TYPE} {_term(kind)} ."
            for kind in classes
            if (node, _TYPE, _term(kind)) not in self.facts
        )

    def happens(self, kind: str, **roles: str | Iterable[str]) -> Lines:
        """The sentence's event with its roles."""
        yield f"A {self.event} {_TYPE} {_term(kind)} ."
        yield f"A {self.event} {_term('tick')} {_integer(self.tick)} ."
        if self.order > 1:
            yield f"A {self.event} {_term('order')} {_integer(self.order)} ."
        for role, filler in roles.items():
            for node in (filler,) if isinstance(filler, str) else filler:
                yield f"A {self.event} {_term(role)} {node} ."

    def people(self, who: Who) -> tuple[list[str], list[str]]:
        """Whom a subject means, and the lines that its mention adds."""
        if isinstance(who, Pronoun):
            return self._antecedent(who.word)
        return [_entity(name) for name in who], [line for name in who for line in self.mention(name, "Agent")]

    def _antecedent(self, pronoun: str) -> tuple[list[str], list[str]]:
        """The people of the latest event that names as many as the pronoun asks for, and no other gender."""
        hint = "Name the people before taking them up by a pronoun, and one only where it means one"
        for antecedent, people in self._latest_people():
            fitting = [person for person in people if self._may_be(person, pronoun)]
            if pronoun == "they":
                if len(people) > 1:
                    return people, [f"A {self.event} {_term('antecedent')} {antecedent} ."]
            elif len(fitting) > 1:
                names = " or ".join(_bare(person).removeprefix(ENTITY) for person in fitting)
                self.fail(f"{pronoun!r} may be {names}", hint)
            elif fitting:
                lines = [f"A {self.event} {_term('antecedent')} {antecedent} ."]
                if (fitting[0], _GENDER, literal(pronoun)) not in self.facts:
                    lines.append(f"A {fitting[0]} {_GENDER} {literal(pronoun)} .")
                return fitting, lines
        return self.fail(f"{pronoun!r} has no antecedent", hint)

    def _latest_people(self) -> list[tuple[str, list[str]]]:
        """The events that name people, latest first, each with its people, sorted."""
        found = {
            node: [
                person
                for role in ("agent", "receiver", "described")
                for person in self.facts.objects(node, _term(role))
            ]
            for node in reversed(self.told)
        }
        return [(node, sorted(people, key=_bare)) for node, people in found.items() if people]

    def _may_be(self, person: str, pronoun: str) -> bool:
        """Tell whether nothing says that a person is taken up by another pronoun."""
        return set(self.facts.objects(person, _GENDER)) <= {literal(pronoun)}

    def objects(self, node: str, predicate: str) -> list[str]:
        """A node's objects by a predicate, sorted."""
        return sorted(found for found in self.facts.objects(node, predicate) if found[0] == "<")

    def holders(self, thing: str) -> list[str]:
        """Those who are known to hold a thing."""
        return list(self.facts.subjects(_CARRIES, _entity(thing)))

    def relocate(self, node: str, places: Iterable[str], predicate: str = _AT) -> Lines:
        """Put something at a place, at one of several (``mayBeAt``), or nowhere known; what was known before
        is retracted.
        """
        for known in (_AT, _NOT_AT, _MAY_BE_AT):
            yield from (f"D {node} {known} {place} ." for place in self.objects(node, known))
        yield from (f"A {node} {predicate} {place} ." for place in places)

    def is_latest(self, agent: str, period: str) -> bool:
        """Tell whether nothing is told of an agent's later periods."""
        if period == "now":
            return True
        events = self.facts.subjects(_term("agent"), agent)
        periods = {one for node in events for one in self.facts.objects(node, _term("period"))}
        ranks, told = self._ranks(_term(period)), [later for one in periods for later in self._ranks(one)]
        return all(later <= rank for rank in ranks for later in told)

    def _ranks(self, period: str) -> list[int]:
        return [int(text_of_term(rank)) for rank in self.facts.objects(period, _term("rank"))]


def _bare(node: str) -> str:
    """An IRI without its brackets, by which SPARQL sorts."""
    return node[1:-1]


def _integer(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def _moved(teller: _Teller, fact: Moved) -> Lines:
    agents, mention = teller.people(fact.who)
    place, period = _entity(fact.place), fact.period or "now"
    movers = [agent for agent in agents if teller.is_latest(agent, period)]
    brought = [thing for agent in movers for thing in teller.objects(agent, _CARRIES)]
    yield from mention
    yield from teller.mention(fact.place, "Place")
    yield from teller.happens("Move", agent=agents, brought=brought, place=place, period=_term(period))
    for node in (*movers, *brought):
        yield from teller.relocate(node, [place])


def _departed(teller: _Teller, fact: Departed) -> Lines:
    agents, mention = teller.people(fact.who)
    place = _entity(fact.place)
    yield from mention
    yield from teller.mention(fact.place, "Place")
    yield from teller.happens("Departure", agent=agents, place=place, period=_term("now"))
    for agent in agents:
        yield from teller.relocate(agent, [place], _NOT_AT)
        for thing in teller.objects(agent, _CARRIES):
            yield from teller.relocate(thing, [])


def _absent(teller: _Teller, fact: Absent) -> Lines:
    agents, mention = teller.people(fact.who)
    place = _entity(fact.place)
    yield from mention
    yield from teller.mention(fact.place, "Place")
    yield from teller.happens("Absence", agent=agents)
    for agent in agents:
        alternatives = teller.objects(agent, _MAY_BE_AT)
        left = [other for other in alternatives if other != place]
        if left and left != alternatives:
            for node in (agent, *teller.objects(agent, _CARRIES)):
                yield from teller.relocate(node, left, _AT if len(left) == 1 else _MAY_BE_AT)
        elif alternatives and not left:
            yield from teller.relocate(agent, [place], _NOT_AT)
            for thing in teller.objects(agent, _CARRIES):
                yield from teller.relocate(thing, [])
        elif not alternatives and (place in (known := teller.objects(agent, _AT)) or not known):
            for node in (agent, *teller.objects(agent, _CARRIES)):
                yield from (f"D {node} {_AT} {place} ." for _ in known)
            yield f"D {agent} {_NOT_AT} {place} ."
            yield f"A {agent} {_NOT_AT} {place} ."


def _either(teller: _Teller, fact: Either) -> Lines:
    # "Either in the park or the park" stays indefinite: the teller commits to nothing.
    agents, mention = teller.people(fact.who)
    yield from mention
    for name in fact.places:
        yield from teller.mention(name, "Place")
    yield from teller.happens("Alternative", agent=agents)
    for agent in agents:
        for node in (agent, *teller.objects(agent, _CARRIES)):
            yield from teller.relocate(node, sorted({_entity(name) for name in fact.places}), _MAY_BE_AT)


def _took(teller: _Teller, fact: Took) -> Lines:
    (agent, *_), mention = teller.people(fact.who)
    holders = teller.holders(fact.thing)
    if fact.source and holders and holders != [_entity(fact.source)]:
        teller.fail(
            f"{fact.source!r} is said to hold the {fact.thing}", "Someone else was told to have taken it"
        )
    yield from mention
    if fact.source:
        yield from teller.mention(fact.source, "Agent")
    yield from _handled(teller, "Take", agent, fact.thing, agent, fact.place)


def _dropped(teller: _Teller, fact: Dropped) -> Lines:
    (agent, *_), mention = teller.people(fact.who)
    yield from mention
    if agent in (teller.holders(fact.thing) or [agent]):
        yield from _handled(teller, "Drop", agent, fact.thing, None, fact.place)
    else:
        yield from _claimed(teller, agent, fact.thing, fact.place)


def _gave(teller: _Teller, fact: Gave) -> Lines:
    (agent, *_), mention = teller.people(fact.who)
    receiver = _entity(fact.receiver)
    yield from mention
    yield from teller.mention(fact.receiver, "Agent")
    if agent in (teller.holders(fact.thing) or [agent]):
        yield from _handled(teller, "Give", agent, fact.thing, receiver, receiver=receiver)
    else:
        yield from _claimed(teller, agent, fact.thing, None, receiver=receiver)


def _claimed(teller: _Teller, agent: str, thing: str, place: str | None, **roles: str) -> Lines:
    """Someone is told to let go of a thing that another holds: the thing stays with its holder.

    Where the sentence names the place, the agent is there, with all that the agent carries.
    """
    if place and teller.objects(agent, _AT) != [_entity(place)]:
        yield from teller.mention(place, "Place")
        for node in (agent, *teller.objects(agent, _CARRIES)):
            yield from teller.relocate(node, [_entity(place)])
    yield from teller.happens(
        "Claim", agent=agent, claimed=_entity(thing), place=teller.objects(agent, _AT), **roles
    )


def _handled(
    teller: _Teller,
    kind: str,
    agent: str,
    name: str,
    holder: str | None,
    told_place: str | None = None,
    **roles: str,
) -> Lines:
    """A thing changes hands: it is where its holder is, or the agent, and the holder, if any, carries it.

    Where the sentence names the place, the agent is there too, with all that the agent carries.
    """
    thing, places = (
        _entity(name),
        (teller.objects(holder, _AT) if holder else []) or teller.objects(agent, _AT),
    )
    if told_place:
        yield from teller.mention(told_place, "Place")
        if places != [_entity(told_place)]:
            places = [_entity(told_place)]
            for node in (agent, *teller.objects(agent, _CARRIES)):
                if node != thing:
                    yield from teller.relocate(node, places)
    yield from teller.mention(name, "Thing")
    yield from teller.happens(kind, agent=agent, thing=thing, place=places, period=_term("now"), **roles)
    yield from sorted(f"D {other} {_CARRIES} {thing} ." for other in teller.facts.subjects(_CARRIES, thing))
    if holder:
        yield f"A {holder} {_CARRIES} {thing} ."
    yield from teller.relocate(thing, places)


def _related(teller: _Teller, fact: Related) -> Lines:
    subject, other = _entity(fact.subject), _entity(fact.object)
    kind = "Place" if fact.relation in ("northOf", "southOf", "eastOf", "westOf") else "Thing"
    for name in (fact.subject, fact.object):
        is_place = (_entity(name), _TYPE, _term("Place")) in teller.facts
        yield from teller.mention(name, "Place" if is_place else kind)
    yield f"A {subject} {_term(fact.relation)} {other} ."
    yield f"A {other} {_term(_inverses()[fact.relation])} {subject} ."


def _fears(teller: _Teller, fact: Fears) -> Lines:
    for name in fact:
        yield from teller.mention(name, "Kind")
    yield f"A {_entity(fact.kind)} {_term('fears')} {_entity(fact.feared)} ."


def _belongs(teller: _Teller, fact: Belongs) -> Lines:
    individual, kind = _entity(fact.individual), _entity(fact.kind)
    yield from teller.mention(fact.individual, "Animal")
    yield from teller.mention(fact.kind, "Kind")
    yield from teller.happens("Description", described=individual, **{"as": kind})
    yield f"A {individual} {_term('isA')} {kind} ."


def _quality(teller: _Teller, fact: Quality) -> Lines:
    individual, quality = _entity(fact.individual), f"<{NAMESPACE}{quote(fact.quality)}>"
    kinds = [kind for kind in ("Color", "Motive") if (quality, _TYPE, _term(kind)) in teller.facts]
    if not kinds:
        raise FormatError(
            f"unknown adjective {fact.quality!r} in {teller.text!r}",
            hint="Add it to the TBox as a Color or a Motive",
        )
    yield from teller.mention(fact.individual, *(["Agent"] if kinds == ["Motive"] else []))
    for old in teller.objects(individual, _term("quality")):
        if (old, _TYPE, _term(kinds[0])) in teller.facts:
            yield f"D {individual} {_term('quality')} {old} ."
    yield from teller.happens("Description", described=individual, **{"as": quality})
    yield f"A {individual} {_term('quality')} {quality} ."


_DELTAS: dict[type, Callable[..., Lines]] = {
    Moved: _moved,
    Departed: _departed,
    Absent: _absent,
    Either: _either,
    Took: _took,
    Dropped: _dropped,
    Gave: _gave,
    Related: _related,
    Fears: _fears,
    Belongs: _belongs,
    Quality: _quality,
}
