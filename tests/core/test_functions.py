"""Functions of SPARQL that know the whole log."""

from __future__ import annotations

from itertools import product

import pyoxigraph as ox
import pytest
from logs import log_of, unfolded

from substrate import ParameterError
from substrate.ask import occurrences, solutions
from substrate.cause.ancestry import Event, ancestors


@pytest.mark.parametrize("name", ["village", "clinical"])
def test_functions_of_sparql_are_the_librarys_own(name: str) -> None:
    box, log = unfolded(name, until=8)
    events = occurrences(log, box)
    ancestry = ancestors(Event(event.node, event.tick, event.participants) for event in events)
    people = sorted({who for event in events for who in event.participants}, key=str)

    pairs = "SELECT ?a ?b { ?a a ?k . ?b a ?l FILTER(core:ancestor(?a, ?b)) }"
    rows = solutions(log, pairs, tbox=box)
    assert isinstance(rows, list)
    assert {(row["a"], row["b"]) for row in rows} == {
        (earlier, event) for event, its in ancestry.items() for earlier in its.events
    }
    for event, thing in product(events[-3:], people):
        question = f"ASK {{ FILTER(core:without({event.node}, {thing})) }}"
        assert solutions(log, question, tbox=box) == (thing not in ancestry[event.node].objects)
    for tick in (0, 3, 8):
        rows = solutions(log, f"SELECT ?s ?p ?o {{ ?s ?p ?o FILTER(core:asOf(?s, ?p, ?o, {tick})) }}")
        assert isinstance(rows, list)
        standing = set(log.state(tick)) & set(log.state())
        assert {(row["s"], row["p"], row["o"]) for row in rows} == standing


def test_a_function_that_is_misused_says_so() -> None:
    log = log_of([(0, "A <urn:ann> <urn:in> <urn:cafe> ."), (2, "A <urn:bo> <urn:in> <urn:cafe> .")])
    with pytest.raises(ParameterError, match="core:asOf does not take 2 terms"):
        solutions(log, "SELECT * { ?s ?p ?o FILTER(core:asOf(?s, ?p)) }")
    with pytest.raises(ParameterError, match="is no tick"):
        solutions(log, "ASK { ?s ?p ?o FILTER(core:asOf(?s, ?p, ?o, 'noon')) }")
    with pytest.raises(ParameterError, match="has no rows"):
        solutions(log, "CONSTRUCT WHERE { ?s ?p ?o }")
    assert solutions(log, "SELECT * { ?s ?p ?o FILTER(core:ancestor(?s, ?o)) }") == []
    assert solutions(log, "SELECT ?s { ?s ?p ?o }", most=1, tick=0) == [{"s": ox.NamedNode("urn:ann")}]
