"""Typed facts ► RDF deltas: one event log a story, a sentence's number its tick.

At tick 0 stands the TBox's common knowledge (motives and where they lead, inverse relations, the order
of the times of day). Each sentence adds an event node, and changes what holds: who is where, who
carries what. What a sentence changes is read from the state its predecessors left, by the triples and
by SPARQL; there is no other memory of the story.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from urllib.parse import quote

import pyoxigraph as ox

from substrate.domains.babi.format import Statement, Story
from substrate.domains.babi.grammar import (
    Absent,
    Belongs,
    Dropped,
    Either,
    Fact,
    Fears,
    Gave,
    Moved,
    Pronoun,
    Quality,
    Related,
    Took,
    Who,
    parse_fact,
)
from substrate.errors import FormatError
from substrate.log import EventLog
from substrate.replay import Replay, State
from substrate.tbox import TBox
from substrate.vocabulary import RDF_TYPE

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


def event(tick: int) -> ox.NamedNode:
    """The IRI of the event that the sentence of a tick tells; no entity's name has a colon."""
    return ox.NamedNode(f"{ENTITY}event:{tick}")


AT, NOT_AT, MAY_BE_AT, CARRIES, GENDER = map(term, ("at", "notAt", "mayBeAt", "carries", "gender"))


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
    """The event log of a story.

    Raises:
        FormatError: a sentence is none of the grammar's, its pronoun has no antecedent, or its adjective
            is neither a colour nor a motive; names file, line and text.
    """
    log = EventLog()
    log.extend_lines((0, line) for line in common_knowledge())
    replay = Replay(log)
    for statement in story.statements:
        state = replay.seek(statement.id - 1)
        try:
            lines = list(fact_lines(parse_fact(statement.text), statement, state))
        except FormatError as error:
            raise error.within(*story.where(statement)[:2]) from error
        log.extend_lines((statement.id, line) for line in lines)
    return log


def fact_lines(fact: Fact, statement: Statement, state: State) -> Lines:
    """The deltas of one fact as RDF Patch lines, given the state before it."""
    return _DELTAS[type(fact)](_Teller(statement, state), fact)


class _Teller:
    """One sentence being told: its tick, its event, and the state before it."""

    def __init__(self, statement: Statement, state: State) -> None:
        self.tick, self.text, self.state = statement.id, statement.text, state
        self.event = event(statement.id)

    def mention(self, name: str, *classes: str) -> Lines:
        """Type and label of an entity, where the state lacks them."""
        node = entity(name)
        if not any(True for _ in self.state.match(node, LABEL)):
            yield f"A {node} {LABEL} {ox.Literal(name)} ."
        yield from (
            f"A {node} {RDF_TYPE} {term(kind)} ."
            for kind in classes
            if (node, RDF_TYPE, term(kind)) not in self.state
        )

    def happens(self, kind: str, **roles: ox.NamedNode | Iterable[ox.NamedNode]) -> Lines:
        """The sentence's event with its roles."""
        yield f"A {self.event} {RDF_TYPE} {term(kind)} ."
        yield f"A {self.event} {term('tick')} {ox.Literal(self.tick)} ."
        for role, filler in roles.items():
            for node in (filler,) if isinstance(filler, ox.NamedNode) else filler:
                yield f"A {self.event} {term(role)} {node} ."

    def people(self, who: Who) -> tuple[list[ox.NamedNode], list[str]]:
        """Whom a subject means, and the lines that its mention adds."""
        if isinstance(who, Pronoun):
            return self._antecedent(who.word)
        return [entity(name) for name in who], [line for name in who for line in self.mention(name, "Agent")]

    def _antecedent(self, pronoun: str) -> tuple[list[ox.NamedNode], list[str]]:
        """The agents of the latest event that has as many as the pronoun asks for and none of another gender."""
        plural = pronoun == "they"
        found = self.state.query(
            f"""SELECT ?event (MIN(?tick) AS ?when) WHERE {{
                ?event :agent ?agent ; :tick ?tick .
                FILTER NOT EXISTS {{ ?event :agent/:gender ?gender FILTER({"false" if plural else f'?gender != "{pronoun}"'}) }}
            }} GROUP BY ?event HAVING(COUNT(?agent) {">" if plural else "="} 1) ORDER BY DESC(?when) LIMIT 1""",
            prefixes=PREFIXES,
        )
        for antecedent, _ in found:  # pyright: ignore[reportGeneralTypeIssues]
            agents = self.objects(antecedent, term("agent"))
            lines = [f"A {self.event} {term('antecedent')} {antecedent} ."]
            if not plural and (agents[0], GENDER, ox.Literal(pronoun)) not in self.state:
                lines.append(f"A {agents[0]} {GENDER} {ox.Literal(pronoun)} .")
            return agents, lines
        raise FormatError(
            f"{pronoun!r} has no antecedent in {self.text!r}",
            hint="Name the people before taking them up by a pronoun",
        )

    def objects(self, node: ox.NamedNode, predicate: ox.NamedNode) -> list[ox.NamedNode]:
        """What a node has by a predicate, sorted."""
        return sorted(
            (found for _, _, found in self.state.match(node, predicate) if isinstance(found, ox.NamedNode)),
            key=str,
        )

    def relocate(
        self, node: ox.NamedNode, places: Iterable[ox.NamedNode], predicate: ox.NamedNode = AT
    ) -> Lines:
        """Put something at a place, at one of several (``mayBeAt``), or nowhere known; what was known before
        is retracted.
        """
        for known in (AT, NOT_AT, MAY_BE_AT):
            yield from (f"D {node} {known} {place} ." for place in self.objects(node, known))
        yield from (f"A {node} {predicate} {place} ." for place in places)

    def is_latest(self, agent: ox.NamedNode, period: str) -> bool:
        """Whether nothing is told of an agent's later periods."""
        return period == "now" or not self.state.query(
            f"ASK {{ ?event :agent {agent} ; :period/:rank ?later . {term(period)} :rank ?rank FILTER(?later > ?rank) }}",
            prefixes=PREFIXES,
        )


def _moved(teller: _Teller, fact: Moved) -> Lines:
    agents, mention = teller.people(fact.who)
    place, period = entity(fact.place), fact.period or "now"
    movers = [agent for agent in agents if teller.is_latest(agent, period)]
    brought = [thing for agent in movers for thing in teller.objects(agent, CARRIES)]
    yield from mention
    yield from teller.mention(fact.place, "Place")
    yield from teller.happens("Move", agent=agents, brought=brought, place=place, period=term(period))
    for node in (*movers, *brought):
        yield from teller.relocate(node, [place])


def _absent(teller: _Teller, fact: Absent) -> Lines:
    agents, mention = teller.people(fact.who)
    place = entity(fact.place)
    yield from mention
    yield from teller.mention(fact.place, "Place")
    yield from teller.happens("Absence", agent=agents)
    for agent in agents:
        alternatives = teller.objects(agent, MAY_BE_AT)
        left = [other for other in alternatives if other != place]
        if left and left != alternatives:
            for node in (agent, *teller.objects(agent, CARRIES)):
                yield from teller.relocate(node, left, AT if len(left) == 1 else MAY_BE_AT)
        elif alternatives and not left:
            yield from teller.relocate(agent, [place], NOT_AT)
            for thing in teller.objects(agent, CARRIES):
                yield from teller.relocate(thing, [])
        elif not alternatives and (place in (known := teller.objects(agent, AT)) or not known):
            for node in (agent, *teller.objects(agent, CARRIES)):
                yield from (f"D {node} {AT} {place} ." for _ in known)
            yield f"D {agent} {NOT_AT} {place} ."
            yield f"A {agent} {NOT_AT} {place} ."


def _either(teller: _Teller, fact: Either) -> Lines:
    # "Either in the park or the park" stays indefinite: the teller commits to nothing.
    agents, mention = teller.people(fact.who)
    yield from mention
    for name in fact.places:
        yield from teller.mention(name, "Place")
    yield from teller.happens("Alternative", agent=agents)
    for agent in agents:
        for node in (agent, *teller.objects(agent, CARRIES)):
            yield from teller.relocate(
                node, sorted({entity(name) for name in fact.places}, key=str), MAY_BE_AT
            )


def _took(teller: _Teller, fact: Took) -> Lines:
    (agent, *_), mention = teller.people(fact.who)
    yield from mention
    yield from _handled(teller, "Take", agent, fact.thing, agent)


def _dropped(teller: _Teller, fact: Dropped) -> Lines:
    (agent, *_), mention = teller.people(fact.who)
    yield from mention
    yield from _handled(teller, "Drop", agent, fact.thing, None)


def _gave(teller: _Teller, fact: Gave) -> Lines:
    (agent, *_), mention = teller.people(fact.who)
    yield from mention
    yield from teller.mention(fact.receiver, "Agent")
    yield from _handled(
        teller, "Give", agent, fact.thing, entity(fact.receiver), receiver=entity(fact.receiver)
    )


def _handled(
    teller: _Teller,
    kind: str,
    agent: ox.NamedNode,
    name: str,
    holder: ox.NamedNode | None,
    **roles: ox.NamedNode,
) -> Lines:
    """A thing changes hands: it is where its holder is, or the agent, and the holder, if any, carries it."""
    thing, places = entity(name), (teller.objects(holder, AT) if holder else []) or teller.objects(agent, AT)
    yield from teller.mention(name, "Thing")
    yield from teller.happens(kind, agent=agent, thing=thing, place=places, period=term("now"), **roles)
    yield from sorted(
        f"D {other} {CARRIES} {thing} ." for other, _, _ in teller.state.match(None, CARRIES, thing)
    )
    if holder:
        yield f"A {holder} {CARRIES} {thing} ."
    yield from teller.relocate(thing, places)


def _related(teller: _Teller, fact: Related) -> Lines:
    subject, other = entity(fact.subject), entity(fact.object)
    kind = "Place" if fact.relation in ("northOf", "southOf", "eastOf", "westOf") else "Thing"
    for name in (fact.subject, fact.object):
        yield from teller.mention(name, kind)
    yield f"A {subject} {term(fact.relation)} {other} ."
    yield f"A {other} {term(_inverses()[fact.relation])} {subject} ."


def _fears(teller: _Teller, fact: Fears) -> Lines:
    for name in fact:
        yield from teller.mention(name, "Kind")
    yield f"A {entity(fact.kind)} {term('fears')} {entity(fact.feared)} ."


def _belongs(teller: _Teller, fact: Belongs) -> Lines:
    individual, kind = entity(fact.individual), entity(fact.kind)
    yield from teller.mention(fact.individual, "Animal")
    yield from teller.mention(fact.kind, "Kind")
    yield from teller.happens("Description", described=individual, **{"as": kind})
    yield f"A {individual} {term('isA')} {kind} ."


def _quality(teller: _Teller, fact: Quality) -> Lines:
    individual, quality = entity(fact.individual), ox.NamedNode(NAMESPACE + quote(fact.quality))
    kinds = [kind for kind in ("Color", "Motive") if (quality, RDF_TYPE, term(kind)) in teller.state]
    if not kinds:
        raise FormatError(
            f"unknown adjective {fact.quality!r} in {teller.text!r}",
            hint="Add it to the TBox as a Color or a Motive",
        )
    yield from teller.mention(fact.individual, *(["Agent"] if kinds == ["Motive"] else []))
    for old in teller.objects(individual, term("quality")):
        if (old, RDF_TYPE, term(kinds[0])) in teller.state:
            yield f"D {individual} {term('quality')} {old} ."
    yield from teller.happens("Description", described=individual, **{"as": quality})
    yield f"A {individual} {term('quality')} {quality} ."


_DELTAS: dict[type, Callable[..., Lines]] = {
    Moved: _moved,
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
