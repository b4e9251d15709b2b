"""Random shapes and changes: a fork by rules refuses what pyshacl calls a violation, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from logs import PREFIXES, box_of, log_of
from pyoxigraph import Quad, RdfFormat, parse

from substrate import Assert, InterventionError, Retract, RuleEmitter, TBoxError, fork, unfold
from substrate.base.delta import triple_of

pytestmark = pytest.mark.skipif(not find_spec("pyshacl"), reason="needs the extra shacl")
HEAD = """:A a owl:Class . :B a owl:Class . :V a owl:Class .
:rule a sh:SPARQLRule ; sh:construct "CONSTRUCT { ?x <urn:t:p> ?y } WHERE { ?x <urn:t:r> ?y }" .
:N a sh:NodeShape ; sh:property [ sh:path :q ; sh:maxCount 1 ] .
:Gone a sh:NodeShape ; sh:deactivated true ; sh:property [ sh:path :q ; sh:maxCount 0 ] .
"""
# fmt: off
PATHS = [":p", ":p", ":q", "[ sh:inversePath :p ]", "( :p :q )", "[ sh:alternativePath ( :p :q ) ]",
         "[ sh:zeroOrMorePath :p ]", "rdfs:label"]
TERMS = [":x", ":y", ":z", "1", "'01'^^xsd:integer", "'no'^^xsd:integer", "'x'", "'x'@en", "true", "1.50",
         "1.5", "'yes'^^xsd:boolean", "'a'^^:Kind"]
# fmt: on
simple = st.sampled_from(
    ["sh:maxCount 0", "sh:maxCount 1", "sh:maxCount 2", "sh:minCount 1", "sh:class :V", "sh:class :A"]
    + [f"sh:datatype {kind}" for kind in ("xsd:integer", "xsd:string", "xsd:boolean", "xsd:decimal", ":Kind")]
    + ["sh:in ( :y 1 )", "sh:pattern '^(urn:t:y|x|1)'", "sh:nodeKind sh:IRI", "sh:hasValue :y", "sh:node :N"]
    + ["sh:node :Gone", "sh:equals :q", "sh:disjoint :q", "sh:minInclusive 1", "sh:uniqueLang true"]
    + ["sh:severity sh:Info", "sh:message 'no'", "sh:deactivated true"]
    + ["sh:qualifiedValueShape [ sh:class :V ] ; sh:qualifiedMaxCount 1"]
    + ["sh:property [ sh:path :q ; sh:maxCount 0 ]"]
)
paths = st.sampled_from(PATHS)
# Constraints that the fast check of `substrate.rules.shapes` covers.
covered = st.lists(
    st.sampled_from(
        ["sh:maxCount 1", "sh:minCount 1", "sh:class :V", "sh:pattern '^(urn:t:y|x|1)'"]
        + [f"sh:datatype {kind}" for kind in ("xsd:integer", "xsd:string", "xsd:boolean", ":Kind")]
    ),
    min_size=1,
    max_size=2,
    unique_by=lambda word: word.split()[0],
).map(" ; ".join)


@st.composite
def constraints(draw: st.DrawFn) -> str:
    """The constraints of a property shape."""
    words = draw(st.lists(simple, min_size=1, max_size=3, unique_by=lambda word: word.split()[0]))
    return " ; ".join([f"sh:path {draw(paths)}", *words])


of_nodes = st.one_of(
    constraints().map("sh:property [ {} ]".format),
    constraints().map("sh:not [ {} ]".format),
    st.builds(
        "sh:{} ( [ {} ] [ {} ] )".format, st.sampled_from(["or", "and", "xone"]), constraints(), constraints()
    ),
    st.sampled_from(
        ["sh:node :N", "sh:node :Gone", "sh:nodeKind sh:IRI", "sh:class :V", "sh:deactivated true"]
    ),
    st.sampled_from(["sh:closed true ; sh:property [ sh:path :p ]", "sh:severity sh:Warning"]),
    st.just("sh:sparql [ sh:select 'SELECT $this WHERE { $this <urn:t:p> <urn:t:z> }' ]"),
)
aims = st.sampled_from(
    ["sh:targetClass :A", "sh:targetNode :x", "sh:targetSubjectsOf :p", "sh:targetObjectsOf :p"]
)


@st.composite
def shapes(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["fast", "fast", "class", "implicit", "property", "any"]))
    if kind == "fast":
        path = draw(st.sampled_from([":p", ":q"]))
        return f":S sh:targetClass :A ; sh:property [ sh:path {path} ; {draw(covered)} ] ."
    if kind == "property":
        return f"[] a sh:PropertyShape ; {draw(aims)} ; {draw(constraints())} ."
    words = draw(st.lists(of_nodes, min_size=1, max_size=2, unique_by=lambda word: word.split()[0]))
    start = {"class": "sh:targetClass :A", "implicit": "a sh:NodeShape", "any": draw(aims)}[kind]
    return f"{':A' if kind == 'implicit' else ':S'} {' ; '.join([start, *words])} ."


facts = st.one_of(
    st.tuples(
        st.sampled_from([":x", ":y", ":z"]), st.sampled_from([":p", ":p", ":q", ":r"]), st.sampled_from(TERMS)
    ),
    st.tuples(st.sampled_from([":x", ":y", ":z"]), st.just("a"), st.sampled_from([":A", ":B", ":V"])),
    st.just((":B", "rdfs:subClassOf", ":A")),
    st.just((":B", "rdfs:subClassOf", ":V")),
).map(" ".join)


def quad(fact: str) -> Quad:
    return next(iter(parse(f"{PREFIXES} @prefix : <urn:t:> . {fact} .", RdfFormat.TURTLE)))


@settings(max_examples=100)
@given(
    shapes=st.lists(shapes(), min_size=1, max_size=2),
    below=st.booleans(),
    held=st.lists(facts, max_size=6, unique=True),
    changes=st.lists(facts, min_size=1, max_size=3, unique=True),
)
def test_a_fork_refuses_what_pyshacl_calls_a_violation(
    shapes: Sequence[str], below: bool, held: Sequence[str], changes: Sequence[str]
) -> None:
    box = box_of(HEAD + (":B rdfs:subClassOf :A . " if below else "") + "\n".join(shapes))
    given = log_of((0, f"A {quad(fact)} .") for fact in (*held, ":s :other :o"))
    log = unfold(box, given, until=0)
    steps = [(Retract if fact in held else Assert)(triple_of(quad(fact))) for fact in changes]
    try:
        changed = fork(log, 1, interventions=steps)
        settled = fork(log, 1, interventions=steps, emitter=RuleEmitter(box, 1), check=False)
        before, after, end = (set(box.validate(each.state())) for each in (log, changed, settled))
    except (InterventionError, TBoxError):
        reject()
    try:
        fork(log, 1, interventions=steps, emitter=RuleEmitter(box, 1))
        refused = False
    except (InterventionError, TBoxError):
        refused = True
    if after - before or end - after:
        assert refused
    if not after and not end:
        assert not refused
    assert not refused or after | end
