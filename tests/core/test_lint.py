"""Likely mistakes in a TBox, and emitters that are not deterministic."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyoxigraph as ox
import pytest
from logs import PREFIXES

from substrate import Delta, EventLog, Op, Simulation, State, TBox, TBoxError, Triple, fork
from substrate.base.errors import LogError
from substrate.rules.lint import lint

TERM = ox.NamedNode("urn:die")
OPENING = f"""{PREFIXES}@prefix : <urn:t:> .
:Person a owl:Class . :next a owl:ObjectProperty .
:knows a owl:ObjectProperty ; rdfs:subPropertyOf core:awareOf .
"""


def rule(construct: str) -> TBox:
    return TBox("t", f'{OPENING} :spread a sh:SPARQLRule ; sh:construct "{construct}" .')


@pytest.mark.parametrize("name", ["clevrer", "comphy", "gqa", "babi", "village", "clinical"])
def test_shipped_tboxes_are_clean(name: str) -> None:
    assert lint(TBox.load(name)) == []


def test_each_core_term_that_an_error_offers_is_known() -> None:
    with pytest.raises(TBoxError) as raised:
        TBox("t", "<urn:t:at> a <urn:substrate:locatoin> .")
    offered = raised.value.hint.removeprefix("Use one of ").split(", ")
    assert {"tick", "location", "Event"} <= set(offered)
    TBox("t", "".join(f"<urn:t:a> <urn:t:b> <urn:substrate:{name}> ." for name in offered))


@pytest.mark.parametrize(
    "turtle",
    [
        ":at rdfs:subPropertyOf core:locatoin .",
        ":Party rdfs:subClassOf core:event .",
        ":plans core:exogeneous true .",
        ':r a sh:SPARQLRule ; sh:construct "CONSTRUCT { ?a core:awareof ?b } WHERE { ?a :next ?b }" .',
    ],
)
def test_a_misspelt_core_term_is_named(turtle: str) -> None:
    with pytest.raises(TBoxError, match=r"the core has no term '(locatoin|event|exogeneous|awareof)'"):
        TBox("t", OPENING + turtle)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("sh:property [ sh:path :p ; sh:maxCont 1 ]", "no term sh:maxCont"),
        ("sh:deactivatd true", "no term sh:deactivatd"),
        ("sh:js [ sh:jsFunctionName 'f' ]", "no term sh:js"),
        *(
            (f"sh:sparql [ sh:select '{query}' ]", "does not give \\$this")
            for query in (
                "SELECT ?v { $this :p ?v }",
                "SELECT (COUNT(?v) AS ?n) { $this :p ?v }",
                "SELECT (?v AS $this) { ?v :p ?v } # SELECT $this",
                "SELECT $this { { SELECT ?v { $this :p ?v } } }",
                "SELECT * { ?v :p ?v }",
                "ASK { $this :p ?v }",
            )
        ),
        ("sh:target [ a sh:SPARQLTarget ; sh:select 'SELECT ?x { ?x :p ?y }' ]", "does not give \\$this"),
    ],
)
def test_a_constraint_that_shacl_would_ignore_is_refused(part: str, why: str) -> None:
    with pytest.raises(TBoxError, match=f"^t: shape <urn:t:S>: .*{why}"):
        TBox("t", f"{OPENING} :S a sh:NodeShape ; sh:targetClass :A ; {part} .")
    given = "SELECT DISTINCT ?this (COUNT(?v) AS ?n) { $this :p ?v FILTER(?v > 1) } GROUP BY ?this"
    TBox("t", f"{OPENING} :S a sh:NodeShape ; sh:sparql [ sh:select '{given}' ] .")


@pytest.mark.parametrize("how", ["sh:construct", "core:retract", "sh:select", "sh:ask"])
def test_a_query_of_a_tbox_reaches_no_network(how: str) -> None:
    text = "CONSTRUCT { ?a :next ?b } WHERE { SERVICE <http://192.0.2.1/> { ?a :next ?b } }"
    with pytest.raises(TBoxError, match="would reach the network"):
        TBox("t", f'{OPENING} :x {how} "{text}" .')


def test_a_rule_that_cannot_fire_is_named() -> None:
    (finding,) = lint(rule("CONSTRUCT { ?b :next ?a } WHERE { ?a a :Person ; :nxet ?b FILTER(1 < $tick) }"))
    assert (finding.kind, finding.rule) == ("unfirable", "spread")
    assert "<urn:t:nxet>" in finding.why
    assert lint(rule("CONSTRUCT { ?b :next ?a } WHERE { ?a :next ?b OPTIONAL { ?a :nxet ?c } }")) == []


def test_a_rule_that_restores_a_retracted_fact_is_named() -> None:
    (finding,) = lint(rule("CONSTRUCT { ?b :knows ?f } WHERE { ?a :next ?b ; :knows ?f }"))
    assert (finding.kind, finding.rule) == ("undoing", "spread")
    # A rule with $tick does not fire on lasting conditions alone, so the check leaves it
    assert lint(rule("CONSTRUCT { ?b :knows ?f } WHERE { ?a :next ?b ; :knows ?f FILTER(?b < $tick) }")) == []


class Dice:
    """A simulator of throws: with a seed, each start gives the same ones; without, each gives others."""

    def __init__(self, seed: int | None) -> None:
        self.seed, self.random = seed, random.Random(1)

    def start(self, state: State, tick: int) -> None:
        if self.seed is not None:
            self.random = random.Random(self.seed)

    def step(self, tick: int) -> Iterator[tuple[Op, Triple]]:
        yield Op.INSERT, (TERM, TERM, ox.Literal(self.random.random()))


def test_an_emitter_that_draws_without_a_seed_is_found() -> None:
    log = EventLog([Delta(0, Op.INSERT, (TERM, TERM, TERM)), Delta(5, Op.INSERT, (TERM, TERM, TERM))])
    unseeded = Simulation(Dice(None))
    assert len(fork(log, 2, emitter=unseeded)) == 5
    with pytest.raises(LogError, match=r"delta 1: the emitter gave A <urn:die>.*at tick 2, then"):
        fork(log, 2, emitter=unseeded, check=True)
    seeded = Simulation(Dice(20))
    assert fork(log, 2, emitter=seeded, check=True).digest == fork(log, 2, emitter=seeded).digest


def test_brackets_that_nest_too_deeply_are_refused() -> None:
    for opening, closing in (("<<( :s :p ", ")>>"), ("[ :p ", "]"), ("( ", ")")):
        with pytest.raises(TBoxError, match="inside one another"):
            TBox("t", f"{OPENING} :s :p {opening * 20000} :o {closing * 20000} .")
