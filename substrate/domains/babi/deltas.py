"""Sentences ► RDF deltas: one event log per story, with each sentence's number as its tick.

Tick 0 inserts the TBox's common knowledge (motives and where they lead, inverse relations, the order of the
times of day). Each sentence inserts an event node, and changes the state: where people are and what they
carry.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pyoxigraph as ox

from substrate.base.errors import FormatError
from substrate.base.ntriples import quads_of
from substrate.base.vocabulary import RDF_TYPE, RDFS_LABEL
from substrate.domains._facts import Facts, literal
from substrate.domains.babi._lexicon import lexicon
from substrate.domains.babi._telling import Telling
from substrate.domains.babi._terms import NAMESPACE, TICK, TYPE, iri, local, term
from substrate.domains.babi.format import Story
from substrate.domains.babi.sentences import parse_sentence
from substrate.log.event_log import EventLog
from substrate.rules.tbox import TBox

REASON = term("reason")


@cache
def common_knowledge() -> tuple[str, ...]:
    """The TBox's own facts as sorted RDF Patch lines, which hold in every story."""
    quads = TBox.load("babi").quads
    individuals = {quad.subject for quad in quads if _is_fact(quad)}
    known = [q for q in quads if _is_fact(q) or (q.predicate == RDFS_LABEL and q.subject in individuals)]
    return tuple(sorted(f"A {quad} ." for quad in known))


def _is_fact(quad: ox.Quad) -> bool:
    classified = quad.object if quad.predicate == RDF_TYPE else quad.predicate
    return isinstance(classified, ox.NamedNode) and classified.value.startswith(NAMESPACE)


@cache
def _common_quads() -> tuple[range, list[ox.Quad]]:
    """The common knowledge as quads, with their numbers in each story's log, which begins with them."""
    quads = quads_of(line[2:-2] for line in common_knowledge())
    return range(len(quads)), quads


def story_log(story: Story) -> EventLog:
    """The event log of a story, as far as it can be read.

    A story ends at the first sentence that cannot be read; the log's last event then says so. The cause may
    be a part that the grammar lacks, a pronoun with no antecedent or several, an adjective that is neither a
    colour nor a motive, a name for both a person and a thing, or a contradiction of an earlier sentence.

    >>> from substrate.domains.babi.format import parse_stories
    >>> (story,) = parse_stories("1 Mary went to the park.\\n", file="f", subset="qa1")
    >>> [str(place) for _, predicate, place in story_log(story).state(1) if str(predicate).endswith(":at>")]
    ['<urn:babi:park>']
    """
    facts, deltas, events = Facts(), list[tuple[int, str]](), list[str]()

    def kinds(noun: str) -> frozenset[str]:
        """The classes that the story gave a noun; if it gave none, the TBox's."""
        types = facts.objects(iri(noun), TYPE)
        return frozenset(map(local, types)) or lexicon().kinds(noun)

    def keep(tick: int, lines: Iterable[str]) -> None:
        for line in lines:
            facts.change(line[0], line[2:-2])
            deltas.append((tick, line))

    keep(0, common_knowledge())
    for statement in story.statements:
        try:
            for order, fact in enumerate(parse_sentence(statement.text, kinds), start=1):
                # A sentence's second fact changes the state that the first one left.
                telling = Telling(statement, order, facts, events)
                fact.tell(telling)
                keep(statement.id, telling.lines)
                if facts.objects(telling.event, TICK):
                    events.append(telling.event)
        except FormatError as error:
            unread = Telling(statement, 1, facts, events)
            unread.happens("Unread", reason=literal(str(error)))
            keep(statement.id, unread.lines)
            break
    log = EventLog()
    log.extend_lines(deltas)
    # Every story has these, and a question's SPARQL takes quads: this only saves making them again.
    log.triples.keep(*_common_quads())
    return log
