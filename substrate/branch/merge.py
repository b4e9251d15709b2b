"""Merge two branches of one log, in the order of the ticks, without any silent choice.

The two branches begin with the same deltas, their base, like Git's merge base; after it they differ. The
topic of a delta is its triple. If the predicate is functional (it has one object at a time, such as a
location), the topic is only the subject and predicate. If only one branch has deltas on a topic, they count.
If both have some, their states must agree on the topic as soon as both have begun to change it. If the
states differ, that is a :class:`Conflict`, and the caller must choose.

The merged log has the base, then the deltas of both branches, tick by tick, in each branch's order. Deltas
that both branches share in a tick occur once. So on each topic, the state at every tick is the state that
the branches agree on, or the chosen branch's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, takewhile
from operator import eq
from typing import Literal, NamedTuple

import pyoxigraph as ox

from substrate.base.arguments import require
from substrate.base.delta import Delta, Op, Term, Triple
from substrate.base.errors import LogError, ParameterError
from substrate.base.ntriples import text_of
from substrate.base.words import counted
from substrate.log.event_log import EventLog
from substrate.log.grouping import record_begun_by
from substrate.log.history import Change, Interval
from substrate.log.patch import Descent

Side = Literal["a", "b"]
"""The name of a branch in :func:`merge`."""
_Topic = Triple | tuple[ox.NamedNode | ox.BlankNode, ox.NamedNode]
_Unit = tuple[Delta, ...]


class Conflict(NamedTuple):
    """A triple, or a subject and a functional predicate, on which two branches disagree.

    Attributes:
        subject: the subject.
        predicate: the predicate.
        object: the object; ``None`` if the predicate is functional, so that the value itself is in conflict.
        a: the first branch's deltas on this topic after the base, each with its position in that branch.
        b: the second branch's deltas.
        when: the ticks at which the branches differ after both have begun; the last interval is open if they
            differ to the end.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> .")])
    >>> a, b = fork(log, 1), fork(log, 1)
    >>> a.extend_lines([(3, "D <urn:ann> <urn:in> <urn:cafe> ."), (3, "A <urn:ann> <urn:in> <urn:park> .")])
    >>> b.extend_lines([(4, "D <urn:ann> <urn:in> <urn:cafe> ."), (4, "A <urn:ann> <urn:in> <urn:home> .")])
    >>> for conflict in conflicts(a, b, functional=[ox.NamedNode("urn:in")]):
    ...     print(conflict)
    <urn:ann> <urn:in>: one branch says D <urn:cafe> at tick 3, A <urn:park> at tick 3; the other says D
    <urn:cafe> at tick 4, A <urn:home> at tick 4; they differ from tick 4 on
    """

    subject: ox.NamedNode | ox.BlankNode
    predicate: ox.NamedNode
    object: Term | None
    a: tuple[Change, ...]
    b: tuple[Change, ...]
    when: tuple[Interval, ...]

    def __str__(self) -> str:
        about = " ".join(str(term) for term in self[:3] if term is not None)
        words_a, words_b = (
            ", ".join(f"{delta.op.value} {delta.triple[2]} at tick {delta.tick}" for _, delta in changes)
            for changes in (self.a, self.b)
        )
        when = ", ".join(map(_in_words, self.when))
        return f"{about}: one branch says {words_a}; the other says {words_b}; they differ {when}"


class MergeError(LogError):
    """Two branches disagree and the caller has not chosen; the message names each conflict.

    Attributes:
        conflicts: the conflicts without a choice.
    """

    conflicts: tuple[Conflict, ...] = ()


def merge_base(a: EventLog, b: EventLog) -> int:
    """Count the deltas that two logs share at their beginning.

    >>> from substrate import EventLog
    >>> a, b = EventLog(), EventLog()
    >>> a.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> ."), (2, "A <urn:bo> <urn:in> <urn:cafe> .")])
    >>> b.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> ."), (5, "A <urn:bo> <urn:in> <urn:park> .")])
    >>> merge_base(a, b)
    1
    """
    # Two chains have equal values at a tick exactly if everything up to the tick is equal
    same, other = -1, min(a.last_tick, b.last_tick) + 1
    while other - same > 1:
        tick = (same + other) // 2
        if a.digest_at(tick) == b.digest_at(tick):
            same = tick
        else:
            other = tick
    start = a.position(same)
    here, there = next(a.lines(start), None), next(b.lines(start), None)
    if here is None or there is None or here[0] != there[0]:
        return start
    return start + _alike(here[1], there[1])


def conflicts(a: EventLog, b: EventLog, *, functional: Iterable[ox.NamedNode] = ()) -> tuple[Conflict, ...]:
    """The conflicts of two branches, in the order of the ticks at which they begin.

    Args:
        a: a branch.
        b: another branch.
        functional: predicates that have one object at a time, such as a TBox's ``tbox.functional``.

    Raises:
        ParameterError: a functional predicate is not an IRI.
    """
    predicates = _checked(a, b, functional)
    return tuple(_conflicts(a, b, merge_base(a, b), predicates).values())


def merge(
    a: EventLog,
    b: EventLog,
    *,
    functional: Iterable[ox.NamedNode] = (),
    choose: Callable[[Conflict], Side | None] | None = None,
) -> EventLog:
    """Merge two branches into a new log in which both have happened; the branches do not change.

    The order of the branches does not matter. A log merged with itself, or with its own beginning, is
    unchanged, and merging a branch a second time changes nothing. The merged log names the base as its
    parent, in its file too. Blank nodes with equal labels are the same node, as within a log.

    Args:
        a: a branch.
        b: another branch; usually both are forks of one log, or one is a fork of the other.
        functional: predicates that have one object at a time, such as a TBox's ``tbox.functional``.
        choose: called with each conflict; returns the branch that counts, ``"a"`` or ``"b"``. The merged log
            omits the other branch's deltas on the same topic. ``None`` chooses neither.

    Raises:
        MergeError: there is a conflict without a choice.
        ParameterError: a functional predicate is not an IRI, or a choice is none of the three.

    >>> from substrate import EventLog, fork
    >>> log = EventLog()
    >>> log.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> .")])
    >>> a, b = fork(log, 1), fork(log, 1)
    >>> a.extend_lines([(3, "A <urn:ann> <urn:knows> <urn:secret> .")])
    >>> b.extend_lines([(2, "D <urn:ann> <urn:in> <urn:cafe> ."), (4, "A <urn:ann> <urn:in> <urn:park> .")])
    >>> both = merge(a, b)
    >>> both.ticks, len(both.state()), both.digest == merge(b, a).digest, both.parent_digest == log.digest
    ([0, 2, 3, 4], 2, True, True)
    """
    predicates = _checked(a, b, functional)
    base = merge_base(a, b)
    kept_a, kept_b = a[base:], b[base:]
    unresolved: list[Conflict] = []
    for topic, conflict in _conflicts(a, b, base, predicates).items():
        side = choose(conflict) if choose else None
        if side == "a":
            kept_b = tuple(delta for delta in kept_b if _topic(delta, predicates) != topic)
        elif side == "b":
            kept_a = tuple(delta for delta in kept_a if _topic(delta, predicates) != topic)
        elif side is None:
            unresolved.append(conflict)
        else:
            raise ParameterError(f"unknown choice {side!r}", where=("choose",), hint='Give "a", "b" or None')
    if unresolved:
        hint = 'Give choose, a function that returns "a" or "b" for each conflict'
        error = MergeError(
            f"{counted(len(unresolved), 'conflict')}: {'; and '.join(map(str, unresolved))}", hint=hint
        )
        error.conflicts = tuple(unresolved)
        raise error
    merged = a.branch(base, None)
    before = merged.digest
    later = _interleaved(kept_a, kept_b)
    if base and later:
        merged.descent = Descent(before, later[0].tick)
    merged.extend(later)
    return merged


def _checked(a: EventLog, b: EventLog, functional: Iterable[ox.NamedNode]) -> frozenset[ox.NamedNode]:
    require(a, EventLog, "an event log", "a")
    require(b, EventLog, "an event log", "b")
    predicates = list(functional)
    for predicate in predicates:
        if not isinstance(predicate, ox.NamedNode):
            hint = "Give NamedNodes, the predicates"
            raise ParameterError(f"{predicate!r} is not an IRI", where=("functional",), hint=hint)
    return frozenset(predicates)


# Conflicts


def _topic(delta: Delta, functional: frozenset[ox.NamedNode]) -> _Topic:
    """A delta's topic: its triple, without the object if the predicate is functional."""
    subject, predicate, _ = delta.triple
    return (subject, predicate) if predicate in functional else delta.triple


def _by_topic(log: EventLog, base: int, functional: frozenset[ox.NamedNode]) -> dict[_Topic, list[Change]]:
    """The deltas of a branch after the base, by topic."""
    by_topic: dict[_Topic, list[Change]] = {}
    for position, delta in enumerate(log[base:], start=base):
        by_topic.setdefault(_topic(delta, functional), []).append(Change(position, delta))
    return by_topic


def _conflicts(
    a: EventLog, b: EventLog, base: int, functional: frozenset[ox.NamedNode]
) -> Mapping[_Topic, Conflict]:
    here, there = _by_topic(a, base, functional), _by_topic(b, base, functional)
    state = a.branch(base, None).state()
    conflicts: list[tuple[_Topic, Conflict]] = []
    for topic in here.keys() & there.keys():
        if when := _differing(here[topic], there[topic], set(state.match(*topic))):  # pyright: ignore[reportArgumentType]
            object_ = topic[2] if len(topic) == 3 else None
            conflict = Conflict(topic[0], topic[1], object_, tuple(here[topic]), tuple(there[topic]), when)
            conflicts.append((topic, conflict))
    return dict(sorted(conflicts, key=lambda pair: (pair[1].when[0].start, " ".join(map(str, pair[0])))))


def _differing(a: Sequence[Change], b: Sequence[Change], before: set[Triple]) -> tuple[Interval, ...]:
    """The ticks, after both branches have begun, at which their states differ.

    ``bounds`` alternates: a tick from which they differ, then a tick from which they agree again. So they
    differ at present if its length is odd.
    """
    here, there = set(before), set(before)
    both = max(a[0].delta.tick, b[0].delta.tick)
    bounds: list[int] = []
    for tick in sorted({change.delta.tick for change in (*a, *b)}):
        for standing, changes in ((here, a), (there, b)):
            for _, delta in changes:
                if delta.tick == tick:
                    (standing.add if delta.op is Op.INSERT else standing.discard)(delta.triple)
        if tick >= both and (here != there) is not bool(len(bounds) % 2):
            bounds.append(tick)
    ends: list[int | None] = [*bounds[1::2], None]
    return tuple(Interval(start, end) for start, end in zip(bounds[::2], ends, strict=False))


# The merged deltas


def _interleaved(a: Sequence[Delta], b: Sequence[Delta]) -> list[Delta]:
    """The deltas of both branches, tick by tick, in each branch's order."""
    here, there = (
        {tick: list(group) for tick, group in groupby(deltas, key=lambda delta: delta.tick)}
        for deltas in (a, b)
    )
    interleaved: list[Delta] = []
    for tick in sorted(here.keys() | there.keys()):
        (plain_a, records_a), (plain_b, records_b) = (_units(ticks.get(tick, [])) for ticks in (here, there))
        for unit in (*_woven(plain_a, plain_b), *_woven(records_a, records_b)):
            interleaved.extend(unit)
    return interleaved


def _units(deltas: Iterable[Delta]) -> tuple[list[_Unit], list[_Unit]]:
    """A tick's single deltas, and its groups of deltas that form a memory's record.

    The single deltas come first, because a delta after a record's first delta belongs to that record.
    """
    alone: list[_Unit] = []
    records: list[_Unit] = []
    for delta in deltas:
        if record_begun_by(delta):
            records.append((delta,))
        elif records:
            records[-1] += (delta,)
        else:
            alone.append((delta,))
    return alone, records


def _woven(x: Sequence[_Unit], y: Sequence[_Unit]) -> list[_Unit]:
    """Join two sequences and keep the order of each; a shared beginning or end occurs once.

    The parts in between are sorted by their text, so that the order of the arguments does not matter.
    """
    start = _alike(x, y)
    stop = _alike(x[start:][::-1], y[start:][::-1])
    between = sorted(
        (units[start : len(units) - stop] for units in (x, y)),
        key=lambda units: [[(delta.op.value, text_of(delta.triple)) for delta in unit] for unit in units],
    )
    return [*x[:start], *between[0], *between[1], *x[len(x) - stop :]]


def _alike(x: Sequence[object], y: Sequence[object]) -> int:
    """Count the equal items at the beginning of two sequences."""
    return sum(1 for _ in takewhile(bool, map(eq, x, y)))


def _in_words(when: Interval) -> str:
    if when.end is None:
        return f"from tick {when.start} on"
    last = when.end - 1
    return f"at tick {last}" if last == when.start else f"from tick {when.start} to {last}"
