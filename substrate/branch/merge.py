"""Merging two branches of one log: what each says, in the order of the ticks, and no silent choice.

The two begin with the same deltas: their base, as Git's merge base. After it both have words of their own.
A delta is about its triple; one whose predicate is functional (it has one object at a time, as a place has)
is about its subject and predicate. Where only one branch says something about that, its word counts. Where
both do, they must agree at every tick from which on both have spoken. Where they do not, that is a
:class:`Conflict`, and somebody has to choose.

The merged log has the base, then the deltas of both, tick by tick, each branch's in their order; what both
say alike in a tick stands once. So its state at every tick is the one that the branches agree on, or the
one of the branch that was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, takewhile
from operator import eq
from typing import Literal, NamedTuple

import pyoxigraph as ox

from substrate.base.arguments import require
from substrate.base.delta import Delta, Op, Term, Triple, text_of
from substrate.base.errors import LogError, ParameterError
from substrate.log.event_log import EventLog
from substrate.log.grouping import opened
from substrate.log.history import Change, Interval
from substrate.log.patch import Descent

Side = Literal["a", "b"]
"""A name of one of the two branches, as :func:`merge` names them."""
_Key = Triple | tuple[ox.NamedNode | ox.BlankNode, ox.NamedNode]
_Unit = tuple[Delta, ...]


class Conflict(NamedTuple):
    """A subject, or a triple, of which two branches say different things.

    Attributes:
        subject: what they speak of.
        predicate: what they say of it.
        object: ``None`` where the predicate is functional, so that the whole value is at stake.
        a: the deltas of the first branch about it after the base, each with its position in that branch.
        b: those of the second branch.
        when: the ticks at which both have spoken and differ; the last interval is open where they differ
            to the end.

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
    """Two branches say different things of the same, and nobody has chosen; names each conflict.

    Attributes:
        conflicts: those without a choice.
    """

    conflicts: tuple[Conflict, ...] = ()


def merge_base(a: EventLog, b: EventLog) -> int:
    """Count the deltas that two logs begin with in common; 0 where they have nothing in common.

    >>> from substrate import EventLog
    >>> a, b = EventLog(), EventLog()
    >>> a.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> ."), (2, "A <urn:bo> <urn:in> <urn:cafe> .")])
    >>> b.extend_lines([(0, "A <urn:ann> <urn:in> <urn:cafe> ."), (5, "A <urn:bo> <urn:in> <urn:park> .")])
    >>> merge_base(a, b)
    1
    """
    # A chain's values are equal at a tick where everything up to it is
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
    """The statements in which two branches differ, in the order of the ticks at which they begin to differ.

    Args:
        a: a branch.
        b: another one.
        functional: predicates that have one object at a time; ``tbox.functional`` has those of a TBox.

    Raises:
        ParameterError: a functional predicate is no IRI.
    """
    cells = _checked(a, b, functional)
    return tuple(_conflicts(a, b, merge_base(a, b), cells).values())


def merge(
    a: EventLog,
    b: EventLog,
    *,
    functional: Iterable[ox.NamedNode] = (),
    choose: Callable[[Conflict], Side | None] | None = None,
) -> EventLog:
    """The log in which both branches have happened; the two are unchanged.

    The order of the two does not matter. Merged with itself or with a log that it begins with, a log stays
    as it is, and to merge a branch a second time changes nothing. The merged log names the base as its
    parent, in its file too. Blank nodes are the same where their labels are, as within a log.

    Args:
        a: a branch.
        b: another one; mostly both are forks of one log, or one is a fork of the other.
        functional: predicates that have one object at a time; ``tbox.functional`` has those of a TBox.
        choose: is asked about each conflict and says whose word counts, ``"a"`` or ``"b"``. What the other
            branch says of the same thing is left out; it stays in that branch. ``None`` chooses neither.

    Raises:
        MergeError: a conflict without a choice.
        ParameterError: a functional predicate is no IRI, or a choice is none of the three.

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
    cells = _checked(a, b, functional)
    base = merge_base(a, b)
    kept_a, kept_b = a[base:], b[base:]
    left: list[Conflict] = []
    for key, conflict in _conflicts(a, b, base, cells).items():
        side = choose(conflict) if choose else None
        if side == "a":
            kept_b = tuple(delta for delta in kept_b if _key(delta, cells) != key)
        elif side == "b":
            kept_a = tuple(delta for delta in kept_a if _key(delta, cells) != key)
        elif side is None:
            left.append(conflict)
        else:
            raise ParameterError(f"{side!r} is no choice", where=("choose",), hint='Give "a", "b" or None')
    if left:
        count = f"{len(left)} conflict" if len(left) == 1 else f"{len(left)} conflicts"
        hint = 'Give choose, which says "a" or "b" of each conflict'
        error = MergeError(f"{count}: {'; and '.join(map(str, left))}", hint=hint)
        error.conflicts = tuple(left)
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


def _key(delta: Delta, functional: frozenset[ox.NamedNode]) -> _Key:
    """The key of what a delta is about: its triple, without the object where the predicate is functional."""
    subject, predicate, _ = delta.triple
    return (subject, predicate) if predicate in functional else delta.triple


def _spoken(log: EventLog, base: int, functional: frozenset[ox.NamedNode]) -> dict[_Key, list[Change]]:
    """The deltas of a branch after the base, by what they are about."""
    by_key: dict[_Key, list[Change]] = {}
    for position, delta in enumerate(log[base:], start=base):
        by_key.setdefault(_key(delta, functional), []).append(Change(position, delta))
    return by_key


def _conflicts(
    a: EventLog, b: EventLog, base: int, functional: frozenset[ox.NamedNode]
) -> Mapping[_Key, Conflict]:
    here, there = _spoken(a, base, functional), _spoken(b, base, functional)
    state = a.branch(base, None).state()
    conflicts: list[tuple[_Key, Conflict]] = []
    for key in here.keys() & there.keys():
        before = (
            set(state.match(key[0], key[1])) if len(key) == 2 else {key} if key in state else set[Triple]()
        )
        if when := _differing(here[key], there[key], before):
            object_ = key[2] if len(key) == 3 else None
            conflict = Conflict(key[0], key[1], object_, tuple(here[key]), tuple(there[key]), when)
            conflicts.append((key, conflict))
    return dict(sorted(conflicts, key=lambda pair: (pair[1].when[0].start, " ".join(map(str, pair[0])))))


def _differing(a: Sequence[Change], b: Sequence[Change], before: set[Triple]) -> tuple[Interval, ...]:
    """The ticks at which both have spoken and hold something else true."""
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


# What is merged


def _interleaved(a: Sequence[Delta], b: Sequence[Delta]) -> list[Delta]:
    """The deltas of both, tick by tick, those of each in their order."""
    here, there = (
        {tick: list(some) for tick, some in groupby(deltas, key=lambda delta: delta.tick)}
        for deltas in (a, b)
    )
    interleaved: list[Delta] = []
    for tick in sorted(here.keys() | there.keys()):
        (plain_a, records_a), (plain_b, records_b) = (_units(of.get(tick, [])) for of in (here, there))
        for unit in (*_woven(plain_a, plain_b), *_woven(records_a, records_b)):
            interleaved.extend(unit)
    return interleaved


def _units(deltas: Iterable[Delta]) -> tuple[list[_Unit], list[_Unit]]:
    """The deltas of a tick that stand alone, and those of each of a memory's records, which stay together.

    What stands alone comes first: a delta after a record's first one belongs to that record.
    """
    alone: list[_Unit] = []
    records: list[_Unit] = []
    for delta in deltas:
        if opened(delta):
            records.append((delta,))
        elif records:
            records[-1] += (delta,)
        else:
            alone.append((delta,))
    return alone, records


def _woven(x: Sequence[_Unit], y: Sequence[_Unit]) -> list[_Unit]:
    """A sequence of both that keeps the order of each; a beginning or end that they share stands once.

    The parts between come in the order of their text, so that it does not matter which of the two is first.
    """
    start = _alike(x, y)
    stop = _alike(x[start:][::-1], y[start:][::-1])
    between = sorted(
        (some[start : len(some) - stop] for some in (x, y)),
        key=lambda units: [[(delta.op.value, text_of(delta.triple)) for delta in unit] for unit in units],
    )
    return [*x[:start], *between[0], *between[1], *x[len(x) - stop :]]


def _alike(x: Sequence[object], y: Sequence[object]) -> int:
    """Count the items that two sequences begin with in common."""
    return sum(1 for _ in takewhile(bool, map(eq, x, y)))


def _in_words(when: Interval) -> str:
    if when.end is None:
        return f"from tick {when.start} on"
    last = when.end - 1
    return f"at tick {last}" if last == when.start else f"from tick {when.start} to {last}"
