"""Relations of place, position and size: direct ones, inferences along a chain, routes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from substrate.base.errors import ProgramError
from substrate.domains.babi._reading import Reader, UnknownError
from substrate.domains.babi._terms import bare, iri, term

Step = tuple[str, str, str]
"""A relation between two nodes, as a triple of the state."""


def what_relates(reader: Reader, relation: str, object: str) -> str:
    """Name the things that have a relation to something."""
    ends = {"relation": term(relation), "object": iri(object)}
    return _one_relation(reader, "subject", ends, f"what is {relation} {object}")


def relates_to_what(reader: Reader, subject: str, relation: str) -> str:
    """Name the things to which something has a relation."""
    ends = {"relation": term(relation), "subject": iri(subject)}
    return _one_relation(reader, "object", ends, f"what {subject} is {relation}")


def _one_relation(reader: Reader, side: str, given: dict[str, str], missed: str) -> str:
    """Name the entities on the open side of a relation, joined by commas."""
    rows = reader.some(
        missed,
        f"""SELECT ?{side} ?label {{ ?subject ?relation ?object . ?{side} rdfs:label ?label . }}
                ORDER BY ?label""",
        **given,
    )
    for node, _ in rows:
        ends = given | {side: node}
        reader.rest_on(ends["subject"], ends["relation"], ends["object"])
    return ",".join(label for _, label in rows)


class _Axis(NamedTuple):
    """An order, and the relations across it, which keep a place's rank: going up does not change what is left
    or right.
    """

    forward: str
    backward: str
    level: str

    @property
    def path(self) -> str:
        """The SPARQL path of ``forward``: at least one step along the order, any number across it."""
        return f"(({self.level})*/:{self.forward})+/({self.level})*" if self.level else f":{self.forward}+"

    @property
    def steps(self) -> list[str]:
        """Every relation that a chain along this axis may use.

        An order without relations across it is walked in one direction only: if a and c are both bigger than
        b, nothing follows for a and c.
        """
        across = [name.strip(":") for name in self.level.split("|") if name]
        return list(map(term, (self.forward, self.backward, *across) if across else (self.forward,)))


_AXES = {
    forward: _Axis(forward, backward, level)
    for relation, converse, level in (
        ("northOf", "southOf", ":eastOf|:westOf"),
        ("eastOf", "westOf", ":northOf|:southOf"),
        ("above", "below", ":leftOf|:rightOf"),
        ("leftOf", "rightOf", ":above|:below"),
        ("biggerThan", "fitsIn", ""),
    )
    for forward, backward in ((relation, converse), (converse, relation))
}


def does_relate(reader: Reader, subject: str, relation: str, object: str) -> str:
    """Answer yes if the relation follows from the story, no if its contrary or equality does.

    Raises:
        ProgramError: both the relation and its contrary follow.
    """
    axis, first, second = _AXES[relation], iri(subject), iri(object)
    holds = reader.ask(f"ASK {{ {first} {axis.path} {second} }}")
    fails = reader.ask(f"ASK {{ {second} {axis.path} {first} }}")
    if holds and fails:
        what = f"{subject} is told to be {relation} {object}, and the contrary"
        raise ProgramError(what, hint="Tell one of the two")
    even = first == second or (axis.level and reader.ask(f"ASK {{ {first} ({axis.level})+ {second} }}"))
    if not (holds or fails or even):
        raise UnknownError(f"a chain between {subject} and {object}")
    for step in _chain(reader, first, second, axis.steps) or _chain(reader, second, first, axis.steps) or ():
        reader.rest_on(*step)
    return "yes" if holds else "no"


def route(reader: Reader, start: str, goal: str) -> str:
    """A shortest route between two places, as the letters of its steps joined by commas."""
    # From a room south of the next one, the step goes north: its letter is that of the inverse relation.
    sparql = "SELECT ?relation ?letter { ?inverse :letter ?letter ; :inverse ?relation } ORDER BY ?letter"
    letters = {row[0]: row[1] for row in reader.rows(sparql)}
    if iri(start) == iri(goal):
        raise ProgramError("the way leads to where it starts", hint="Ask for a way between two places")
    chain = _chain(reader, iri(start), iri(goal), letters)
    if chain is None:
        raise UnknownError(f"a way from the {start} to the {goal}")
    for step in chain:
        reader.rest_on(*step)
    return ",".join(letters[relation] for _, relation, _ in chain)


def _chain(reader: Reader, start: str, goal: str, relations: Iterable[str]) -> list[Step] | None:
    """The shortest chain of relations between two nodes, if any; the first by name among equals."""
    among = sorted(relations, key=bare)
    reached: dict[str, Step | None] = {start: None}
    for node in (queue := [start]):
        if goal in reached:
            break
        for relation in among:
            for end in sorted(reader.facts.objects(node, relation), key=bare):
                if end not in reached:
                    reached[end] = (node, relation, end)
                    queue.append(end)
    if goal not in reached:
        return None
    chain: list[Step] = []  # from the goal back to the start
    while step := reached[chain[-1][0] if chain else goal]:
        chain.append(step)
    return chain[::-1]
