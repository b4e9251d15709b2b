"""The words that a language model uses for a memory's terms: `ann` for a thing, `"gold"` for a text.

The place of a word decides its type, and its spelling does not. Subjects, predicates, agents and known facts
are names of things. Objects, authors and sources are values: a string is a text, kept to the letter, unless
it is an IRI in angle brackets.

An unknown name is *minted*: it becomes a new IRI below ``urn:memory:``. A term that is too long for a reply
is *cut*: the reply shows its beginning and a *handle*. A model may write this text, or the handle alone, for
the whole term.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote

import pyoxigraph as ox
from msgspec import Meta

from substrate.adapters._handles import LONG, LONG_NAME, LongTerms, cut, handle_in
from substrate.base.delta import Term, Triple
from substrate.base.errors import ParameterError
from substrate.base.terms import term, value
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL
from substrate.log.event_log import EventLog
from substrate.memory.records import Node, is_record
from substrate.rules.tbox import TBox

MINTED = "urn:memory:"
"""The beginning of an IRI that is made from a new name."""
NESTING = 16
"""The deepest nesting of triple terms."""
_ENDLESS = float("inf")  # JSON has neither infinity nor NaN
_FORMS = {
    "thing": "The name of a thing.",
    "text": "A text that would be read as an IRI.",
    "term": "Any other RDF term, in N-Triples.",
}
_SCHEMA = {"properties": {key: {"type": "string", "description": about} for key, about in _FORMS.items()}}
_Form = Annotated[
    dict[Literal["thing", "text", "term"], str],
    Meta(min_length=1, max_length=1, extra_json_schema={**_SCHEMA, "additionalProperties": False}),
]
"""A value whose type is named."""
Text = str | _Form
Value = str | int | float | bool | _Form
"""A text, and any value, as a model writes them."""


class Words:
    """The names of things and predicates in a log and a TBox.

    The name of an IRI is the part after a prefix of the TBox, otherwise its last part; its label is also a
    name. Case, and spaces, dashes and underscores inside a name, do not count, and `livesIn` equals `lives
    in`. Names are converted to Unicode's normal form C here, so that two spellings of `José` name the same
    thing. Values stay exactly as written.

    >>> from substrate import EventLog, Namespace
    >>> V, log = Namespace("https://example.org/v#"), EventLog()
    >>> _ = log.insert(V.Ann_Lee, V.likes, "gold")
    >>> words = Words()
    >>> _ = words.learn(log)
    >>> print(words.node("ann lee"), words.word(V.Ann_Lee))
    <https://example.org/v#Ann_Lee> Ann_Lee
    >>> print(words.value("a:b"), words.value("<a:b>"), words.value({"thing": "ann lee"}))
    "a:b" <a:b> <https://example.org/v#Ann_Lee>
    >>> words.shown(words.value("a:b")), words.shown(words.value({"text": "<a:b>"}))
    ('a:b', {'text': '<a:b>'})
    """

    def __init__(self, tbox: TBox | None = None) -> None:
        self._prefixes: Mapping[str, str] = tbox.prefixes if tbox else {}
        self._things = defaultdict[str, dict[Node, None]](dict)
        self._predicates = defaultdict[str, dict[Node, None]](dict)
        self._long, self._seen = LongTerms(), 0
        self._add_name(self._predicates, RDF_TYPE, "a")
        for iri in sorted(tbox.vocabulary) if tbox else ():
            for names in (self._things, self._predicates):
                self._add_name(names, ox.NamedNode(iri))
                self._add_name(names, ox.NamedNode(iri), tbox.label(ox.NamedNode(iri)) if tbox else None)

    def learn(self, log: EventLog) -> list[str]:
        """Learn the names in a log's deltas since the last call; return the words that name new things."""
        minted: dict[ox.NamedNode, None] = {}
        things = self._things
        for _, quad in log.changes(self._seen):
            # The properties of a memory's record name nothing. But if the object is a triple term, it is the
            # fact that the record states; the fact may begin later, so it may have no triple of its own yet
            fact = quad.object if is_record(quad.subject) else quad.triple
            if not isinstance(fact, ox.Triple) or isinstance(fact.subject, ox.Triple):
                continue
            nodes = [(things, fact.subject), (self._predicates, fact.predicate)]
            if isinstance(fact.object, ox.NamedNode) and not is_record(fact.object):
                nodes.append((things, fact.object))
            if fact.predicate == RDFS_LABEL and isinstance(fact.object, ox.Literal):
                self._add_name(things, fact.subject, fact.object.value)
            minted.update((node, None) for names, node in nodes if self._add_name(names, node))
        self._long.follow(log)
        self._seen = len(log)
        return [cut(self.name(node), node, LONG_NAME) for node in minted]

    def _add_name(self, names: dict[str, dict[Node, None]], node: Node, name: str | None = None) -> bool:
        """Give a node a name; tell whether the node is new and made from a word."""
        if not isinstance(node, ox.NamedNode):
            return False
        known = names[_key(self.name(node) if name is None else name)]
        new = node not in known and node.value.startswith(MINTED)
        known[node] = None
        return new

    def node(self, text: str, *, new: bool = False) -> Node:
        """A thing by its name or IRI.

        Args:
            text: a name, `<IRI>`, a name with a prefix of the TBox, or `_:label`.
            new: whether an unknown name names a new thing.

        Raises:
            ParameterError: no thing has this name, or several things have it.
        """
        thing = self._written(text) or self._resolve(self._things, text, new=new)
        return _require_kind(thing, ox.NamedNode | ox.BlankNode, text, "thing")

    def predicate(self, text: str, *, new: bool = False) -> ox.NamedNode:
        """A predicate; arguments and errors as :meth:`node`."""
        relation = self._written(text) or self._resolve(self._predicates, text, new=new)
        return _require_kind(relation, ox.NamedNode, text, "predicate")

    def value(self, given: Any, *, new: bool = False) -> Term:
        """A value: a text, number or truth value; `<IRI>`; or `{"thing": name}`, `{"text": text}` or
        `{"term": N-Triples}`.

        Raises:
            ParameterError: no thing, or several things, have the name; or the term is not a term.
        """
        if isinstance(given, dict):
            ((kind, text),) = given.items()
            if kind == "thing":
                return self.node(text, new=new)
            return term(text) if kind == "text" else _parsed(text)
        if not isinstance(given, str):
            return term(given)
        # `uncut` gives the long value that an earlier reply showed shortened in this way
        return self._bracketed(given) or self._long.uncut(given, self._forms) or term(given)

    def fact(self, given: Any, *, new: bool = False) -> Term:
        """A thing or a triple term that an agent may know; other values and errors as :meth:`value`."""
        if isinstance(given, dict):
            return self.value(given, new=new)
        text = str(given)
        return _parsed(text) if text.startswith("<<(") else self._written(text) or self.node(text, new=new)

    def things(self, text: str) -> list[Node]:
        """The things that a text would name."""
        return list(self._things.get(_key(text), ()))

    def word(self, stored: Term | None) -> Any:
        """A thing in the form that a model reads and may write; a long name is cut, and has a handle."""
        if not isinstance(stored, ox.NamedNode):
            return str(stored) if isinstance(stored, ox.BlankNode) else self.shown(stored, LONG_NAME)
        name = self.name(stored)
        known = [*self._things.get(_key(name), ()), *self._predicates.get(_key(name), ())]
        # A name is clear if reading it gives this thing: alone among the known things, or by a new minting
        is_clear = set(_preferred(known) or [_minted(name)]) == {stored}
        return cut(name if is_clear and self._is_name(name) else str(stored), stored, LONG_NAME)

    def shown(self, stored: Term | None, room: int = LONG) -> Any:
        """A value in the form that :meth:`value` reads; a long value is cut, and has a handle."""
        if stored is None or isinstance(stored, ox.NamedNode):
            return stored and cut(str(stored), stored, room)
        plain = value(stored)
        if isinstance(plain, str):
            if len(plain) > room:
                return cut(plain, stored, room)
            return plain if self._is_text(plain) else {"text": plain}
        if isinstance(plain, int | float) and abs(plain) < _ENDLESS and term(plain) == stored:
            return plain if len(str(plain)) <= room else cut(str(plain), stored, room)
        text = str(stored) if isinstance(stored, ox.Literal | ox.BlankNode) else f"<<( {stored} )>>"
        return {"term": text} if len(text) <= room else cut(text, stored, room)

    def name(self, iri: ox.NamedNode) -> str:
        """The name of an IRI, without percent-encoding."""
        start = max(
            (base for base in self._prefixes.values() if iri.value.startswith(base)), key=len, default=""
        )
        rest = iri.value[len(start) :] if start else re.split(r"[/#:]", iri.value.rstrip("/#:"))[-1]
        return unquote(rest)

    def fact_of(self, triple: Triple) -> dict[str, Any]:
        """A triple in words."""
        subject, predicate, value = triple
        return {"subject": self.word(subject), "predicate": self.word(predicate), "object": self.shown(value)}

    def _written(self, text: str) -> Term | None:
        """A thing that is written as an IRI or a label; ``None`` if the text is a name.

        Raises:
            ParameterError: a prefix of the TBox, and what follows it, is no IRI.
        """
        prefix, colon, rest = (text := text.strip()).partition(":")
        if colon and prefix in self._prefixes:
            try:
                return ox.NamedNode(self._prefixes[prefix] + rest)
            except ValueError:
                hint = "Write a name or <IRI>"
                raise ParameterError(f"{text[:80]!r} is not an IRI", hint=hint) from None
        if colon and prefix == "_" and ":" not in rest:  # N-Triples reads no label with a colon
            try:
                return ox.BlankNode(rest)
            except ValueError:
                return None
        return self._bracketed(text) or self._long.uncut(text, self._forms)

    def _bracketed(self, text: str) -> Term | None:
        """The IRI between angle brackets, or the term whose handle it is; ``None`` if it is no IRI."""
        if digest := handle_in(text):
            if stored := self._long.term(digest):
                return stored
            raise ParameterError(f"nothing stored has the handle {text}", hint="Copy it from a reply")
        try:
            return ox.NamedNode(text[1:-1]) if text[:1] + text[-1:] == "<>" else None
        except ValueError:
            return None

    def _forms(self, stored: Term) -> Iterator[str]:
        """The texts that a reply may show for a term."""
        yield from (getattr(stored, "value", f"<<( {stored} )>>"), str(stored))
        if isinstance(stored, ox.NamedNode):
            yield self.name(stored)

    def _is_text(self, text: str) -> bool:
        """Tell whether a string is read as the text that it is."""
        try:
            return self._bracketed(text) is None and self._long.uncut(text, self._forms) is None
        except ParameterError:
            return False

    def _is_name(self, text: str) -> bool:
        """Tell whether a text is read as a name."""
        try:
            return bool(_key(text)) and self._written(text) is None
        except ParameterError:
            return False

    def _resolve(self, names: Mapping[str, Mapping[Node, None]], text: str, *, new: bool) -> Term:
        key = _key(text)
        candidates = _preferred(names.get(key, ()))
        if len(candidates) > 1:
            listed = ", ".join(cut(str(node), node, LONG_NAME) for node in candidates[:5])
            raise ParameterError(f"{text[:80]!r} may be {listed}", hint="Write the one that you mean")
        if candidates:
            return candidates[0]
        if new and key:
            return _minted(text)
        similar = get_close_matches(key, names, 5) if len(key) <= LONG_NAME else []
        near = [self.word(next(iter(names[name]))) for name in similar]
        hint = f"Near it: {', '.join(near)}" if near else "Ask `recall` what is known; write an IRI as <IRI>"
        raise ParameterError(f"nothing is called {text[:80]!r}", hint=hint)


def normal(text: str) -> str:
    """A name in its stored form, Unicode's normal form C.

    >>> normal("Jose\u0301") == "Jos\u00e9"
    True
    """
    return unicodedata.normalize("NFC", text)


def _require_kind(stored: Term, kind: Any, text: str, what: str) -> Any:
    if not isinstance(stored, kind):
        raise ParameterError(f"{text[:80]!r} is not a {what}", hint="Write a name or <IRI>")
    return stored


def _preferred(things: Collection[Node]) -> list[Node]:
    """The things that were made from a name, or else all: an IRI that is stored later takes no name over."""
    return [thing for thing in things if thing.value.startswith(MINTED)] or list(things)


def _key(name: str) -> str:
    """A name without the differences of spelling that do not count."""
    parted = re.sub(r"(?<=[^\W_])(?:_+|-)(?=[^\W_])|(?<=[a-z])(?=[A-Z])", " ", _joined(name))
    return normal(parted.casefold())


def _joined(name: str) -> str:
    return "_".join(normal(name).split())


def _minted(name: str) -> ox.NamedNode:
    return ox.NamedNode(MINTED + quote(_joined(name), safe=""))


def _parsed(text: str) -> Term:
    try:
        if text.count("<<(") > NESTING:
            raise ValueError
        (quad,) = ox.parse(f"<urn:s> <urn:p> {text} .", ox.RdfFormat.N_TRIPLES)
        return quad.object
    except (SyntaxError, ValueError):
        hint = 'Write N-Triples, such as "chat"@fr'
        raise ParameterError(f"{text[:80]!r} is not a term", hint=hint) from None
