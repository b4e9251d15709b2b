"""Read RDF Patch of any program, token by token, as the format's page describes it.

A row is an operation and its terms, and ends in a full stop. Space and comments may separate tokens. A
blank node is ``_:label`` or ``<_:label>``. ``TB`` begins a transaction as ``TX`` does, and both may carry a
word. Prefixes (``PA``, ``PD``) change no triple and are skipped; ``TA`` drops its transaction. Without
``H tick``, a transaction gets the tick after the previous transaction's tick.
https://afs.github.io/rdf-delta/rdf-patch.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Op, Spelled
from substrate.base.errors import LogError
from substrate.base.ntriples import texts_of
from substrate.log._chain import Chain
from substrate.log.patch import EDITED, Descent, Opening, require_flat

# An alternative looks ahead first: before 3.11.5, Python mishandles a possessive group that backtracks.
_TOKEN = re.compile(
    r"""(?P<iri><[^<>\s]*+>) | (?P<open><<\(?) | (?P<close>\)?>>) | (?P<dot>\.)
    | (?P<blank>_:\w(?:[\w:·-]|(?=\.[\w:.·-])\.)*+)
    | (?P<literal>"(?:[^"\\\r\n]|\\.)*+"(?:@[A-Za-z0-9-]++|\s*+\^\^\s*+<[^<>\s]*+>)?+)
    | (?P<word>[\w+-](?:[\w:+-]|(?=\.[\w:+-])\.)*+)""",
    re.VERBOSE,
)
_BETWEEN = re.compile(r"(?:[ \t\r\n]|#[^\n]*+)*+")
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_CHANGES, _BEGIN, _PASSED_OVER = ("A", "D"), ("TX", "TB"), ("PA", "PD")


class _Row(NamedTuple):
    """An operation, its terms in N-Triples, and the line of the file on which the row begins."""

    operation: str
    terms: list[str]
    line: int


class Patch(NamedTuple):
    """The content of a patch: its deltas, and the descent and opening that its first header names."""

    deltas: list[Spelled]
    descent: Descent | None
    opening: Opening | None


class _Transaction(NamedTuple):
    """The headers of a transaction, and the chain before and after it."""

    headers: dict[str, str]
    before: Chain
    after: Chain


class _Change(NamedTuple):
    letter: str
    statement: str
    line: int


def read(text: str, name: str, graph: str | None = None) -> Patch:
    """Read a patch, each triple in its one spelling.

    Args:
        text: the file's text.
        name: the file's name in an error.
        graph: the IRI of the graph to read; rows of other graphs, and rows without a graph, are skipped.
            ``None`` reads rows without a graph, and a row that names a graph is an error.

    Raises:
        LogError: a row is not RDF Patch, names a graph, is cut off or nests too deeply (the error names the
            line), or the patch has a chain that does not hold (the error names the tick).

    >>> read("TB 7.\\nA <_:b> <urn:p>  'o' .", "a.rdfp")
    Traceback (most recent call last):
    substrate.base.errors.LogError: a.rdfp: line 2: not a line of RDF Patch here: "A <_:b> <urn:p>  'o' ."...
    """
    deltas: list[Spelled] = []
    transactions: list[_Transaction] = []
    header: dict[str, str] = {}
    body: list[_Change] | None = None
    chain, next_tick = Chain(), 0
    for row in _rows(text.removeprefix("\ufeff"), name):
        operation, terms, line = row
        if body is not None and operation in _CHANGES and len(terms) in (3, 4):
            if statement := _statement(row, graph, name):
                body.append(_Change(operation, statement, line))
        elif body is None and operation in _BEGIN:
            body = []
        elif body is not None and operation == "TC" and not terms:
            tick = _whole(header["tick"], name, line) if "tick" in header else next_tick
            texts = _texts(body, name)
            deltas += [
                Spelled(tick, Op(change.letter), text) for change, text in zip(body, texts, strict=True)
            ]
            lines = [f"{change.letter} {text} ." for change, text in zip(body, texts, strict=True)]
            later = chain.after(tick, lines) if lines else chain
            transactions.append(_Transaction(header, chain, later))
            header, body, chain, next_tick = {}, None, later, tick + 1
        elif body is not None and operation == "TA" and not terms:
            header, body = {}, None
        elif body is None and operation == "H" and len(terms) == 2:
            header[terms[0]] = _value(terms[1])
            if terms[0] == "branch":
                _whole(header["branch"], name, line)
        elif operation not in _PASSED_OVER:
            raise _no_row(text, line, name)
    if body is not None:
        after = f"after tick {next_tick - 1}" if transactions else "first transaction"
        raise LogError("the last transaction is cut off", where=(name, after), hint="Fetch the patch again")
    _require_chain(transactions, name)
    first = transactions[0].headers if transactions else {}
    descent = Descent(first["parent"], int(first["branch"])) if {"parent", "branch"} <= first.keys() else None
    return Patch(deltas, descent, Opening.of(first["opening"], name) if first.get("opening") else None)


def _require_chain(transactions: list[_Transaction], name: str) -> None:
    """Compare the chain in a patch's headers with the chain of its transactions."""
    if not any(headers.get("id", "").startswith("sha256:") for headers, _, _ in transactions):
        return
    for headers, before, after in transactions:
        digests = headers.get("prev") or before.value, headers.get("id") or after.value
        if digests != (before.value, after.value):
            what = "the chain does not hold: the transaction is not what was appended"
            raise LogError(what, where=(name, f"tick {after.tick}"), hint=EDITED)


def _rows(text: str, name: str) -> Iterator[_Row]:
    place, line, row = 0, 1, list[str]()
    begun, depth = 1, 0
    while True:
        between = _BETWEEN.match(text, place)
        assert between, "the pattern also matches the empty text"
        line += between[0].count("\n")
        place = between.end()
        if place == len(text) and not row:
            return
        begun = begun if row else line
        match = _TOKEN.match(text, place)
        if not match or (not row and match.lastgroup != "word"):
            raise _no_row(text, line, name)
        kind, token, place = str(match.lastgroup), match[0], match.end()
        if kind == "dot":
            yield _Row(row[0], row[1:], begun)
            row, depth = [], 0
            continue
        depth += (kind == "open") - (kind == "close")
        if depth < 0 or (kind == "word" and row and (depth or row[0] in _CHANGES)):
            raise _no_row(text, begun, name)
        # The tokens of a triple term are one term; only its first bracket, at depth 1, begins a term
        inside = kind == "close" or depth > (1 if kind == "open" else 0)
        token = {"open": "<<(", "close": ")>>"}.get(kind) or _node(token)
        if inside:
            row[-1] += f" {token}"
        else:
            row.append(token)


def _node(token: str) -> str:
    """A token in N-Triples; a blank node loses its brackets, and an illegal label becomes hex."""
    if not token.startswith(("<_:", "_:")):
        return token
    label = token.strip("<>").removeprefix("_:")
    return f"_:{label if _LABEL.fullmatch(label) else f'x{label.encode().hex()}'}"


def _value(term: str) -> str:
    """The IRI or text that a header's term holds."""
    return term[1 : term.rindex('"')] if term.startswith('"') else term.strip("<>")


def _statement(row: _Row, graph: str | None, name: str) -> str:
    """A change as an N-Triples statement; empty if it changes a graph that is not read."""
    *triple, named = (*row.terms, "") if len(row.terms) == 3 else row.terms
    if named and graph is None:
        what = f"it changes the graph {named}, and a log has one graph without a name"
        hint = "Give triples, or name the graph to take: --graph IRI"
        raise LogError(what, where=(name, f"line {row.line}"), hint=hint)
    statement = f"{' '.join(triple)} ."
    require_flat(statement, name, f"line {row.line}")
    return statement if named == ("" if graph is None else f"<{graph}>") else ""


def _texts(changes: list[_Change], name: str) -> list[str]:
    """The triples of a transaction in their one spelling."""
    statements = "".join([f"{change.statement}\n" for change in changes])
    try:
        return texts_of(ox.parse(statements, ox.RdfFormat.N_TRIPLES))
    except (SyntaxError, UnicodeEncodeError) as error:
        line = changes[(error.lineno or 1) - 1].line if isinstance(error, SyntaxError) else changes[0].line
        what = str(error).partition(": ")[2] or str(error)
        what = f"not a line of RDF Patch here ({what})"
        raise LogError(what, where=(name, f"line {line}"), hint="Write terms as N-Triples") from error


def _whole(digits: str, name: str, line: int) -> int:
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        what, hint = f"not a tick: {digits[:40]!r}", "Write a whole number from 0"
        raise LogError(what, where=(name, f"line {line}"), hint=hint)
    return int(digits)


def _no_row(text: str, line: int, name: str) -> LogError:
    row = text.split("\n", line)[line - 1].strip()[:80]
    hint = "Write H, TX, A, D or TC, its terms, and a full stop"
    return LogError(f"not a line of RDF Patch here: {row!r}", where=(name, f"line {line}"), hint=hint)
