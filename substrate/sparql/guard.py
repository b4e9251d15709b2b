"""Untrusted queries and rules: read-only, without network or files, and limited in time.

An Oxigraph store answers ``SERVICE`` over the network, has no time limit, and its parser crashes the process
if a query nests too deeply. :func:`checked` refuses such a query by its tokens, before a parser sees it.
:func:`query` also runs it in a separate process, which can open no file and no connection and ends when its
time or memory is used up. ``State.query`` does neither: it is fast, and meant for your own queries.

A server that holds a state in memory calls :func:`checked` and then ``State.query`` if it trusts that a
query ends; otherwise it calls :func:`query`.
"""

from __future__ import annotations

import math
import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import pyoxigraph as ox

from substrate.base.arguments import require, require_count
from substrate.base.errors import SubstrateError
from substrate.base.limits import LIMITS
from substrate.sparql.tokens import CLOSING, OPENING, tokens

if TYPE_CHECKING:
    from substrate.base.delta import Term

T = TypeVar("T")

_CHANGES = re.compile("LOAD|CLEAR|DROP|CREATE|ADD|MOVE|COPY|INSERT|DELETE|WITH|USING|INTO")
_ELSEWHERE = frozenset({"FROM", "GRAPH"})
# Address space that a process uses before it reads any data, with room to spare
_BYTES_BEFORE = 1 << 30


class QueryError(SubstrateError):
    """A query is refused, or exceeded its limits."""


@dataclass(frozen=True)
class QueryLimits:
    """The bounds of a user's query.

    Args:
        timeout: seconds for one query, including the start of its process (some 0.2 seconds).
        rows: the largest number of rows or triples in its answer.
        memory: bytes of address space that it may use.

    >>> QueryLimits().rows
    10000
    """

    timeout: float = LIMITS.seconds
    rows: int = LIMITS.rows
    memory: int = LIMITS.memory

    def __post_init__(self) -> None:
        require(self.timeout, int | float, "a number", "timeout")
        for name in ("rows", "memory"):
            require_count(getattr(self, name), name)
        if not (0 < self.timeout < math.inf and self.rows >= 0 and self.memory > 0):
            what = f"no limits: {self.timeout} seconds, {self.rows} rows, {self.memory} bytes"
            raise QueryError(what, hint="Give positive numbers")


class Queried(Protocol):
    """A state as a query reads it, such as a :class:`substrate.log.state.State`."""

    @property
    def prefixes(self) -> dict[str, str]:
        """Its prefixes, each name with its IRI."""
        ...

    def nquads(self) -> str:
        """Its triples as N-Quads."""
        ...


class Solutions(NamedTuple):
    """The rows of a SELECT query: the names of its variables, and rows with a term or ``None`` for each."""

    variables: tuple[str, ...]
    rows: list[tuple[Term | None, ...]]


def checked(sparql: str, *where: object) -> str:
    """Return the query unchanged if it is safe to parse and reaches only its state; else refuse it.

    >>> checked("ASK { ?s ?p 'SERVICE' }")
    "ASK { ?s ?p 'SERVICE' }"
    >>> checked("ASK { SERVICE<http://192.0.2.1/> { ?s ?p ?o } }")
    Traceback (most recent call last):
    substrate.sparql.guard.QueryError: SERVICE would reach the network. A query sees the state alone: take it
    out.

    Args:
        sparql: a SELECT, ASK, CONSTRUCT or DESCRIBE query.
        where: the query's name in errors, outermost part first.

    Raises:
        QueryError: the query uses SERVICE, FROM, GRAPH or an update, or is longer, nests deeper or has more
            keywords and operators than :data:`LIMITS` allow.
    """

    def refuse(what: str, hint: str) -> QueryError:
        return QueryError(what, where=where, hint=hint)

    if len(sparql) > LIMITS.text:
        raise refuse(f"the query has more than {LIMITS.text} characters", "Write a shorter query")
    pieces = depth = deepest = 0
    for kind, text, _ in tokens(sparql):
        if kind == "open":
            raise refuse("a string has no end: it could hide SERVICE", "Close it")
        if kind not in ("string", "iri") and "\\" in text:
            raise refuse(f"an escape is outside of a string: {text[:40]!r}", "Write the character itself")
        if kind == "mark":
            # Counts like :func:`substrate.sparql.tokens.deepest`, without a second pass over the tokens
            depth = depth + 1 if text in OPENING else max(0, depth - (text in CLOSING))
            deepest = max(deepest, depth)
            pieces += text != ","
        if kind not in ("word", "name"):
            continue
        # A parser may read the first letters of a longer word, or of a prefix, as a keyword.
        word = text.partition(":")[0].upper()
        if "SERVICE" in word and kind == "name":
            raise refuse(f"{text[:40]}: read as SERVICE", "Give the prefix another name")
        if "SERVICE" in word:
            hint = "A query sees the state alone: take it out"
            raise refuse(f"{text[:40]} would reach the network", hint)
        pieces += kind == "word"
        if kind == "word" and _CHANGES.fullmatch(word):
            raise refuse(f"{text} belongs to an update", "A query is read-only: use SELECT, ASK or CONSTRUCT")
        if kind == "word" and word in _ELSEWHERE:
            hint = "A state is one graph, without a name: ask about it alone"
            raise refuse(f"{text} names another graph", hint)
    if pieces > LIMITS.pieces:
        what = f"the query has more than {LIMITS.pieces} keywords and operators"
        raise refuse(what, "Write several queries")
    if deepest > LIMITS.depth:
        raise refuse(f"the query nests more than {LIMITS.depth} deep", "Write it flatter")
    return sparql


def query(
    state: Queried,
    sparql: str,
    *,
    prefixes: Mapping[str, str] | None = None,
    limits: QueryLimits | None = None,
) -> Solutions | bool | list[ox.Triple]:
    """Check a user's query on a state, and run it in a separate process within its limits.

    >>> from substrate.log.event_log import EventLog
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> .")])
    >>> query(log.state(0), "ASK { <urn:ann> ?p ?o }")
    True

    Returns:
        The rows of a SELECT, the truth of an ASK, the triples of a CONSTRUCT or DESCRIBE.

    Raises:
        QueryError: as :func:`checked`; also if it is not SPARQL, or reaches a limit (says which).
    """
    limits = limits or QueryLimits()
    names = {**state.prefixes, **(prefixes or {})}
    for name in names:
        checked(f"{name}:")
    return confined(_answer, state.nquads(), checked(sparql), names, limits.rows, limits=limits)


def confined(function: Callable[..., T], *arguments: Any, limits: QueryLimits | None = None) -> T:
    """Call a function in a separate process that can open no file and no connection, within limits.

    Args:
        function: a function at the top level of an importable module.
        arguments: its arguments; they and its result are pickled.
        limits: its time and memory.

    Raises:
        QueryError: the time or memory was used up, or the process crashed.
        SubstrateError: the function itself raised it.
    """
    limits = limits or QueryLimits()
    # The modules' names, not the function itself: its module is loaded before the process is confined.
    job = pickle.dumps((function.__module__, function.__qualname__, limits.timeout, limits.memory))
    process = subprocess.Popen(
        [sys.executable, "-c", "from substrate.sparql.guard import _serve; _serve()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        out, complaint = process.communicate(job + pickle.dumps(arguments), timeout=limits.timeout)
    except subprocess.TimeoutExpired:
        raise _timed_out(limits) from None
    finally:
        process.kill()
        process.communicate()
    if process.returncode:
        raise _crashed(process.returncode, complaint, limits)
    done, value = pickle.loads(out)
    if not done:
        kind, what, where, hint = value
        raise kind(what, where=where, hint=hint)
    return value


def _timed_out(limits: QueryLimits) -> QueryError:
    hint = "Ask for less, or allow a longer `timeout` (--timeout)"
    return QueryError(f"did not end within {limits.timeout:g} seconds", hint=hint)


def _crashed(code: int, complaint: bytes, limits: QueryLimits) -> QueryError:
    if -code == getattr(signal, "SIGXCPU", 0):
        return _timed_out(limits)
    if re.search(rb"memory allocation|MemoryError|capacity overflow", complaint):
        hint = "Ask for less, or allow more `memory` (--memory)"
        return QueryError(f"needed more than {limits.memory >> 20} MiB of memory", hint=hint)
    last = complaint.decode("utf-8", "replace").strip().splitlines()[-1:]
    what = f"ended its process with {code}{': ' if last else ''}{''.join(last)[:200]}"
    return QueryError(what, hint="Ask a simpler query")


def _serve() -> None:
    """Run a confined process: read a job, confine the process, run the job, return its result."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    module, name, timeout, memory = pickle.load(source)
    function = getattr(import_module(module), name)
    arguments = pickle.load(source)
    _restrict_process(timeout, memory)
    try:
        result = True, function(*arguments)
    except SubstrateError as error:
        result = False, (type(error), error.what, error.where, error.hint)
    sink.write(pickle.dumps(result))
    sink.flush()


def _restrict_process(timeout: float, memory: int) -> None:
    """Forbid new files, connections and writing, and limit time and memory, if the system can."""
    try:
        import resource
    except ImportError:  # on Windows only the parent's time limit applies
        return
    for limit, value in (
        (resource.RLIMIT_NOFILE, 3),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, math.ceil(timeout) + 1),
        (resource.RLIMIT_AS, memory + _BYTES_BEFORE),
    ):
        hard = resource.getrlimit(limit)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (allowed, allowed))


def _answer(
    nquads: str, sparql: str, prefixes: dict[str, str], limit: int
) -> Solutions | bool | list[ox.Triple]:
    """Answer a query on a state given as N-Quads; runs in the confined process."""
    store = ox.Store()
    store.extend(ox.parse(nquads, ox.RdfFormat.N_QUADS))
    try:
        answer = store.query(sparql, prefixes=prefixes)
        if isinstance(answer, ox.QueryBoolean):
            return bool(answer)
        if not isinstance(answer, ox.QuerySolutions):
            return _limited(answer, limit)
        names = tuple(variable.value for variable in answer.variables)
        return Solutions(names, _limited((tuple(row) for row in answer), limit))
    except (SyntaxError, ValueError) as error:
        raise QueryError(f"not SPARQL ({error})", hint="Correct the query") from error
    except (OSError, RuntimeError) as error:
        raise QueryError(f"cannot be answered ({error})", hint="Correct the query") from error


def _limited(rows: Iterable[Any], limit: int) -> list[Any]:
    first_rows = list(islice(rows, limit + 1))
    if len(first_rows) > limit:
        hint = "Add a LIMIT to the query, or allow a larger `limit` (--limit)"
        raise QueryError(f"has more than {limit} rows", hint=hint)
    return first_rows
