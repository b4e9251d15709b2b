"""The triples that fit the patterns of a query give the same answer to it as a whole state."""

from __future__ import annotations

import random

import pyoxigraph as ox
from hypothesis import given, settings
from hypothesis import strategies as st

from substrate import Assert, EventLog, fork
from substrate.base.delta import Op
from substrate.base.ntriples import quads_of
from substrate.sparql.patterns import Pattern, patterns_of

PREFIXES = {"t": "urn:t:"}
NODES = [f"urn:t:{name}" for name in ("a", "b", "c")]
PREDICATES = ["urn:t:p", "urn:t:q", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"]
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
VALUES = ['"a"', '"a"@en', f'"1"^^<{INTEGER}>', f'"01"^^<{INTEGER}>', '"}"', *(f"<{node}>" for node in NODES)]
states = st.lists(
    st.builds("<{}> <{}> {}".format, *map(st.sampled_from, (NODES, PREDICATES, VALUES))), max_size=12
)

_subject = st.sampled_from(["?x", "?y", "t:a", "<urn:t:b>", "_:n", "z:c"])
_PATHS = ["^t:p", "t:p+", "(t:p|^t:q)+", "t:p/t:q", "^(t:q|a)", "t:p*", "!t:p", "t:q?"]
_verb = st.sampled_from(["t:p", "<urn:t:q>", "a", "?v", *_PATHS])
_numbers = ["1", "01", "-1", '"1"^^t:x', VALUES[2]]
_object = st.sampled_from(["?y", "?z", "t:b", "t:c", '"a"', "'a'", '"a"@en', *_numbers, '"}"'])
_pairs = st.builds("{} {}".format, _verb, st.lists(_object, min_size=1, max_size=2).map(", ".join))
_triples = st.builds("{} {}".format, _subject, st.lists(_pairs, min_size=1, max_size=2).map(" ; ".join))
_block = st.lists(_triples, min_size=1, max_size=2).map(lambda some: " . ".join(some) + " .")
_group = st.recursive(
    _block.map("{{ {} }}".format),
    lambda group: st.builds(
        "{{ {} {} {} }}".format,
        _block,
        st.builds(
            str.format,
            st.sampled_from(
                [
                    "OPTIONAL {}",
                    "MINUS {}",
                    "FILTER NOT EXISTS {}",
                    "filter(?x != t:a && exists {})",
                    "{} UNION {{ t:c ?v ?z }}",
                    "VALUES (?x ?z) {{ (t:a '}}') (UNDEF t:b) }} {}",
                    "BIND(STR(?x) AS ?w) FILTER regex(?w, '[{{(]') {}",
                    "{{ SELECT ?x {} }}",
                    "GRAPH ?g {}",
                ]
            ),
            group,
        ),
        st.sampled_from(["", "?x t:p t:b", "FILTER(?x = t:a)", "# } t:a\n"]),
    ),
    max_leaves=3,
)
_form = st.sampled_from(
    [
        "ASK {}",
        "SELECT * {}",
        "SELECT DISTINCT ?x WHERE {} ORDER BY ?x",
        "CONSTRUCT {{ ?x t:is ?z }} WHERE {}",
        "SELECT (COUNT(*) AS ?n) {} GROUP BY ?v HAVING(COUNT(*) > 0)",
        "DESCRIBE ?x {}",
        "ASK FROM t:g {}",
    ]
)
queries = st.builds(lambda form, group: f"PREFIX z: <urn:t:> {form.format(group)}", _form, _group)


def _answer(store: ox.Store, query: str) -> object:
    result = store.query(query, prefixes=PREFIXES)
    return bool(result) if isinstance(result, ox.QueryBoolean) else sorted(map(str, result))  # pyright: ignore


def _fits(pattern: Pattern, text: str) -> bool:
    return all(want in (None, part) for want, part in zip(pattern, text.split(" ", 2), strict=True))


def _store(texts: list[str]) -> ox.Store:
    store = ox.Store()
    store.extend(quads_of(texts))
    return store


@settings(max_examples=300)
@given(states, queries)
def test_the_triples_that_fit_the_patterns_of_a_query_answer_it(state: list[str], query: str) -> None:
    try:
        whole = _answer(_store(state), query)
    except SyntaxError:  # a path has a blank node twice, or a variable is bound twice
        return
    patterns = patterns_of(query, tuple(PREFIXES.items()))
    if patterns is not None:
        some = [text for text in state if any(_fits(pattern, text) for pattern in patterns)]
        assert _answer(_store(some), query) == whole


ASKED = [
    "SELECT ?o { t:3 t:q ?o }",
    "SELECT ?s { ?s t:p t:b }",
    "SELECT ?s { ?s t:p 'a' FILTER NOT EXISTS { ?s t:p '}' } }",
    "SELECT ?o (COUNT(?s) AS ?n) { ?s t:q ?o } GROUP BY ?o",
    "SELECT ?s { ?s t:q 1 }",
    "SELECT ?s ?p { ?s ?p t:c }",
    "CONSTRUCT WHERE { t:3 t:p 'a' . t:3 t:p t:b }",
    "CONSTRUCT { t:3 t:lacks t:c } WHERE { t:3 t:p 'a' FILTER NOT EXISTS { t:3 t:q t:c } }",
]


def test_ticks_far_apart_are_answered_as_by_stores_of_their_own() -> None:
    chance, log = random.Random(5), EventLog()
    facts = [f"<urn:t:{n % 900}> <urn:t:{chance.choice('pq')}> {chance.choice(VALUES)}" for n in range(4_000)]
    facts += 40 * [f"<urn:t:3> <urn:t:p> {value}" for value in VALUES]
    branch = fork(log, 0, Assert((ox.NamedNode("urn:t:3"), ox.NamedNode("urn:t:q"), ox.Literal("new"))))
    for tick in range(0, 240, 20):  # a table and its orders grow between questions
        for grown in (log, branch):
            lines = [(tick + n // 15, f"{chance.choice('AAD')} {chance.choice(facts)} .") for n in range(300)]
            grown.extend_lines([*lines, (tick + 20, f'A <urn:t:3> <urn:t:q> "{tick}" .')])
            for _ in range(6):
                state, query = grown.state(chance.randrange(tick + 21)), chance.choice(ASKED)
                if chance.random() < 0.2:  # a state that its owner has changed answers with the change
                    state.apply(chance.choice(list(Op)), quads_of(["<urn:t:3> <urn:t:q> <urn:t:c>"])[0])
                alone = _store(sorted(state.texts()))
                rows = state.query(query, prefixes=PREFIXES)
                assert sorted(map(str, rows)) == _answer(alone, query)  # pyright: ignore
                matched = {str(ox.Quad(*triple)) for triple in state.match(ox.NamedNode("urn:t:3"))}
                assert matched == {text for text in state.texts() if text.startswith("<urn:t:3> ")}
