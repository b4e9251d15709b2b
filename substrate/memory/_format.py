"""The format of a record: no other module spells a record, or reads one back from its deltas.

A record's deltas are consecutive and have one tick. Their order:

1. The class of the record's node (:data:`substrate.log.grouping.KINDS`), which begins the record.
2. The description: the triple that the record states, the moments between which it holds, and the record's
   author, source, cause and time, as far as they are given.
3. The changes: triples that begin or cease to hold, and new ends of other records.
4. The marks: triples that mention the record's node, such as the withdrawal of another record by this one.

The node's name is a hash of the log's digest before the record, of the tick, and of parts 1 to 3. The name is
not known before these parts, so the marks are made last.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Delta, Op, Spelled, Term, Triple
from substrate.base.errors import LogError
from substrate.base.ntriples import spelled, text_of
from substrate.base.terms import triple
from substrate.base.vocabulary import AWARE_OF, CONTENT, RDF_TYPE, SOURCE
from substrate.log.grouping import Placed
from substrate.log.state import State
from substrate.memory import records as rec
from substrate.memory.records import Ground, Node, Properties

Changes = list[tuple[Op, Triple]]
# A record's description: predicates and objects
Description = list[tuple[ox.NamedNode, Term]]
# Everything around the tick in the detail of a record's beginning
_BEFORE_TICK, _AFTER_TICK = f"{rec.FROM} {ox.Literal(0)}".split('"0"')
_REIFIES, _TYPE = str(rec.REIFIES), str(RDF_TYPE)
OPEN, _CLOSE = "<<( ", " )>>"
"""The brackets of a triple term, as :func:`substrate.base.ntriples.spelled` writes them."""


class Detail(NamedTuple):
    """A predicate and object of a description, as text for the hash and as text for the log.

    The two differ for a triple term, which has brackets only in the log.
    """

    hashed: str
    line: str


def detail(predicate: ox.NamedNode, object_: Term) -> Detail:
    """Spell a predicate and object of a description."""
    return Detail(f"{predicate} {object_}", f"{predicate} {spelled(object_)}")


def statement_detail(fact: str) -> Detail:
    """The detail by which a record states a triple, from the triple's spelling.

    >>> statement_detail("<urn:a> <urn:b> <urn:c>").line.partition(" ")[2]
    '<<( <urn:a> <urn:b> <urn:c> )>>'
    """
    return Detail(f"{_REIFIES} {fact}", f"{_REIFIES} {OPEN}{fact}{_CLOSE}")


def beginning_detail(tick: int) -> Detail:
    """The detail by which a record holds from a tick on; faster than :func:`detail`.

    >>> beginning_detail(7) == detail(rec.FROM, ox.Literal(7))
    True
    """
    line = f'{_BEFORE_TICK}"{tick}"{_AFTER_TICK}'
    return Detail(line, line)


def inside(triple_term: str) -> str:
    """The spelling of the triple in a triple term."""
    return triple_term[len(OPEN) : -len(_CLOSE)]


class Draft(NamedTuple):
    """A record that has no name yet, its class, details and changes spelled."""

    tick: int
    kind: str
    details: list[Detail]
    changes: list[tuple[Op, str]]

    @classmethod
    def of(cls, tick: int, kind: ox.NamedNode, description: Description, changes: Changes) -> Draft:
        """Spell the parts of a record.

        Raises:
            LogError: the triple terms of a part are nested too deeply.
        """
        try:
            details = [detail(*pair) for pair in description]
            return cls(tick, str(kind), details, [(op, text_of(fact)) for op, fact in changes])
        except ValueError as error:
            hint = "Nest them less deeply"
            raise LogError(f"not a delta ({error})", where=(f"tick {tick}",), hint=hint) from error

    def named(self, digest: str) -> ox.NamedNode:
        """The record's node in a log with this digest."""
        content = [digest, str(self.tick), self.kind, *[hashed for hashed, _ in self.details]]
        content += [f"{op.value} {text}" for op, text in self.changes]
        return ox.NamedNode(rec.PREFIX + hashlib.sha256("\n".join(content).encode()).hexdigest()[:32])

    def insertions(self, node: ox.NamedNode) -> list[str]:
        """The class and the description, as triples of the record's node."""
        name = f"<{node.value}>"
        return [f"{name} {_TYPE} {self.kind}", *[f"{name} {line}" for _, line in self.details]]

    def deltas(self, node: ox.NamedNode, marks: Changes) -> list[Spelled]:
        """The record's deltas, in their order."""
        written = [(Op.INSERT, text) for text in self.insertions(node)] + self.changes
        written += [(op, text_of(fact)) for op, fact in marks]
        return [Spelled(self.tick, op, text) for op, text in written]


class Entry(NamedTuple):
    """A record as it stands in the log: its deltas, and its description."""

    node: ox.NamedNode
    parts: list[Placed]
    properties: Properties

    def ground(self, state: State) -> Ground:
        """The record for an answer; a state tells whether it is lost or in doubt."""
        has, node = self.properties, self.node
        kind = has[RDF_TYPE][0]
        assert isinstance(kind, ox.NamedNode)
        author, source = (has.get(word, [None])[0] for word in (rec.AUTHOR, rec.PRIMARY))
        time, begins, ends = (
            rec.when(has[word][0]) if word in has else None for word in (rec.TIME, rec.FROM, rec.UNTIL)
        )
        time = time if isinstance(time, datetime) else None
        fact = statement(has) or self.parts[-1].delta.triple
        positions = tuple(position for position, _ in self.parts)
        lost = rec.is_lost(state, node, or_forgotten=True)
        doubted = not lost and rec.is_doubted(state, node)
        tick = self.parts[0].delta.tick
        return Ground(node, kind, tick, positions, fact, author, source, time, begins, ends, lost, doubted)


def description_in(deltas: Iterable[Delta], node: Term | None) -> Properties:
    """A record's description, read from the record's deltas."""
    properties: Properties = {}
    for _, _, (subject, predicate, object_) in deltas:
        if subject == node:
            properties.setdefault(predicate, []).append(object_)
    return properties


def statement(properties: Properties) -> Triple | None:
    """The triple that a record states; ``None`` if it states none."""
    for reified in properties.get(rec.REIFIES, ()):
        if isinstance(reified, ox.Triple):
            return triple(*reified)
    return None


def known_by_teller(properties: Properties) -> Triple | None:
    """The fact that a record's teller must have known; ``None`` if the record has no teller."""
    teller, content = (properties.get(word, [None])[0] for word in (SOURCE, CONTENT))
    return (teller, AWARE_OF, content) if isinstance(teller, Node) and content is not None else None
