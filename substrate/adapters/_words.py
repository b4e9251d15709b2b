"""The plain words that a language model uses for a memory's terms: `ann` for an IRI, `gold` for a text."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote, unquote

import pyoxigraph as ox

from substrate.base.delta import Term, Triple
from substrate.base.errors import ParameterError
from substrate.base.terms import term, value
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL
from substrate.log.event_log import EventLog
from substrate.memory.records import Node, is_record
from substrate.rules.tbox import TBox

MINTED = "urn:memory:"
"""The beginning of an IRI that is made from a new word."""
NESTING = 16
"""The deepest nesting of triple terms."""
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_NO_JSON = (float("inf"), float("-inf"))
_LONG = 800
"""Characters of a stored text that are shown."""


class Words:
    """The names of things and predicates in a log and a TBox.

    The name of an IRI is the part after a prefix of the TBox, otherwise its last part; its label is also a
    name. Case, spaces, dashes and underscores do not count, and `livesIn` equals `lives in`. Plain words are
    converted to Unicode's normal form C here, so that two spellings of `José` name the same thing. IRIs and
    quoted texts stay exactly as written.

    >>> from substrate import EventLog, Namespace
    >>> V, log = Namespace("https://example.org/v#"), EventLog()
    >>> _ = log.insert(V.Ann_Lee, V.likes, "gold")
    >>> words = Words()
    >>> _ = words.learn(log)
    >>> print(words.node("ann lee"), words.object("gold"), words.word(V.Ann_Lee))
    <https://example.org/v#Ann_Lee> "gold" Ann_Lee
    """

    def __init__(self, tbox: TBox | None = None) -> None:
        self._prefixes: Mapping[str, str] = tbox.prefixes if tbox else {}
        self._things = defaultdict[str, dict[Node, None]](dict)
        self._predicates = defaultdict[str, dict[Node, None]](dict)
        self._seen = 0
        self._named(self._predicates, RDF_TYPE, "a")
        for iri in sorted(tbox.vocabulary) if tbox else ():
            for names in (self._things, self._predicates):
                self._named(names, ox.NamedNode(iri))
                self._named(names, ox.NamedNode(iri), tbox.label(ox.NamedNode(iri)) if tbox else None)

    def learn(self, log: EventLog) -> list[str]:
        """Learn the names in a log's deltas since the last call; return the words that name new things."""
        minted: dict[ox.NamedNode, None] = {}
        things, predicates = self._things, self._predicates
        for _, quad in log.changes(self._seen):
            subject, predicate, object_ = quad.subject, quad.predicate, quad.object
            named = (
                [(things, object_)] if isinstance(object_, ox.NamedNode) and not is_record(object_) else []
            )
            if not isinstance(subject, ox.Triple) and not is_record(subject):
                named = [(things, subject), (predicates, predicate), *named]
                if predicate == RDFS_LABEL and isinstance(object_, ox.Literal):
                    self._named(things, subject, object_.value)
            minted.update((node, None) for names, node in named if self._named(names, node))
        self._seen = len(log)
        return [self.name(node) for node in minted]

    def _named(self, names: dict[str, dict[Node, None]], node: Node, name: str | None = None) -> bool:
        """Give a node a name; tell whether the node is new and made from a word."""
        if not isinstance(node, ox.NamedNode):
            return False
        known = names[_plain(self.name(node) if name is None else name)]
        new = node not in known and node.value.startswith(MINTED)
        known[node] = None
        return new

    def node(self, text: str, *, new: bool = False) -> Node:
        """A thing by its name or IRI.

        Args:
            text: a name, `<IRI>`, an IRI, a prefixed name, or `_:label`.
            new: whether an unknown name names a new thing.

        Raises:
            ParameterError: no thing has this name, or several things have it.
        """
        thing = self.written(text) or self._one(self._things, text, new=new)
        if not isinstance(thing, ox.NamedNode | ox.BlankNode):
            raise ParameterError(f"{text[:80]!r} is not a thing", hint="Write a name or an IRI")
        return thing

    def predicate(self, text: str, *, new: bool = False) -> ox.NamedNode:
        """A predicate; arguments and errors as :meth:`node`."""
        relation = self.written(text) or self._one(self._predicates, text, new=new)
        if not isinstance(relation, ox.NamedNode):
            raise ParameterError(f"{text[:80]!r} is not a predicate", hint="Write a name or an IRI")
        return relation

    def object(self, given: str | float) -> Term:
        """An object: a thing if its name is known, else a text, number or truth value.

        Raises:
            ParameterError: several things have this name.
        """
        return self.objects(given)[0]

    def objects(self, given: str | float) -> list[Term]:
        """All possible meanings of an object.

        A word may have been stored as a text before a thing got that name, or in another normal form.
        """
        if not isinstance(given, str):
            return [term(given)]
        if parsed := self.written(given):
            return [parsed]
        thing = [self._one(self._things, given, new=False)] if _plain(given) in self._things else []
        return [*thing, *map(term, dict.fromkeys((normal(given), given)))]

    def fact(self, given: str) -> Term:
        """A thing or a triple term that an agent may know; errors as :meth:`node`."""
        return self.written(given) or self.node(given)

    def word(self, stored: Term | None) -> Any:
        """A term in the form that a model reads and may write; a long text is cut, with a note."""
        if isinstance(stored, ox.NamedNode):
            name = self.name(stored)
            known = [*self._things.get(_plain(name), ()), *self._predicates.get(_plain(name), ())]
            alone = set(known or [_minted(name)]) == {stored}
            return name if alone and not self.written(name) else str(stored)
        if isinstance(stored, ox.Literal):
            plain = value(stored)
            if isinstance(plain, str) and len(plain) > _LONG:
                return f"{plain[:_LONG]} … and {len(plain) - _LONG} more characters"
            # JSON has neither infinity nor NaN
            if isinstance(plain, str | int | float) and plain not in _NO_JSON and _same(self, plain, stored):
                return plain
        return None if stored is None else str(stored)

    def name(self, iri: ox.NamedNode) -> str:
        """The name of an IRI, without percent-encoding."""
        begun = max(
            (base for base in self._prefixes.values() if iri.value.startswith(base)), key=len, default=""
        )
        rest = iri.value[len(begun) :] if begun else re.split(r"[/#:]", iri.value.rstrip("/#:"))[-1]
        return unquote(rest)

    def fact_of(self, triple: Triple) -> dict[str, Any]:
        """A triple in words."""
        return dict(zip(("subject", "predicate", "object"), map(self.word, triple), strict=True))

    def written(self, text: str) -> Term | None:
        """A term that is written out; ``None`` if the text is a plain word.

        Raises:
            ParameterError: the text begins as a term but is not a term.
        """
        name, colon, rest = text.partition(":")
        try:
            if text[:1] in ("<", '"') or text[:2] == "_:":
                if text.count("<<(") > NESTING:
                    raise ValueError
                (quad,) = ox.parse(f"<urn:s> <urn:p> {text} .", ox.RdfFormat.N_TRIPLES)
                return quad.object
            if colon and name in self._prefixes:
                return ox.NamedNode(self._prefixes[name] + rest)
            return ox.NamedNode(text) if _IRI.fullmatch(text) else None
        except (SyntaxError, ValueError):
            hint = 'Write a name, an IRI, or "a text" in quotes'
            raise ParameterError(f"{text[:80]!r} is not a term", hint=hint) from None

    def _one(self, names: Mapping[str, Mapping[Node, None]], text: str, *, new: bool) -> Term:
        key = _plain(text)
        candidates = list(names.get(key, ()))
        if len(candidates) > 1:
            listed = ", ".join(map(str, candidates[:5]))
            raise ParameterError(f"{text[:80]!r} may be {listed}", hint="Write the one that you mean")
        if candidates:
            return candidates[0]
        if new and key:
            return _minted(text)
        near = [self.word(next(iter(names[name]))) for name in get_close_matches(key, names, 5)]
        hint = f"Near it: {', '.join(near)}" if near else "Ask `recall` what is known"
        raise ParameterError(f"nothing is called {text[:80]!r}", hint=hint)


def normal(text: str) -> str:
    """A plain word in its stored form, Unicode's normal form C.

    >>> normal("Jose\u0301") == "Jos\u00e9"
    True
    """
    return unicodedata.normalize("NFC", text)


def _plain(name: str) -> str:
    parted = re.sub(r"[\s_-]+|(?<=[a-z])(?=[A-Z])", " ", normal(name)).strip()
    return normal(parted.casefold())


def _minted(name: str) -> ox.NamedNode:
    return ox.NamedNode(MINTED + quote("_".join(normal(name).split()), safe=""))


def _same(words: Words, plain: str | float, stored: Term) -> bool:
    try:
        return words.object(plain) == stored
    except ParameterError:
        return False
