"""Queries of strangers: they see one state, reach nothing else, and end."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from logs import log_of
from serving import Quiet, serving

from substrate import State
from substrate.sparql.guard import QueryError, QueryLimits, Solutions, checked, confined, query
from substrate.sparql.tokens import deepest


@pytest.fixture(scope="module")
def state() -> State:
    return log_of((0, f'A <urn:s{i}> <urn:p> "{i}" .') for i in range(1000)).state()


@pytest.fixture
def foreign() -> Iterator[tuple[str, list[str]]]:
    """A SPARQL endpoint elsewhere, and the requests that reached it."""
    requests: list[str] = []

    class Endpoint(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "application/sparql-results+json")
            self.end_headers()
            self.wfile.write(b'{"head": {"vars": ["s"]}, "results": {"bindings": [{}]}}')

    with serving(HTTPServer(("127.0.0.1", 0), Endpoint)) as server:
        yield f"http://127.0.0.1:{server.server_port}/", requests


HIDDEN = [
    "ASK {{ SERVICE <{url}> {{ ?s ?p ?o }} }}",
    "ASK {{ service\n<{url}> {{ ?s ?p ?o }} }}",
    "ASK {{ SERVICE#x\n<{url}> {{ ?s ?p ?o }} }}",
    "ASK {{ SERVICESILENT<{url}> {{ ?s ?p ?o }} }}",
    "PREFIX : <{url}> ASK {{ SERVICE:x {{ ?s ?p ?o }} }}",
    "ASK {{ ?s ?p trueSERVICE<{url}>{{ ?s ?p ?o }} }}",
    "ASK {{ ?s ?p 1SERVICE<{url}>{{ ?s ?p ?o }} }}",
    "ASK {{ BIND(<{url}> AS ?u) SERVICE?u{{ ?s ?p ?o }} }}",
    "ASK {{ \\u0053ERVICE <{url}> {{ ?s ?p ?o }} }}",
    "ASK {{ FILTER('a' = 'b#') SERVICE <{url}> {{ ?s ?p ?o }} }}",
    'ASK {{ FILTER("""a"" \\""" = \'"\') SERVICE <{url}> {{ ?s ?p ?o }} }}',
    "ASK {{ FILTER(1<2&&3>2) SERVICE <{url}> {{ ?s ?p ?o }} }}",
    "ASK {{ FILTER(?a<?b)SERVICE<{url}>{{ ?s ?p ?o }} FILTER(?c>?d) }}",
]


@pytest.mark.parametrize("template", HIDDEN)
def test_no_spelling_of_service_gets_through(
    state: State, template: str, foreign: tuple[str, list[str]]
) -> None:
    url, requests = foreign
    with pytest.raises(QueryError, match=r"network|SERVICE|escape"):
        query(state, template.format(url=url))
    assert requests == []


def test_the_process_of_a_query_opens_no_connection_and_no_file(foreign: tuple[str, list[str]]) -> None:
    port = int(foreign[0].rstrip("/").rpartition(":")[2])
    with pytest.raises(QueryError, match="Too many open files"):
        confined(socket.create_connection, ("127.0.0.1", port))
    with pytest.raises(QueryError, match="Too many open files"):
        confined(os.open, os.devnull, os.O_RDONLY)


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT ?s { ?s ?p 'SERVICE' }",
        'SELECT ?s { ?s ?p """LOAD "x" FROM""" }',
        "SELECT ?service { ?service ?p '' } # SERVICE",
        "PREFIX ex: <urn:SERVICE/> SELECT ?s { ?s ex:service ?o }",
        "SELECT ?s { ?s <urn:x#FROM> ?o FILTER(?o<5 && ?o>3) }",
        r"SELECT ?s { ?s ?p '\u0053ERVICE \' FROM' }",
        "SELECT ?s { ?s ?p 'a'@en-GB ; ?q 1.5e3 , -2 , true }",
    ],
)
def test_words_inside_strings_names_and_comments_are_free(state: State, sparql: str) -> None:
    assert checked(sparql) == sparql
    assert query(state, sparql) == Solutions(("service",) if "?service" in sparql else ("s",), [])


@pytest.mark.parametrize(
    ("sparql", "message"),
    [
        ("LOAD <file:///etc/hostname>", "belongs to an update"),
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", "belongs to an update"),
        ("DELETE WHERE { ?s ?p ?o }", "belongs to an update"),
        ("SELECT * FROM <file:///etc/hostname> { ?s ?p ?o }", "names another graph"),
        ("SELECT * FROM NAMED <urn:g> { GRAPH ?g { ?s ?p ?o } }", "names another graph"),
        ("SELECT * { GRAPH ?g { ?s ?p ?o } }", "names another graph"),
        ("ASK " + "{" * 5000 + "}" * 5000, "more than 1000"),
        ("ASK " + "{" * 100 + "}" * 100, "nests more than 64 deep"),
        ("ASK { ?s ?p " + "<<( ?s ?p " * 100 + "?o" + " )>>" * 100 + " }", "nests more than 64 deep"),
        ("ASK { FILTER(1" + " || 1" * 5000 + ") }", "more than 1000"),
        ("ASK { FILTER(" + "!" * 5000 + "1) }", "more than 1000"),
        ("ASK {} #" + "x" * (1 << 20), "characters"),
        ("SELECT ?s {", "not SPARQL"),
        ("", "not SPARQL"),
        ("\x00\ud800", "not SPARQL|cannot be answered"),
    ],
)
def test_a_query_that_is_not_allowed_is_refused(state: State, sparql: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        query(state, sparql)


ENDLESS = [
    "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
    "SELECT (COUNT(*) AS ?n) { ?s (!<urn:x>)* ?o . ?t (!<urn:x>)* ?u . ?v ?w ?x }",
    "SELECT ?s { " + "?s ?p ?o . " * 300 + "}",
]


@pytest.mark.parametrize("sparql", ENDLESS)
def test_a_query_without_end_is_ended(state: State, sparql: str) -> None:
    with pytest.raises(QueryError, match=r"did not end within 1 seconds.*--timeout"):
        query(state, sparql, limits=QueryLimits(timeout=1))


def test_rows_and_memory_have_an_end(state: State) -> None:
    with pytest.raises(QueryError, match=r"more than 999 rows.*--limit"):
        query(state, "SELECT ?s { ?s ?p ?o }", limits=QueryLimits(rows=999))
    with pytest.raises(QueryError, match="more than 5 rows"):
        query(state, "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", limits=QueryLimits(rows=5))
    solutions = query(state, "SELECT ?s { ?s ?p ?o }", limits=QueryLimits(rows=1000))
    assert isinstance(solutions, Solutions)
    assert len(solutions.rows) == 1000
    doubled = "".join(f"BIND(CONCAT(?x{i}, ?x{i}) AS ?x{i + 1}) " for i in range(40))
    sparql = f"SELECT (STRLEN(?x40) AS ?n) {{ BIND('0123456789' AS ?x0) {doubled} }}"
    with pytest.raises(QueryError, match=r"more than 256 MiB of memory.*--memory"):
        query(state, sparql, limits=QueryLimits(timeout=600, memory=256 << 20))


def test_answers_are_those_of_the_state_itself(state: State) -> None:
    sparql = "SELECT ?s ?o { ?s ?p ?o FILTER(?o = '7') }"
    solutions = query(state, sparql)
    assert isinstance(solutions, Solutions)
    assert solutions.rows == [tuple(row) for row in state.query(sparql)]  # pyright: ignore
    assert query(state, "ASK { <urn:s1> :p ?o }", prefixes={"": "urn:"}) is True
    with pytest.raises(QueryError):
        query(state, "ASK {}", prefixes={"SERVICE": "urn:"})


def test_limits_are_positive() -> None:
    for wrong in ({"timeout": 0.0}, {"timeout": float("nan")}, {"rows": -1}, {"memory": 0}):
        with pytest.raises(QueryError, match="positive"):
            QueryLimits(**wrong)  # pyright: ignore


@pytest.mark.parametrize("piece", ["1.", "a-", '\\"""\n', "\\'", "<a", "((", "?a:b "])
def test_tokens_cost_the_same_a_character_however_long_the_text(piece: str) -> None:
    def spent(pieces: int) -> float:
        text, best = piece * pieces, float("inf")
        for _ in range(3):
            start = time.process_time()
            deepest(text)
            best = min(best, time.process_time() - start)
        return best

    # Sixteen times the text: sixteen times the work, or 256 times where something is scanned again
    assert spent(32_000) < 64 * spent(2_000)
