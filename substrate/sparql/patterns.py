"""Find from a query's text the triples on which its answer may depend.

A query's answer follows from the triples that fit one of its patterns, so a state with only these triples
gives the same answer. This module cannot read some queries (paths of length zero, subqueries, other graphs,
DESCRIBE), which may depend on any triple: :func:`patterns_of` gives ``None`` for them, and for a text that is
not SPARQL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from substrate.base.vocabulary import RDF_TYPE
from substrate.sparql.tokens import tokens

# Strings that a query and a log spell alike
_PLAIN = re.compile(r"\"[ !#-\[\]-~]*\"|'[ -!#-&(-\[\]-~]*'")


class Pattern(NamedTuple):
    """A pattern of triples; each part is a term spelled as in N-Triples, or ``None``, which fits any term."""

    subject: str | None
    predicate: str | None
    object: str | None

    @property
    def text(self) -> str | None:
        """The only triple that fits, spelled as in a log; ``None`` if several may fit.

        >>> Pattern("<urn:s>", "<urn:p>", '"a"').text, Pattern("<urn:s>", "<urn:p>", None).text
        ('<urn:s> <urn:p> "a"', None)
        """
        return None if None in self else " ".join(filter(None, self))


class _Beyond(Exception):  # noqa: N818  # not an error: the query runs on the whole state
    pass


@lru_cache(256)
def patterns_of(sparql: str, prefixes: tuple[tuple[str, str], ...] = ()) -> frozenset[Pattern] | None:
    """Patterns that cover every triple that affects a query's answer; ``None`` if any triple may affect it.

    Args:
        sparql: the query.
        prefixes: prefix names with their IRIs, in addition to the query's own.

    >>> for pattern in patterns_of("ASK { v:ann v:at ?place }", (("v", "urn:v:"),)):
    ...     print(pattern)
    Pattern(subject='<urn:v:ann>', predicate='<urn:v:at>', object=None)
    >>> patterns_of("ASK { <urn:ann> <urn:at>* ?place }") is None
    True
    """
    try:
        return _Reader(sparql, dict(prefixes)).query()
    except _Beyond:
        return None


class _Reader:
    """Read one query token by token; give up at the first token that it cannot interpret."""

    def __init__(self, sparql: str, prefixes: dict[str, str]) -> None:
        self._prefixes = prefixes
        self._patterns: set[Pattern] = set()
        read: list[tuple[str, str]] = []
        for kind, text, _ in tokens(sparql):
            name = text.rstrip(".") if kind == "name" else text
            # A full stop after a name ends the triple and is not part of the name
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
        return frozenset(self._patterns)

    def _require_plain(self) -> None:
        """Skip a token outside the group; give up if it begins a group or names another graph."""
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
        """Skip an expression up to its last bracket; a group inside it belongs to EXISTS or NOT EXISTS."""
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
                    self._patterns.add(Pattern(subject, predicates[0], object_))
                else:
                    self._patterns |= {Pattern(None, predicate, None) for predicate in predicates}
                if not self._takes(","):
                    break
            if not self._takes(";"):
                return
            while self._takes(";"):
                pass
            if self._is(".", "}"):
                return

    def _path(self) -> tuple[list[str | None], bool]:
        """The predicates of a path, and whether the path is a single predicate."""
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
        # A value may have several spellings, so it fits any term
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
        """Tell whether the next token is one of some keywords and marks; an empty mark ends the query."""
        kind, text = self._left[-1]
        return kind in ("word", "mark", "end") and text.upper() in texts

    def _takes(self, *texts: str) -> bool:
        """Skip the next token if it is one of the given keywords and marks; tell whether it was."""
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
