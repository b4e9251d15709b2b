"""Forks compared with an oracle of sets: any tick, any interventions, with rules and without."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from logs import box_of, log_of
from pyoxigraph import NamedNode

from substrate import Delta, EventLog, InterventionError, Op, RuleEmitter, fork, unfold
from substrate.branch.interventions import INTERVENTIONS, new_intervention

thorough = settings(max_examples=150)
Facts = set[tuple[str, str, str]]
AT, KNOWS = "at", "knows"
PEOPLE, PLACES, FACTS = ("ann", "bo", "nobody"), ("home", "cafe", "nowhere"), ("party", "secret")
TOWN = box_of("""
    :Person a owl:Class . :Place a owl:Class . :Fact a owl:Class .
    :at rdfs:domain :Person ; rdfs:range :Place . :knows rdfs:domain :Person ; rdfs:range :Fact .
    :hears core:exogenous true .
    :PersonShape a sh:NodeShape ; sh:targetClass :Person ;
        sh:property [ sh:path :at ; sh:maxCount 1 ; sh:class :Place ; sh:message "is at two places" ] .
    :hear a sh:SPARQLRule ; sh:construct
        "CONSTRUCT { ?a :knows ?fact } WHERE { ?a :hears ?fact }" .
    :tell a sh:SPARQLRule ; sh:construct '''CONSTRUCT { ?b :knows ?fact }
        WHERE { ?a :knows ?fact ; :at ?place . ?b a :Person ; :at ?place }''' .
    :ann a :Person ; :at :home . :bo a :Person ; :at :cafe ; :knows :secret .
    :home a :Place . :cafe a :Place . :party a :Fact . :secret a :Fact .""")
PLACED = {("ann", "home"), ("bo", "cafe")}


def node(name: str) -> NamedNode:
    return NamedNode(f"urn:t:{name}")


def spelled(*names: str) -> str:
    return " ".join(f"<urn:t:{name}>" for name in names)


triples = st.tuples(st.sampled_from(PEOPLE), st.just(AT), st.sampled_from(PLACES)) | st.tuples(
    st.sampled_from(PEOPLE), st.just(KNOWS), st.sampled_from(FACTS)
)
Change = tuple[str, tuple[str, ...]]
changes = st.lists(
    st.tuples(st.sampled_from(["assert", "retract"]), triples)
    | st.tuples(st.just("override_location"), st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PLACES)))
    | st.tuples(
        st.sampled_from(["assert_awareness", "retract_awareness"]),
        st.tuples(st.sampled_from(PEOPLE), st.sampled_from(FACTS)),
    ),
    max_size=4,
)
logs = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([Op.INSERT, Op.RETRACT]), triples), max_size=12)


def intervention(change: Change) -> Any:
    name, terms = change
    predicate = {"override_location": AT}.get(name, KNOWS)
    return new_intervention(name, list(map(node, terms)), None if len(terms) == 3 else node(predicate))


def changed(facts: Facts, change: Change) -> Facts | None:
    """The oracle: the facts after an intervention; ``None`` where it would change nothing."""
    name, terms = change
    if name == "override_location":
        places = {fact for fact in facts if fact[:2] == (terms[0], AT)}
        new = (terms[0], AT, terms[1])
        return None if len(places) != 1 or new in places else facts - places | {new}
    fact = terms if len(terms) == 3 else (terms[0], KNOWS, terms[1])
    holds = fact in facts
    if name.startswith("assert"):
        return None if holds else facts | {fact}
    return facts - {fact} if holds else None


def applied(facts: Facts, steps: list[Change]) -> Facts | None:
    for step in steps:
        after = changed(facts, step)
        if after is None:
            return None
        facts = after
    return facts


def facts_at(log: EventLog, tick: int) -> Facts:
    # A term is `<urn:t:NAME>`.
    named = {tuple(str(term)[7:-1] for term in triple) for triple in log.state(tick)}
    return {fact for fact in named if fact[1] in (AT, KNOWS)}  # pyright: ignore[reportReturnType]


@thorough
@given(steps=logs, opening=st.integers(0, 3), at=st.integers(0, 6), done=changes)
def test_a_fork_without_rules_agrees_with_an_oracle_of_sets(
    steps: list[tuple[int, Op, tuple[str, str, str]]], opening: int, at: int, done: list[Change]
) -> None:
    steps = sorted(steps, key=lambda step: step[0])
    log = log_of((tick, f"{op.value} {spelled(*fact)} .") for tick, op, fact in steps)
    log.opening = min(opening, log.position(log[0].tick)) if len(log) else 0
    if at > log.last_tick + 1:
        return
    # The branch has the steps before its tick, and also those that open the log, unless it begins before
    # them.
    first = log.opening if len(log) and at >= log[0].tick else 0
    start = max(first, sum(tick < at for tick, _, _ in steps))
    facts: Facts = set()
    for _, op, fact in steps[:start]:
        facts = facts | {fact} if op is Op.INSERT else facts - {fact}
    after = applied(facts, done)
    try:
        branch = fork(log, at, interventions=[intervention(change) for change in done])
    except InterventionError:
        assert after is None
        return
    assert after is not None
    # The place of each person that was put somewhere. Later steps that would move the person away are
    # withheld.
    where: dict[str, str] = {}
    for name, terms in done:
        if name == "override_location":
            where[terms[0]] = terms[1]
        elif name == "retract" and terms[1] == AT and where.get(terms[0]) == terms[2]:
            del where[terms[0]]
    withheld = []
    for tick, op, fact in steps[start:]:
        place = where.get(fact[0]) if fact[1] == AT else None
        if place is not None and (op is Op.INSERT) is (fact[2] != place):
            withheld.append((tick, op, fact))
            continue
        after = after | {fact} if op is Op.INSERT else after - {fact}
    assert facts_at(branch, 9) == after
    assert [(d.tick, d.op, tuple(str(t)[7:-1] for t in d.triple)) for d in branch.withheld] == withheld
    assert EventLog.from_patch(branch.to_patch()).opening == branch.opening


@thorough
@given(
    hears=st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["ann", "bo"]), st.sampled_from(FACTS))),
    at=st.integers(0, 6),
    done=changes,
)
def test_a_fork_by_rules_agrees_with_an_oracle_of_sets(
    hears: list[tuple[int, str, str]], at: int, done: list[Change]
) -> None:
    opening = TOWN.opening()
    opening.extend_lines((tick, f"A {spelled(who, 'hears', what)} .") for tick, who, what in sorted(hears))
    log = unfold(TOWN, opening, until=5)
    if at > log.last_tick + 1:
        return

    def settled(facts: Facts, tick: int) -> Facts:
        """The oracle of the rules `hear` and `tell`."""
        facts = facts | {(who, KNOWS, what) for when, who, what in hears if when <= tick}
        while True:
            place = {who: where for who, verb, where in facts if verb == AT}
            heard = {
                (b, KNOWS, f)
                for a, v, f in facts
                if v == KNOWS and a in place
                for b in place
                if place[a] == place[b]
            }
            if heard <= facts:
                return facts
            facts = facts | heard

    before: Facts = {(who, AT, where) for who, where in PLACED} | {("bo", KNOWS, "secret")}
    if at > 0:
        before = settled(before, at - 1)
    after = applied(before, done)
    new = {_fact(change) for change in done} & (after or set())
    # What the shapes demand: new facts name things of the town, and nobody is at two places.
    allowed = (
        after is not None
        and not any(fact[0] == "nobody" or fact[2] == "nowhere" for fact in new)
        and all(sum(fact[:2] == (who, AT) for fact in after) <= 1 for who in PEOPLE)
    )
    try:
        branch = fork(log, at, None, RuleEmitter(TOWN, 5), interventions=[intervention(c) for c in done])
    except InterventionError:
        assert not allowed
        return
    assert allowed
    assert after is not None
    for tick in range(at, 6):
        after = settled(after, tick)
        assert facts_at(branch, tick) == after


def _fact(step: Change) -> tuple[str, ...]:
    name, terms = step
    return terms if len(terms) == 3 else (terms[0], AT if name == "override_location" else KNOWS, terms[1])


def test_a_triple_that_is_given_twice_is_retracted_once() -> None:
    fact = (node("ann"), node(KNOWS), node("party"))
    log = EventLog([Delta(0, Op.INSERT, fact), Delta(0, Op.INSERT, fact), Delta(2, Op.INSERT, fact)])
    branch = fork(log, 1, INTERVENTIONS["retract"](fact))
    assert [fact in branch.state(tick) for tick in range(4)] == [True, False, True, True]
