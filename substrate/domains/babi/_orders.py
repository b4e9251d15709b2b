"""Relations of place, position and size: what stands beside what, what follows from a chain, ways."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyoxigraph as ox

from substrate.base.errors import ProgramError
from substrate.domains.babi._reading import Reader, labelled
from substrate.domains.babi.deltas import entity, term
from substrate.domains.babi.queries import DoesRelate, RelatesToWhat, Route, WhatRelates
from substrate.log.event_log import Triple


def what_relates(reader: Reader, query: WhatRelates) -> str:
    """Name what stands in a relation to something."""
    return _one_relation(reader, query.relation, object=query.object)


def relates_to_what(reader: Reader, query: RelatesToWhat) -> str:
    """To what something stands in a relation."""
    return _one_relation(reader, query.relation, subject=query.subject)


def _one_relation(reader: Reader, relation: str, *, subject: str = "", object: str = "") -> str:
    """Name who or what stands on the open side of a relation; several are joined by commas."""
    given = {"relation": term(relation)}
    given |= {"subject": entity(subject)} if subject else {"object": entity(object)}
    asked = "object" if subject else "subject"
    found = list(
        reader.rows(
            f"""SELECT ?{asked} ?label {{ ?subject ?relation ?object . {labelled("?" + asked)} }}
                ORDER BY ?label""",
            **given,
        )
    )
    if not found:
        return reader.unknown(f"what is {relation} {object}" if object else f"what {subject} is {relation}")
    for node, _ in found:
        ends = given | {asked: node}
        reader.rest_on(ends["subject"], ends["relation"], ends["object"])
    return ",".join(label.value for _, label in found)


class _Axis(NamedTuple):
    """An order and the relations that leave a place in it unchanged (above keeps left and right)."""

    forward: str
    backward: str
    level: str = ""

    @property
    def path(self) -> str:
        """The SPARQL path of ``forward``: at least one step along the order, any number across it."""
        return f"(({self.level})*/:{self.forward})+/({self.level})*" if self.level else f":{self.forward}+"

    @property
    def steps(self) -> list[ox.NamedNode]:
        """Every relation a chain along this axis may use."""
        across = [term(name.strip(":")) for name in self.level.split("|") if name]
        return [term(self.forward), term(self.backward), *across]


_AXES = {
    forward: _Axis(forward, backward, level)
    for one, other, level in (
        ("northOf", "southOf", ":eastOf|:westOf"),
        ("eastOf", "westOf", ":northOf|:southOf"),
        ("above", "below", ":leftOf|:rightOf"),
        ("leftOf", "rightOf", ":above|:below"),
        ("biggerThan", "fitsIn", ""),
    )
    for forward, backward in ((one, other), (other, one))
}


def does_relate(reader: Reader, query: DoesRelate) -> str:
    """Yes where a relation follows from what was told, no where its contrary does, or that neither holds.

    Raises:
        ProgramError: both follow.
    """
    axis, subject, other = _AXES[query.relation], entity(query.subject), entity(query.object)
    holds = reader.ask(f"ASK {{ {subject} {axis.path} {other} }}")
    fails = reader.ask(f"ASK {{ {other} {axis.path} {subject} }}")
    if holds and fails:
        raise ProgramError(
            f"{query.subject} is told to be {query.relation} {query.object}, and the contrary",
            hint="Tell one of the two",
        )
    even = subject == other or (axis.level and reader.ask(f"ASK {{ {subject} ({axis.level})+ {other} }}"))
    if not (holds or fails or even):
        return reader.unknown(f"a chain between {query.subject} and {query.object}")
    rigid = axis.steps if axis.level else [term(query.relation)]
    # An order without a level is walked one way only: a chain that turns around proves nothing about size.
    chain = _chain(reader, subject, other, rigid) or _chain(reader, other, subject, rigid)
    for triple in chain or ():
        reader.rest_on(*triple)
    return "yes" if holds else "no"


def route(reader: Reader, query: Route) -> str:
    """A shortest way between two places, as the letters of its steps joined by commas."""
    spelled = reader.rows(
        "SELECT ?relation ?letter { ?inverse :letter ?letter ; :inverse ?relation } ORDER BY ?letter"
    )
    letters = {relation: letter.value for relation, letter in spelled}
    if entity(query.start) == entity(query.goal):
        raise ProgramError("the way leads to where it starts", hint="Ask for a way between two places")
    chain = _chain(reader, entity(query.start), entity(query.goal), sorted(letters, key=str))
    if chain is None:
        return reader.unknown(f"a way from the {query.start} to the {query.goal}")
    for triple in chain:
        reader.rest_on(*triple)
    # Who is south of the next room goes north: a step is spelled by the inverse of its relation.
    return ",".join(letters[relation] for _, relation, _ in chain)


def _chain(
    reader: Reader, start: ox.NamedNode, goal: ox.NamedNode, relations: Iterable[ox.NamedNode]
) -> list[Triple] | None:
    """The shortest chain of relations from a node to a node, first by name among equals; ``None`` where there
    is none.
    """
    among = sorted(relations, key=_value)
    reached: dict[Any, Triple | None] = {start: None}
    queue = deque([start])
    while queue and goal not in reached:
        node = queue.popleft()
        for relation, following in _steps(reader, node, among):
            if following not in reached:
                reached[following] = (node, relation, following)
                queue.append(following)
    if goal not in reached:
        return None
    chain: list[Triple] = []
    step = reached[goal]
    while step:
        chain.append(step)
        step = reached[step[0]]
    return chain[::-1]


def _steps(
    reader: Reader, node: ox.NamedNode, relations: Iterable[ox.NamedNode]
) -> Iterator[tuple[ox.NamedNode, ox.NamedNode]]:
    """Relations of a node, in the order given, each with the nodes that it leads to, by name."""
    for relation in relations:
        ends = reader.facts.objects(str(node), str(relation))
        for end in sorted((ox.NamedNode(end[1:-1]) for end in ends), key=_value):
            yield relation, end


def _value(node: ox.NamedNode) -> str:
    return node.value
