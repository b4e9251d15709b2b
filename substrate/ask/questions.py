"""Questions for any domain, whose terms only its TBox defines (paper, section 5).

A TBox ties its classes and properties to the core's by ``rdfs:subClassOf core:Event`` and
``rdfs:subPropertyOf core:participant | core:location | core:awareOf | core:source | core:recipient |
core:content``. No code here depends on a domain.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import pyoxigraph as ox

from substrate.ask.tellings import chains, in_words
from substrate.base.delta import Term
from substrate.base.errors import ParameterError
from substrate.base.vocabulary import AWARE_OF, EVENT, LOCATION, PARTICIPANT, RDF_TYPE
from substrate.branch.fork import arms
from substrate.branch.interventions import new_intervention
from substrate.cause.ancestry import Event
from substrate.log.event_log import EventLog, Op
from substrate.log.history import History, histories
from substrate.rules.fixpoint import RuleEmitter
from substrate.rules.tbox import TBox

Node = ox.NamedNode | ox.BlankNode
_K = TypeVar("_K")
_T = TypeVar("_T")


class Occurrence(NamedTuple):
    """An event of a log: node, class, tick, participants, and the position of the delta with its class.

    >>> Occurrence(ox.NamedNode("urn:e"), EVENT, 3, frozenset(), 0).event.tick
    3
    """

    node: Node
    kind: ox.NamedNode
    tick: int
    participants: frozenset[Term]
    position: int

    @property
    def event(self) -> Event:
        """The event in the form that :func:`substrate.ancestors` takes."""
        return Event(self.node, self.tick, self.participants)


class Answer(NamedTuple):
    """A question in words, its answer, and the log positions of the deltas behind the answer.

    >>> Answer("happened", "Did a meeting of Ann, Bo happen?", "yes", (17,)).evidence
    (17,)
    """

    template: str
    question: str
    answer: str
    evidence: tuple[int, ...]


def occurrences(log: EventLog, tbox: TBox) -> list[Occurrence]:
    """The events of a log in log order, each with the tick at which it got its class.

    >>> from substrate.rules.fixpoint import unfold
    >>> box = TBox.load("village")
    >>> first = occurrences(unfold(box, box.opening(), until=4), box)[0]
    >>> first.tick, box.label(first.kind), sorted(box.label(who) for who in first.participants)
    (0, 'meeting', ['Klaus Mueller', 'Maria Lopez'])
    """
    kinds, roles = tbox.below(EVENT), tbox.below(PARTICIPANT)
    typed: dict[Node, tuple[ox.NamedNode, int]] = {}
    taking_part: dict[Node, set[Term]] = {}
    for position, (op, quad) in enumerate(log.changes()):
        if op is Op.INSERT and quad.predicate == RDF_TYPE and quad.object in kinds:
            typed.setdefault(quad.subject, (quad.object, position))  # pyright: ignore[reportArgumentType]
        elif op is Op.INSERT and quad.predicate in roles:
            others = taking_part.setdefault(quad.subject, set())  # pyright: ignore[reportArgumentType]
            others.add(quad.object)
    return [
        Occurrence(node, kind, log.tick_and_op(position)[0], frozenset(taking_part.get(node, ())), position)
        for node, (kind, position) in typed.items()
    ]


def ask(tbox: TBox, log: EventLog, template: str, **about: Any) -> Answer:
    """Ask one question.

    Args:
        tbox: defines the terms.
        log: the log.
        template: a name of :data:`TEMPLATES`. ``happened`` and ``when`` take ``kind`` and ``participants``;
            ``who_knew`` and ``learned_from`` take ``fact`` and ``tick``; ``where`` takes ``entity`` and
            ``tick``. ``without_knowing`` takes ``agent``, ``fact`` and ``tick``; it tells which events
            differ from then on, and which agents lose or gain which knowledge.
        about: the template's arguments.

    Raises:
        ParameterError: the template is unknown, or takes other arguments.
        InterventionError: the agent does not know the fact before ``tick``, so it cannot forget it.

    >>> from substrate.rules.fixpoint import unfold
    >>> box = TBox.load("clinical")
    >>> log = unfold(box, box.opening(), until=12)
    >>> kim, allergy = ox.NamedNode("urn:clinical:kim"), ox.NamedNode("urn:clinical:allergy")
    >>> print(ask(box, log, "without_knowing", agent=kim, fact=allergy, tick=3).answer)
    allergic reaction of Mr Reyes instead of briefing of Dr Osei, Nurse Kim; recovery of Mr Reyes;
    unknown to Dr Osei
    """
    if template not in TEMPLATES:
        raise ParameterError(f"unknown question {template!r}", hint=f"Choose one of {', '.join(TEMPLATES)}")
    names = [*inspect.signature(TEMPLATES[template]).parameters][2:]  # after the TBox and the log
    if sorted(names) != sorted(about):
        what = f"{template} asks about {' and '.join(names)}, not {' and '.join(about) or 'nothing'}"
        raise ParameterError(what, hint="Name exactly what it asks about")
    question, answer, evidence = TEMPLATES[template](tbox.naming(log), log, **about)
    return Answer(template, question, answer, tuple(sorted(evidence)))


_Reply = tuple[str, str, Iterable[int]]
"""An :class:`Answer` without the name of its template, which only :func:`ask` knows."""


def _happened(tbox: TBox, log: EventLog, kind: ox.NamedNode, participants: Iterable[Term]) -> _Reply:
    matching, event = _like(tbox, log, kind, participants), _event(tbox, kind, participants)
    question = f"Did {'an' if event[0] in 'aeiou' else 'a'} {event} happen?"
    return question, "yes" if matching else "no", [o.position for o in matching]


def _when(tbox: TBox, log: EventLog, kind: ox.NamedNode, participants: Iterable[Term]) -> _Reply:
    matching = _like(tbox, log, kind, participants)
    ticks = ", ".join(str(o.tick) for o in matching)
    question = f"When was the {_event(tbox, kind, participants)}?"
    return question, f"at tick {ticks}" if matching else "never", [o.position for o in matching]


def _who_knew(tbox: TBox, log: EventLog, fact: Term, tick: int) -> _Reply:
    knowing, evidence = _held(tbox, log, AWARE_OF, tick, object_=fact)
    names = _names(tbox, (h.triple[0] for h in knowing))
    return f"Who knew at tick {tick} that {tbox.label(fact)}?", names or "nobody", evidence


def _where(tbox: TBox, log: EventLog, entity: Node, tick: int) -> _Reply:
    being, evidence = _held(tbox, log, LOCATION, tick, subject=entity)
    names = _names(tbox, (h.triple[2] for h in being))
    return f"Where was {tbox.label(entity)} at tick {tick}?", names or "nowhere", evidence


def _held(
    tbox: TBox,
    log: EventLog,
    general: ox.NamedNode,
    tick: int,
    subject: Node | None = None,
    object_: Term | None = None,
) -> tuple[list[History], list[int]]:
    """The histories of a property's triples that held at a tick, and the positions that made them hold."""
    held = [h for h in _histories_of(tbox, log, general, subject, object_) if h.holds(tick)]
    return held, [max(c.position for c in h.changes if c.delta.tick <= tick) for h in held]


def _histories_of(
    tbox: TBox, log: EventLog, general: ox.NamedNode, subject: Node | None = None, object_: Term | None = None
) -> list[History]:
    """The histories of all triples that ever had a property or one of its subproperties."""
    predicates = _sorted(tbox.below(general))
    return [h for predicate in predicates for h in histories(log, subject, predicate, object_)]


def _learned_from(tbox: TBox, log: EventLog, fact: Term, tick: int) -> _Reply:
    all_chains = chains(tbox, log, fact, tick)
    evidence = {position for chain in all_chains for learning in chain for position in learning.evidence}
    told = "; ".join(sorted(in_words(tbox, chain) for chain in all_chains))
    question = f"Who knew at tick {tick} that {tbox.label(fact)}, and from whom?"
    return question, told or "nobody knew", evidence


def _without_knowing(tbox: TBox, log: EventLog, agent: Node, fact: Term, tick: int) -> _Reply:
    """What would be otherwise if an agent had forgotten a fact.

    Fork the log twice, as it was and with the fact forgotten. Compare the events of both forks, and then who
    knows what in both.
    """
    earlier = log.state(tick - 1)
    predicate = next((p for p in _sorted(tbox.below(AWARE_OF)) if (agent, p, fact) in earlier), AWARE_OF)
    forgetting = new_intervention("retract_awareness", (agent, fact), predicate)
    as_it_was, forgotten = arms(log, tick, forgetting, RuleEmitter(tbox))
    lost, gained = _only_in_each(_events_from(tbox, as_it_was, tick), _events_from(tbox, forgotten, tick))
    before, after = ("; ".join(sorted(_event(tbox, *key[:2]) for key in events)) for events in (lost, gained))
    happens = f"{after or 'nothing'} instead of {before}" if lost else after
    gone, new = _only_in_each(_knowing_from(tbox, as_it_was, tick), _knowing_from(tbox, forgotten, tick))
    for known in (gone, new):
        known.pop((agent, fact), None)  # the question itself says so
    parts = [happens, *_knowers(tbox, "unknown to", gone, fact), *_knowers(tbox, "known to", new, fact)]
    return (
        f"What if {tbox.label(agent)} had forgotten at tick {tick} that {tbox.label(fact)}?",
        "; ".join(filter(None, parts)) or "nothing else",
        {o.position for o in lost.values()} | set(gone.values()),
    )


def _only_in_each(a: dict[_K, _T], b: dict[_K, _T]) -> tuple[dict[_K, _T], dict[_K, _T]]:
    """The items of the first arm that the second lacks, and those of the second that the first lacks."""
    return {key: a[key] for key in a if key not in b}, {key: b[key] for key in b if key not in a}


def _knowing_from(tbox: TBox, log: EventLog, tick: int) -> dict[tuple[Term, Term], int]:
    """Pairs of an agent and a fact that it knows at ``tick`` or later, with the delta of first knowing it."""
    first_known: dict[tuple[Term, Term], int] = {}
    for h in _histories_of(tbox, log, AWARE_OF):
        if any(i.end is None or i.end > tick for i in h.intervals):
            first_known.setdefault((h.triple[0], h.triple[2]), h.changes[0].position)
    return first_known


def _knowers(tbox: TBox, how: str, known: Iterable[tuple[Term, Term]], fact: Term) -> Iterator[str]:
    """For each fact, the agents who know it in only one arm; the question's own fact is not named again."""
    knowers: dict[Term, list[Term]] = {}
    for who, what in known:
        knowers.setdefault(what, []).append(who)
    for what in sorted(knowers, key=lambda what: (what != fact, str(what))):
        which = "" if what == fact else f": {tbox.label(what)}"
        yield f"{how} {_names(tbox, knowers[what])}{which}"


TEMPLATES: Mapping[str, Callable[..., _Reply]] = {
    "happened": _happened,
    "when": _when,
    "who_knew": _who_knew,
    "learned_from": _learned_from,
    "where": _where,
    "without_knowing": _without_knowing,
}
"""Question templates by name."""


def survey(tbox: TBox, log: EventLog) -> list[Answer]:
    """Ask every template about the content of a log: the paper's cross-domain figure as data.

    For each event class, ask whether and when its first event happened, and whether such an event happened to
    the participants of every other class. At the first, middle and last tick, ask who knew each fact, and
    the location of each entity. For each agent who ever knew a fact, ask what would have happened if the
    agent had forgotten it a tick after first knowing it.

    >>> from substrate.rules.fixpoint import unfold
    >>> boxes = map(TBox.load, ("village", "clinical"))
    >>> logs = [(box, unfold(box, box.opening(), until=12)) for box in boxes]
    >>> [len({answer.template for answer in survey(box, log)}) for box, log in logs]
    [6, 6]
    """
    first = {o.kind: o for o in reversed(occurrences(log, tbox))}
    about: list[tuple[str, dict[str, Any]]] = []
    for kind in _sorted(first):
        own = {"kind": kind, "participants": first[kind].participants}
        about += [("happened", own), ("when", own)]
        others = {o.participants for o in first.values() if o.kind != kind}
        for who in sorted(others, key=lambda who: _names(tbox, who)):
            about.append(("happened", {"kind": kind, "participants": who}))
    general = (AWARE_OF, LOCATION)
    knowing, placed = ([h for h in _histories_of(tbox, log, term) if h.intervals] for term in general)
    for tick in sorted({0, log.last_tick // 2, log.last_tick}):
        for fact in _sorted({h.triple[2] for h in knowing}):
            about += [(name, {"fact": fact, "tick": tick}) for name in ("who_knew", "learned_from")]
        for entity in _sorted({h.triple[0] for h in placed}):
            about.append(("where", {"entity": entity, "tick": tick}))
    for known in knowing:
        tick = known.intervals[0].start + 1
        if known.holds(tick - 1) and tick <= log.last_tick:
            forgotten = {"agent": known.triple[0], "fact": known.triple[2], "tick": tick}
            about.append(("without_knowing", forgotten))
    return [ask(tbox, log, name, **arguments) for name, arguments in about]


def _events_from(
    tbox: TBox, log: EventLog, tick: int
) -> dict[tuple[ox.NamedNode, frozenset[Term], int], Occurrence]:
    """A log's events from a tick on, by class, participants and number of earlier repeats of the same."""
    before: Counter[tuple[ox.NamedNode, frozenset[Term]]] = Counter()
    numbered = {}
    for o in occurrences(log, tbox):
        if o.tick < tick:
            continue
        key = (o.kind, o.participants)
        numbered[*key, before[key]] = o
        before[key] += 1
    return numbered


def _like(tbox: TBox, log: EventLog, kind: ox.NamedNode, participants: Iterable[Term]) -> list[Occurrence]:
    who, kinds = frozenset(participants), tbox.below(kind)
    return [o for o in occurrences(log, tbox) if o.kind in kinds and o.participants == who]


def _event(tbox: TBox, kind: ox.NamedNode, participants: Iterable[Term]) -> str:
    return f"{tbox.label(kind)} of {_names(tbox, participants)}"


def _names(tbox: TBox, terms: Iterable[Term]) -> str:
    return ", ".join(sorted(map(tbox.label, terms)))


def _sorted(terms: Iterable[_T]) -> list[_T]:
    return sorted(terms, key=str)
