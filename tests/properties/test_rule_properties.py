"""Rules evaluated on changes alone give the deltas of the whole fixpoint, one by one, for any rules."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from logs import box_of, log_of

from substrate import Delta, EventLog, Op, RuleEmitter, State, TBox, TBoxError, fork, unfold
from substrate.base.delta import triple_of
from substrate.base.ntriples import quads_of
from substrate.rules.queries import constructed, focus_nodes
from substrate.rules.rule import Rule

LAST = 3
EXOGENOUS = ox.NamedNode("urn:t:p")
ROUNDS = 6
thorough = settings(max_examples=100)

variables = st.sampled_from(["?a", "?b", "?c"])
nodes = st.sampled_from([":x", ":y", ":z"])
values = st.sampled_from([":x", ":y", ":K", "1", "2", "$tick", '"u"', "true"])
predicates = st.sampled_from([":p", ":q", ":r", "a"])
triples = st.builds(
    "{} {} {}".format, variables | variables | nodes, predicates, variables | variables | values
)
tests = st.sampled_from(
    [
        "FILTER(?a != ?b)",
        "FILTER(STR(?a) < STR(?b))",
        "FILTER(?a = ?c && ?b != :x)",
        "FILTER(?b < $tick)",
        "FILTER(?b >= 1)",
        'FILTER(STRSTARTS(STR(?a), "urn:t:x"))',
    ]
)
# Syntax beyond patterns, filters and FILTER NOT EXISTS.
beyond = st.sampled_from(
    [
        "OPTIONAL { ?a :q ?c }",
        "{ ?a :p ?b } UNION { ?a :q ?b }",
        "?a :p+ ?b .",
        "FILTER(isIRI(?a))",
        "FILTER EXISTS { ?a :q ?any }",
    ]
)


@st.composite
def absences(draw: st.DrawFn, depth: int = 2) -> str:
    inner = " . ".join(draw(st.lists(triples, min_size=1, max_size=2)))
    parts = [inner]
    if draw(st.booleans()):
        parts.append(draw(tests))
    if depth > 1 and draw(st.booleans()):
        parts.append(draw(absences(depth - 1)))
    return f"FILTER NOT EXISTS {{ {' '.join(parts)} }}"


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query as rules have it; now and then one with syntax that Oxigraph must evaluate."""
    parts = [" . ".join(draw(st.lists(triples, min_size=1, max_size=3)))]
    parts += draw(st.lists(tests | absences(), max_size=2))
    if draw(st.integers(0, 9)) == 0:
        parts.append(draw(beyond))
    head = [draw(st.builds("{} {} {}".format, variables | nodes, predicates, variables | values))]
    if draw(st.booleans()):
        named = 'BIND(IRI(CONCAT("urn:t:", STR($tick), ":", STRAFTER(STR(?a), "urn:t:"))) AS ?new)'
        parts.append(named)
        head.append("?new :made ?a")
    return f"CONSTRUCT {{ {' . '.join(head)} }} WHERE {{ {' '.join(parts)} }}"


@st.composite
def boxes(draw: st.DrawFn) -> TBox:
    """A TBox of up to three rules, some of them attached to a class."""
    lines = [":p core:exogenous true . :K a owl:Class . :S a sh:NodeShape ; sh:targetClass :K ."]
    for number in range(draw(st.integers(1, 3))):
        kinds = draw(
            st.sampled_from([("sh:construct",), ("core:retract",), ("sh:construct", "core:retract")])
        )
        body = " ; ".join(f"{kind} '''{draw(queries())}'''" for kind in kinds)
        if draw(st.booleans()):
            body = body.replace("?a", "$this")
            lines.append(f":S sh:rule :rule{number} .")
        lines.append(f":rule{number} a sh:SPARQLRule ; sh:order {number} ; {body} .")
    return box_of("\n".join(lines))


facts = st.builds(
    "<urn:t:{}> {} {}".format,
    st.sampled_from("xyz"),
    st.sampled_from(
        ["<urn:t:p>", "<urn:t:q>", "<urn:t:r>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"]
    ),
    st.sampled_from(["<urn:t:x>", "<urn:t:y>", "<urn:t:z>", "<urn:t:K>", "<urn:t:K>", '"u"', '"v"@en'])
    | st.sampled_from(["0", "1", "2", "01"]).map('"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'.format)
    | st.sampled_from(['"true"^^<http://www.w3.org/2001/XMLSchema#boolean>', "_:b"]),
)
logs = st.lists(st.tuples(st.integers(0, LAST), st.sampled_from("AAAD"), facts), min_size=1, max_size=16).map(
    lambda lines: _log(sorted(lines, key=lambda line: line[0]))
)


def _log(lines: list[tuple[int, str, str]]) -> EventLog:
    return log_of((tick, f"{op} {text} .") for tick, op, text in lines)


def _plain(rules: tuple[Rule, ...], tbox: TBox, state: State, tick: int) -> list[Delta]:
    """The whole fixpoint: every rule's queries run by Oxigraph on all of the state, round after round."""
    made: list[Delta] = []
    for _ in range(ROUNDS):
        count = len(made)
        for rule in rules:
            store = ox.Store()
            store.extend(quads_of(sorted(state.texts())))
            foci = focus_nodes(rule, tbox, store, tick)
            ending, beginning = (
                constructed(rule, query, tbox, store, tick, foci) if query else {}
                for query in (rule.retract, rule.construct)
            )
            changes = [(Op.RETRACT, ending[text]) for text in sorted(ending.keys() - beginning)]
            changes += [(Op.INSERT, beginning[text]) for text in sorted(beginning)]
            for op, quad in changes:
                if state.apply(op, quad):
                    made.append(Delta(tick, op, triple_of(quad)))
        if len(made) == count:
            return made
    raise TBoxError("the rules never settle")


def _unfolded(tbox: TBox, outside: EventLog) -> EventLog:
    log, state = EventLog(), EventLog().state()
    for tick in range(LAST + 1):
        start, stop = outside.position(tick - 1), outside.position(tick)
        for op, quad in outside.changes(start, stop):
            state.apply(op, quad)
        log.extend_from(outside, start, stop)
        log.extend(_plain(tbox.rules, tbox, state, tick))
    return log


LOOKS = ":looks a sh:SPARQLRule ; sh:construct 'CONSTRUCT { ?a :p ?a } WHERE { ?a :r ?b }' ."
ENDS = (
    ":ends a sh:SPARQLRule ; core:retract "
    "'CONSTRUCT { ?a :p ?a } WHERE { ?a :p ?a . ?a :q ?b FILTER(?a != ?b) }' ."
)
NUMBER = '"01"^^<http://www.w3.org/2001/XMLSchema#integer>'


@thorough
@given(tbox=boxes(), outside=logs)
@example(box_of(LOOKS), _log([(1, "A", "<urn:t:x> <urn:t:r> _:b")]))
@example(
    box_of(ENDS), _log([(0, "A", "<urn:t:x> <urn:t:p> <urn:t:x>"), (1, "A", f"<urn:t:x> <urn:t:q> {NUMBER}")])
)
def test_rules_evaluated_on_changes_give_the_whole_fixpoint(tbox: TBox, outside: EventLog) -> None:
    try:
        whole = _unfolded(tbox, outside)
    except TBoxError as error:
        with pytest.raises(TBoxError, match=error.what.split(" (")[0]):
            unfold(tbox, outside, until=LAST, rounds=ROUNDS)
    else:
        log = unfold(tbox, outside, until=LAST, rounds=ROUNDS)
        assert list(log.lines()) == list(whole.lines())
        assert log.to_patch() == EventLog.from_patch(log.to_patch()).to_patch()


@thorough
@given(tbox=boxes(), opening=st.lists(facts, min_size=1, max_size=12, unique=True))
def test_a_fork_by_the_rules_at_any_tick_is_the_log_itself(tbox: TBox, opening: list[str]) -> None:
    try:
        log = unfold(tbox, _log([(0, "A", text) for text in opening]), until=LAST, rounds=ROUNDS)
    except TBoxError:
        return
    # A fork takes facts from outside from the log, before its rules; so no rule may change one here.
    assume(all(delta.triple[1] != EXOGENOUS for delta in list(log)[log.opening :]))
    again = EventLog.from_patch(log.to_patch())
    for at in range(log.last_tick + 2):
        assert fork(again, at, emitter=RuleEmitter(tbox, LAST, ROUNDS)).digest == log.digest
