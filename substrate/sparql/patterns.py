"""The triples that a query may look at, told by its text: enough for many queries, and never too few.

A query's answer follows from the triples that fit one of its patterns. A state of these
triples alone gives the same answer. A query that this module cannot read (paths of length zero, subqueries,
other graphs, DESCRIBE) may look at anything: :func:`looked_at` gives ``None`` for it, and for a text that is
no SPARQL at all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from substrate.base.vocabulary import RDF_TYPE
from substrate.sparql.tokens import tokens

_PLAIN = re.compile(r"\"[ !#-\[\]-~]*\"|'[ -!#-&(-\[\]-~]*'")
"""Strings whose spelling in a query is that in a log."""


class Pattern(NamedTuple):
    """Triples to look for: each of the three a term as in N-Triples, or ``None``, which fits any term."""

    subject: str | None
    predicate: str | None
    object: str | None

    @property
    def text(self) -> str | None:
        """The triple that fits, spelled as a log spells it; ``None`` where several may.

        >>> Pattern("<urn:s>", "<urn:p>", '"a"').text, Pattern("<urn:s>", "<urn:p>", None).text
        ('<urn:s> <urn:p> "a"', None)
        """
        return None if None in self else " ".join(filter(None, self))


class _Beyond(Exception):  # noqa: N818  # no error: the whole state is asked
    pass


@lru_cache(256)
def looked_at(sparql: str, prefixes: tuple[tuple[str, str], ...] = ()) -> frozenset[Pattern] | None:
    """Patterns that every triple fits on which a query's answer depends; ``None`` where any may count.

    Args:
        sparql: the query.
        prefixes: prefix names with their IRIs, beside those that it declares.

    >>> for pattern in looked_at("ASK { v:ann v:at ?place }", (("v", "urn:v:"),)):
    ...     print(pattern)
    Pattern(subject='<urn:v:ann>', predicate='<urn:v:at>', object=None)
    >>> looked_at("ASK { <urn:ann> <urn:at>* ?place }") is None
    True
    """
    try:
        return _Reader(sparql, dict(prefixes)).query()
    except _Beyond:
        return None


class _Reader:
    """Reads one query, token by token, and gives up where it meets what it does not know."""

    def __init__(self, sparql: str, prefixes: dict[str, str]) -> None:
        self._prefixes = prefixes
        self._found: set[Pattern] = set()
        read: list[tuple[str, str]] = []
        for kind, text, _ in tokens(sparql):
            name = text.rstrip(".") if kind == "name" else text
            # A name does not end in a full stop: the triple does
            read += [(kind, name), *[("mark", ".")] * (len(text) - len(name))]
        self._left = [("end", ""), *reversed(read)]

    def query(self) -> frozenset[Pattern]:
        while self._takes("PREFIX"):
            name, iri = self._next()[1], self._next()[1]
            self._prefixes[name.removesuffix(":")] = iri[1:-1]
        if self._takes("CONSTRUCT"):
            if self._is("{"):
                self._skip("}")
        elif self._takes("SELECT"):
            while not self._is("{", "WHERE"):
                self._require_plain()
        elif not self._takes("ASK"):
            raise _Beyond
        self._takes("WHERE")
        self._group()
        while not self._is(""):
            self._require_plain()
        return frozenset(self._found)

    def _require_plain(self) -> None:
        """Pass over a token outside of the group, unless a group or another graph begins there."""
        if self._is("FROM") or self._next()[1] in ("{", "}"):
            raise _Beyond

    def _group(self) -> None:
        if not self._takes("{"):
            raise _Beyond
        while not self._takes("}"):
            if self._takes("FILTER", "BIND"):
                self._expression()
            elif self._takes("OPTIONAL", "MINUS", "UNION") or self._is("{"):
                self._group()
            elif self._takes("VALUES"):
                self._skip("}")
            elif not self._takes("."):
                self._triples()

    def _expression(self) -> None:
        """Pass over an expression up to its last bracket; a group in it belongs to EXISTS or NOT EXISTS."""
        depth = 0
        while True:
            if self._is("{"):
                self._group()
            elif self._is("(", ")"):
                depth += 1 if self._next()[1] == "(" else -1
            elif self._is("}") or (self._next()[0] not in ("word", "name", "iri") and not depth):
                raise _Beyond
            else:
                continue
            if depth == 0:
                return

    def _triples(self) -> None:
        subject = self._term()
        while True:
            predicates, plain = self._path()
            while True:
                object_ = self._term()
                if plain:
                    self._found.add(Pattern(subject, predicates[0], object_))
                else:
                    self._found |= {Pattern(None, predicate, None) for predicate in predicates}
                if not self._takes(","):
                    break
            if not self._takes(";"):
                return
            while self._takes(";"):
                pass
            if self._is(".", "}"):
                return

    def _path(self) -> tuple[list[str | None], bool]:
        """The predicates of a path, and whether it is one predicate alone."""
        if self._left[-1][0] == "variable":
            self._next()
            return [None], True
        predicates: list[str | None] = []
        before, depth = len(self._left), 0
        while True:
            while self._is("^", "("):
                depth += self._next()[1] == "("
            if self._left[-1] == ("word", "a"):
                self._next()
                predicates.append(str(RDF_TYPE))
            else:
                predicates.append(self._named())
            while self._is(")", "+"):
                depth -= self._next()[1] == ")"
            if not self._takes("/", "|"):
                break
        if depth:
            raise _Beyond
        return predicates, len(self._left) == before - 1

    def _term(self) -> str | None:
        kind, text = self._left[-1]
        if kind == "variable" or text.startswith("_:"):
            self._next()
            return None
        if kind in ("iri", "name"):
            return self._named()
        while self._takes("+", "-"):
            pass
        kind, text = self._next()
        if kind == "string":
            if self._left[-1][0] == "language":
                self._next()
            elif self._takes("^^"):
                self._named()
            elif _PLAIN.fullmatch(text):
                return f'"{text[1:-1]}"'
        elif kind != "number" and (kind, text) not in (("word", "true"), ("word", "false")):
            raise _Beyond
        # A value may be spelled in several ways
        return None

    def _named(self) -> str:
        kind, text = self._next()
        if kind == "name":
            prefix, _, local = text.partition(":")
            if prefix in self._prefixes:
                kind, text = "iri", f"<{self._prefixes[prefix]}{local}>"
        if kind != "iri" or ":" not in text or "\\" in text:
            raise _Beyond
        return text

    def _is(self, *texts: str) -> bool:
        """Tell whether one of some keywords and marks comes next; the query ends in an empty mark."""
        kind, text = self._left[-1]
        return kind in ("word", "mark", "end") and text.upper() in texts

    def _takes(self, *texts: str) -> bool:
        """Go on behind one of some keywords and marks, where it comes next."""
        is_next = self._is(*texts)
        if is_next:
            self._left.pop()
        return is_next

    def _next(self) -> tuple[str, str]:
        if len(self._left) == 1:
            raise _Beyond
        return self._left.pop()

    def _skip(self, mark: str) -> None:
        while self._next() != ("mark", mark):
            pass
