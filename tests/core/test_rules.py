"""Rules of a TBox: fixpoints, order, retractions, and rule sets that never settle."""

from __future__ import annotations

import pytest
from logs import box_of, log_of
from pyoxigraph import NamedNode

from substrate import Assert, EventLog, RetractAwareness, RuleEmitter, TBox, TBoxError, fork, settle, unfold

A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
V = "<urn:substrate:village:"


def given(*lines: str, tick: int = 0) -> EventLog:
    return log_of((tick, f"A {line} .") for line in lines)


def test_rules_go_by_order_then_name_and_each_sees_the_one_before() -> None:
    ordered = box_of("""
        :z a sh:SPARQLRule ; sh:order 1 ;
            sh:construct "CONSTRUCT { :x :first :z } WHERE { FILTER NOT EXISTS { :x :first ?any } }" .
        :b a sh:SPARQLRule ; sh:order 2 ;
            sh:construct "CONSTRUCT { :x :first :b } WHERE { FILTER NOT EXISTS { :x :first ?any } }" .
        :a a sh:SPARQLRule ; sh:order 2 ;
            sh:construct "CONSTRUCT { :x :second :a } WHERE { FILTER NOT EXISTS { :x :second ?any } }" .""")
    assert [rule.name for rule in ordered.rules] == ["z", "a", "b"]
    state = EventLog().state()
    assert [(f.rule, f.delta.triple[1].value) for f in settle(ordered.rules, ordered, state, 0)] == [
        ("z", "urn:t:first"),
        ("a", "urn:t:second"),
    ]


def test_a_rule_retracts_a_fact() -> None:
    moving = box_of("""
        :Walker a owl:Class .
        :Shape a sh:NodeShape ; sh:targetClass :Walker ; sh:rule [ a sh:SPARQLRule ; rdfs:label "walk" ;
            sh:construct '''CONSTRUCT { $this :at ?next }
                WHERE { ?next :opens $tick . FILTER NOT EXISTS { $this :at ?next } }''' ;
            core:retract '''CONSTRUCT { $this :at ?last }
                WHERE { $this :at ?last . ?next :opens $tick . FILTER(?last != ?next) }''' ] .""")
    opening = given(
        f"<urn:t:w> {A} <urn:t:Walker>",
        "<urn:t:w> <urn:t:at> <urn:t:p0>",
        *(f'<urn:t:p{i}> <urn:t:opens> "{i}"^^{INTEGER}' for i in (2, 4)),
    )
    log = unfold(moving, opening, until=5)
    walks = NamedNode("urn:t:w"), NamedNode("urn:t:at")
    places = [[str(t[2]) for t in log.state(tick).match(*walks)] for tick in range(6)]
    assert places == [["<urn:t:p0>"]] * 2 + [["<urn:t:p2>"]] * 2 + [["<urn:t:p4>"]] * 2


def test_rules_that_never_settle_are_stopped_and_named() -> None:
    growing = box_of(
        ":grow a sh:SPARQLRule ; "
        'sh:construct "CONSTRUCT { :n :is ?m } WHERE { :n :is ?k . BIND(?k + 1 AS ?m) }" .'
    )
    with pytest.raises(TBoxError, match=r"tick 2: .*still firing: grow"):
        unfold(growing, given(f'<urn:t:n> <urn:t:is> "1"^^{INTEGER}', tick=2), until=2)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            'sh:construct "CONSTRUCT { :a :b ?t } WHERE { BIND(NOW() AS ?t) }"',
            "NOW, which is not deterministic",
        ),
        ('sh:construct "SELECT * WHERE { ?s ?p ?o }"', "not one CONSTRUCT"),
        ('rdfs:comment "nothing"', "neither sh:construct nor core:retract"),
        (
            'sh:construct "CONSTRUCT { :a :b :c } WHERE {}" ; sh:condition :Shape',
            "sh:condition is not supported",
        ),
    ],
)
def test_a_rule_that_cannot_be_carried_out_is_refused_by_name(rule: str, message: str) -> None:
    with pytest.raises(TBoxError, match=message) as caught:
        _ = box_of(f":bad a sh:SPARQLRule ; {rule} .").rules
    assert "rule bad" in str(caught.value)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('sh:construct "CONSTRUCT { [] :b :c } WHERE {}"', "gives a blank node"),
        ('sh:construct "CONSTRUCT { :a :b } WHERE"', "not SPARQL"),
    ],
)
def test_a_rule_that_fails_when_it_runs_is_named(rule: str, message: str) -> None:
    with pytest.raises(TBoxError, match=message) as caught:
        unfold(box_of(f":bad a sh:SPARQLRule ; {rule} ."), EventLog(), until=0)
    assert "rule bad" in str(caught.value)


def test_words_in_strings_and_prefixed_names_are_not_functions() -> None:
    fine = box_of(""":fine a sh:SPARQLRule ; sh:construct "CONSTRUCT { :a :now 'NOW() $tick' } WHERE {}" .""")
    assert "NOW() $tick" in unfold(fine, EventLog(), until=0).state().nquads()


def test_a_fork_keeps_exogenous_facts_and_derives_the_rest_again() -> None:
    tbox = TBox.load("village")
    opening = tbox.opening()
    plan = "<urn:village:plan9>"
    lines = (
        f"<urn:village:sam> {V}plans> {plan}",
        f'{plan} {V}from> "9"^^{INTEGER}',
        f"{plan} {V}goal> <urn:village:market>",
    )
    opening.extend_lines((7, f"A {line} .") for line in lines)
    log = unfold(tbox, opening, until=13)
    john, party = NamedNode("urn:village:john"), NamedNode("urn:village:party")
    knows = NamedNode("urn:substrate:village:knows")
    branch = fork(log, 6, RetractAwareness(john, party, knows), RuleEmitter(tbox, until=13))
    sam = NamedNode("urn:village:sam")
    at, market = NamedNode("urn:substrate:village:at"), NamedNode("urn:village:market")
    assert (sam, at, market) in branch.state(9)
    assert log.history((sam, knows, party)).intervals
    assert not branch.history((sam, knows, party)).intervals, "only John could have told Sam"
    again = fork(branch, 7, Assert((john, knows, party)), RuleEmitter(tbox, until=13))
    assert again.history((sam, knows, party)).intervals == log.history((sam, knows, party)).intervals


def test_a_state_that_comes_back_is_found_at_once() -> None:
    blinking = box_of(
        ':on a sh:SPARQLRule ; sh:construct "CONSTRUCT { :lamp :is :on } WHERE {}" . '
        ':off a sh:SPARQLRule ; core:retract "CONSTRUCT { :lamp :is :on } WHERE {}" .'
    )
    with pytest.raises(TBoxError, match="still firing: off, on"):
        settle(blinking.rules, blinking, EventLog().state(), 0, rounds=10**15)


def test_a_rule_about_a_number_sees_it_in_every_spelling() -> None:
    ones = box_of(":one a sh:SPARQLRule ; sh:construct 'CONSTRUCT { ?a :is :one } WHERE { ?a :counts 1 }' .")
    log = given(*(f'<urn:t:{name}> <urn:t:counts> "{n}"^^{INTEGER}' for name, n in (("a", "1"), ("b", "01"))))
    assert [text for text in sorted(unfold(ones, log, until=0).state().texts()) if "one" in text] == [
        "<urn:t:a> <urn:t:is> <urn:t:one>",
        "<urn:t:b> <urn:t:is> <urn:t:one>",
    ]
