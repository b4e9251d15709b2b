"""The rules' part of SPARQL that is joined here, tick by tick, on what changed: a query as a value.

That part is a CONSTRUCT of triples whose predicates are IRIs, with conditions ``FILTER NOT EXISTS { … }``,
comparisons, and names made by ``BIND(IRI(CONCAT(…)) AS ?node)``. What goes beyond it is left to Oxigraph as
it stands: :func:`read_query` gives ``None`` for it, and for what is no SPARQL at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from substrate.base.vocabulary import RDF_TYPE
from substrate.sparql.tokens import tokens

_XSD = "http://www.w3.org/2001/XMLSchema#"
_KINDS: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "iri": ("iri", re.compile(r"<[^\\]*>")),
    "string": ("text", re.compile(r"\"[ !#-\[\]-~]*\"|'[ -&(-\[\]-~]*'")),
    "variable": ("variable", re.compile(r"[?$][A-Za-z]\w*")),
    "number": ("number", re.compile(r"0|[1-9][0-9]{0,17}")),
    "name": ("name", re.compile(r"(?:[A-Za-z]\w*)?:\w+(?:-\w+)*")),
    "word": ("word", re.compile(r"[A-Za-z]+")),
    "mark": ("sign", re.compile(r"!=|<=|>=|&&|[{}().;,=<>]")),
}
"""Of the tokens of SPARQL those that are joined here, by kind: the kind's name here, and how they look."""
_COMPARED = frozenset(("=", "!=", "<", "<=", ">", ">="))
_ARITY = {"STR": 1, "IRI": 1, "CONCAT": None, "STRAFTER": 2, "STRSTARTS": 2}


class Pattern(NamedTuple):
    """A triple to look for or to give: each of the three a term as in N-Triples, or a variable, ``?name``."""

    subject: str
    predicate: str
    object: str

    @property
    def variables(self) -> set[str]:
        """The variables in it."""
        return {part for part in self if part[0] == "?"}


class Expression(NamedTuple):
    """A function or comparison and what it is applied to.

    ``term`` (a term or variable, as in a :class:`Pattern`) and ``text`` (a string's value) have one
    argument that is no expression.
    """

    function: str
    arguments: tuple[Expression | str, ...]

    @property
    def variables(self) -> set[str]:
        """The variables in it."""
        if self.function == "text":
            return set()
        found: set[str] = set()
        for part in self.arguments:
            if isinstance(part, Expression):
                found |= part.variables
            elif part[0] == "?":
                found.add(part)
        return found


class Group(NamedTuple):
    """A group between braces: triples that hold, comparisons that do, and groups that do not."""

    patterns: tuple[Pattern, ...]
    tests: tuple[Expression, ...]
    absent: tuple[Group, ...]
    names: tuple[tuple[str, Expression], ...]
    """Variables that are bound to a value, beside those of the patterns."""

    @property
    def bound(self) -> set[str]:
        """The variables of its own patterns."""
        return set().union(*(pattern.variables for pattern in self.patterns))

    @property
    def mentioned(self) -> set[str]:
        """Every variable in it."""
        found = self.bound.union(*(test.variables for test in self.tests))
        found |= set().union(*(group.mentioned for group in self.absent))
        return found.union(*({name} | made.variables for name, made in self.names))

    def all_patterns(self) -> Iterator[Pattern]:
        """Its patterns and those of the groups in it."""
        yield from self.patterns
        for group in self.absent:
            yield from group.all_patterns()


class Query(NamedTuple):
    """A rule's query: the triples that it gives, and what has to hold for them."""

    head: tuple[Pattern, ...]
    body: Group


class _Beyond(Exception):  # noqa: N818  # no error: Oxigraph takes over
    pass


def read_query(text: str, prefixes: Mapping[str, str], given: frozenset[str]) -> Query | None:
    """A CONSTRUCT query as a value; ``None`` where it goes beyond what is joined here.

    Args:
        text: the query, as it stands in the TBox.
        prefixes: prefix names to IRIs.
        given: the variables that have a value before the query runs.

    >>> text = "CONSTRUCT { ?a :in ?c } WHERE { ?a :in ?b . ?b :in ?c }"
    >>> query = read_query(text, {"": "urn:t:"}, frozenset())
    >>> query.head
    (Pattern(subject='?a', predicate='<urn:t:in>', object='?c'),)
    >>> read_query("CONSTRUCT { ?a :in ?c } WHERE { ?a :in+ ?c }", {"": "urn:t:"}, frozenset()) is None
    True
    """
    try:
        return _Reader(text, prefixes, given).query()
    except _Beyond:
        return None


class _Reader:
    """Reads one query, token by token, and gives up where it meets what it does not know."""

    def __init__(self, text: str, prefixes: Mapping[str, str], given: frozenset[str]) -> None:
        self._prefixes = prefixes
        self._given = given
        self._tokens = list(_tokens(text))
        self._place = 0

    def query(self) -> Query:
        self._word("CONSTRUCT")
        self._sign("{")
        head = self._triples()
        self._sign("}")
        self._word("WHERE")
        body = self._group(self._given, named=True)
        if self._place != len(self._tokens):
            raise _Beyond
        known = body.bound | self._given | {name for name, _ in body.names}
        if any(not pattern.variables <= known or pattern.subject[0] == '"' for pattern in head):
            raise _Beyond
        return Query(head, body)

    # Groups

    def _group(self, outer: frozenset[str], *, named: bool = False) -> Group:
        self._sign("{")
        patterns: list[Pattern] = []
        tests: list[Expression] = []
        absent_at: list[int] = []
        names: list[tuple[str, Expression]] = []
        while not self._is("sign", "}"):
            if self._takes("word", "FILTER"):
                if self._takes("word", "NOT"):
                    self._word("EXISTS")
                    absent_at.append(self._place)
                    self._skip_group()
                else:
                    self._sign("(")
                    tests += self._conjunction()
                    self._sign(")")
                self._takes("sign", ".")
            elif named and self._takes("word", "BIND"):
                names.append(self._named({v for p in patterns for v in p.variables} | outer))
                self._takes("sign", ".")
            else:
                patterns += self._triples()
        self._sign("}")
        own = set().union(*(pattern.variables for pattern in patterns))
        made = [name for name, _ in names]
        if any(not test.variables <= outer | own for test in tests) or len({*made}) < len(made):
            raise _Beyond
        absent = self._absent(absent_at, frozenset(outer | own))
        group = Group(tuple(patterns), tuple(tests), absent, tuple(names))
        inner = own.union(outer, *(one.mentioned for one in absent))
        if not inner.isdisjoint(made):
            raise _Beyond
        return group

    def _absent(self, places: list[int], outer: frozenset[str]) -> tuple[Group, ...]:
        """The groups that begin at these places, read when all that they may refer to is known."""
        end = self._place
        groups: list[Group] = []
        for place in places:
            self._place = place
            groups.append(self._group(outer))
        self._place = end
        return tuple(groups)

    def _skip_group(self) -> None:
        depth = 0
        while True:
            depth += self._is("sign", "{") - self._is("sign", "}")
            self._next()
            if depth == 0:
                return

    def _named(self, known: set[str]) -> tuple[str, Expression]:
        self._sign("(")
        made = self._expression()
        self._word("AS")
        kind, name = self._next()
        self._sign(")")
        if kind != "variable" or not made.variables <= known:
            raise _Beyond
        return f"?{name}", made

    # Triples

    def _triples(self) -> tuple[Pattern, ...]:
        """Triples up to a closing brace or a condition."""
        found: list[Pattern] = []
        while self._kind() in ("variable", "iri", "name"):
            subject = self._term()
            found += self._properties(subject)
            if not self._takes("sign", "."):
                break
        if not (self._is("sign", "}") or self._is("word", "FILTER") or self._is("word", "BIND")):
            raise _Beyond
        return tuple(found)

    def _properties(self, subject: str) -> Iterator[Pattern]:
        while True:
            predicate = str(RDF_TYPE) if self._takes("word", "a") else self._term()
            if predicate[0] != "<":
                raise _Beyond
            yield Pattern(subject, predicate, self._term())
            while self._takes("sign", ","):
                yield Pattern(subject, predicate, self._term())
            if not self._takes("sign", ";"):
                return

    def _term(self) -> str:
        kind, value = self._next()
        if kind == "variable":
            return f"?{value}"
        if kind == "iri" and ":" in value:
            return value
        if kind == "name":
            prefix, _, local = value.partition(":")
            if prefix in self._prefixes:
                return f"<{self._prefixes[prefix]}{local}>"
        if kind == "number":
            return f'"{value}"^^<{_XSD}integer>'
        if kind == "text":
            return f'"{value[1:-1]}"' if '"' not in value[1:-1] else self._give_up()
        if kind == "word" and value in ("true", "false"):
            return f'"{value}"^^<{_XSD}boolean>'
        return self._give_up()

    # Expressions

    def _conjunction(self) -> list[Expression]:
        found = [self._comparison()]
        while self._takes("sign", "&&"):
            found.append(self._comparison())
        return found

    def _comparison(self) -> Expression:
        left = self._expression()
        if self._kind() != "sign" or self._tokens[self._place][1] not in _COMPARED:
            return left
        _, sign = self._next()
        return Expression(sign, (left, self._expression()))

    def _expression(self) -> Expression:
        if self._kind() == "word":
            _, word = self._next()
            function = word.upper()
            if function not in _ARITY:
                raise _Beyond
            return self._call(function)
        if self._kind() == "text":
            return Expression("text", (self._term()[1:-1],))
        return Expression("term", (self._term(),))

    def _call(self, function: str) -> Expression:
        self._sign("(")
        arguments = [self._expression()]
        while self._takes("sign", ","):
            arguments.append(self._expression())
        self._sign(")")
        if _ARITY[function] not in (None, len(arguments)):
            raise _Beyond
        return Expression(function, tuple(arguments))

    # Tokens

    def _kind(self) -> str:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else ""

    def _is(self, kind: str, value: str) -> bool:
        if self._kind() != kind:
            return False
        found = self._tokens[self._place][1]
        # `a` is no keyword: case counts
        return found == value or (kind == "word" and value != "a" and found.upper() == value)

    def _takes(self, kind: str, value: str) -> bool:
        if not self._is(kind, value):
            return False
        self._place += 1
        return True

    def _next(self) -> tuple[str, str]:
        if self._place == len(self._tokens):
            raise _Beyond
        self._place += 1
        return self._tokens[self._place - 1]

    def _sign(self, value: str) -> None:
        if self._next() != ("sign", value):
            raise _Beyond

    def _word(self, value: str) -> None:
        kind, word = self._next()
        if kind != "word" or word.upper() != value:
            raise _Beyond

    def _give_up(self) -> str:
        raise _Beyond


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for token in tokens(text):
        kind, plain = _KINDS.get(token.kind, ("", None))
        piece, ended = token.text, False
        if kind == "name" and piece.endswith("."):
            piece, ended = piece[:-1], True  # a name does not end in a full stop: the triple does
        if plain is None or not plain.fullmatch(piece):
            raise _Beyond
        yield kind, piece[1:] if kind == "variable" else piece
        if ended:
            yield "sign", "."
