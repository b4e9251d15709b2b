"""Counterfactual logs (paper, section 2): prefix, intervention, and its consequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import index
from typing import NamedTuple, Protocol

from substrate.base.arguments import require, require_methods, require_tick
from substrate.base.delta import Delta, Op, Spelled, Term, triple_of
from substrate.base.errors import LogError
from substrate.base.ntriples import quads_of, text_of
from substrate.branch.interventions import Intervention
from substrate.branch.merge import merge_base
from substrate.log.event_log import EventLog
from substrate.log.history import Difference
from substrate.log.replay import Replay
from substrate.log.simulator import Simulator


class Emitter(Protocol):
    """The source of the deltas after an intervention: a simulator, or the rules of a TBox.

    Two emitters ship: :class:`Simulation` and :class:`substrate.rules.fixpoint.RuleEmitter`. An emitter may
    have these methods of the latter too: ``keeps`` counts the deltas that a branch keeps, ``judge`` refuses
    interventions, and ``unchecked`` gives an emitter that checks nothing.

    >>> class Nothing:
    ...     def emit(self, branch, parent, at):
    ...         return []
    >>> len(fork(EventLog(), at=0, emitter=Nothing()))
    0
    """

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterable[Delta] | Iterable[Spelled]:
        """Give the deltas from tick ``at`` on; a fork takes spelled ones unchanged.

        Args:
            branch: the prefix and the intervention; its state at ``at`` is the intervened one.
            parent: the observed log, for deltas that do not depend on the intervention.
            at: the branch tick.
        """
        ...


@dataclass(frozen=True)
class Simulation:
    """The emitter that drives a :class:`Simulator` from the branch tick on.

    Args:
        simulator: starts from the state after the intervention.
        until: last tick to simulate; by default the parent's last tick.

    >>> import pyoxigraph as ox
    >>> from substrate import Op
    >>> class Clock:
    ...     def start(self, state, tick):
    ...         pass
    ...     def step(self, tick):
    ...         struck = (ox.NamedNode("urn:clock"), ox.NamedNode("urn:struck"), ox.Literal(tick))
    ...         return [(Op.INSERT, struck)]
    >>> len(fork(EventLog(), at=0, emitter=Simulation(Clock(), until=3)))
    4
    """

    simulator: Simulator
    until: int | None = None

    def __post_init__(self) -> None:
        require_methods(self.simulator, ("start", "step"), "a simulator", "simulator")
        if self.until is not None:
            require_tick(self.until, "until")

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterator[Delta]:
        """The simulator's deltas from tick ``at`` to ``until``."""
        self.simulator.start(branch.state(at), at)
        for tick in range(at, (parent.last_tick if self.until is None else self.until) + 1):
            for op, triple in self.simulator.step(tick):
                yield Delta(tick, op, triple)


def fork(
    log: EventLog,
    at: int,
    intervention: Intervention | None = None,
    emitter: Emitter | None = None,
    *,
    interventions: Iterable[Intervention] = (),
    check: bool | None = None,
) -> EventLog:
    """Build the counterfactual log with ``intervention`` at tick ``at``; the parent is unchanged.

    Keeps the deltas with tick < ``at`` and the log's opening deltas, applies the intervention at ``at``,
    then appends the emitter's deltas. Without an emitter, the observed deltas from ``at`` on are applied
    again, as set operations; those that contradict an intervention's placements are left out, and listed in
    ``withheld``. With neither intervention nor emitter the fork equals the log. The branch and
    its file record the parent's digest and the branch tick; a fork may be forked again.

    If a TBox's rules emit, its shapes check the intervention at the branch tick, and the rules' changes at
    each tick from there on.

    Args:
        log: the observed log.
        at: the branch tick.
        intervention: the change at the branch tick.
        emitter: the source of the deltas after the intervention.
        interventions: several interventions in order; each sees the changes of the earlier ones.
        check: ``False`` skips the shapes; ``True`` also runs the emitter twice, which must give the same
            deltas.

    Raises:
        LogError: ``at`` is negative or more than one tick after the log's last, or the emitter goes back in
            time; with ``check=True``, two runs differ (names the first delta that does).
        InterventionError: an intervention's pre-condition does not hold, or its triples break the TBox.
        TBoxError: a rule's change breaks a shape.
        ParameterError: an argument has a wrong type or value.

    >>> from pyoxigraph import NamedNode
    >>> from substrate import Op, Retract
    >>> fact = (NamedNode("urn:ann"), NamedNode("urn:knows"), NamedNode("urn:secret"))
    >>> later = (fact[0], NamedNode("urn:at"), NamedNode("urn:cafe"))
    >>> log = EventLog([Delta(0, Op.INSERT, fact), Delta(5, Op.INSERT, later)])
    >>> branch = fork(log, at=3, intervention=Retract(fact))
    >>> len(log.state()), len(branch.state()), branch.parent_digest == log.digest, branch.branch_tick
    (2, 1, True, 3)
    """
    require(log, EventLog, "an event log", "log")
    require_tick(at, "at")
    at = index(at)  # numpy's integers become Python's
    require(interventions, Iterable, "a list of interventions", "interventions")
    changes = [*([] if intervention is None else [intervention]), *interventions]
    for change in changes:
        require_methods(change, ("deltas",), "an intervention", "intervention")
    if emitter is not None:
        require_methods(emitter, ("emit",), "an emitter", "emitter")
    if check and emitter:
        first, second = (fork(log, at, emitter=emitter, interventions=changes) for _ in range(2))
        _require_equal(first, second)
        return first
    end = log.last_tick + 1
    if not 0 <= at <= end:
        raise LogError(f"branch tick {at} lies outside the log", hint=f"Name a tick from 0 to {end}")
    # `keeps`, `unchecked` and `judge` are the methods that an emitter may have, see :class:`Emitter`
    start = getattr(emitter, "keeps", EventLog.kept)(log, at)
    seen = len(log)  # taken before the branch numbers its triples: another thread may append meanwhile
    branch = log.branch(start, at)
    placements, applied = _intervene(branch, at, changes)
    if check is False:
        emitter = getattr(emitter, "unchecked", lambda: emitter)()
    elif applied and (judge := getattr(emitter, "judge", None)):
        judge(branch, at, applied, lambda: log.branch(start, at).state(at))
    if emitter:
        _append(branch, list(emitter.emit(branch, log, at)), at)
    elif placements:
        _follow_except(branch, log[start:], placements)
    else:
        branch.follow(log, start, seen)
    return branch


# The objects that lasting interventions gave, by subject and predicate
_Placements = dict[tuple[Term, Term], Term]


def _intervene(branch: EventLog, at: int, changes: Iterable[Intervention]) -> tuple[_Placements, list[Delta]]:
    """Apply interventions in order; return the objects that must last, and the interventions' deltas."""
    placements: _Placements = {}
    applied: list[Delta] = []
    for change in changes:
        deltas = change.deltas(branch.state(at), at)
        branch.extend(deltas)
        applied += deltas
        for _, op, (subject, predicate, object_) in deltas:
            if op is Op.RETRACT and placements.get((subject, predicate)) == object_:
                del placements[subject, predicate]
        if getattr(change, "lasting", False):
            placements.update(
                ((subject, predicate), object_)
                for _, op, (subject, predicate, object_) in deltas
                if op is Op.INSERT
            )
    return placements, applied


def _follow_except(branch: EventLog, observed: Iterable[Delta], placements: _Placements) -> None:
    """Append the observed deltas, but withhold those that contradict an intervention's placements."""
    followed: list[Delta] = []
    withheld: list[Delta] = []
    for delta in observed:
        subject, predicate, object_ = delta.triple
        place = placements.get((subject, predicate))
        # An insertion of another object, or a retraction of the placed one
        contradicts = place is not None and (delta.op is Op.INSERT) == (object_ != place)
        (withheld if contradicts else followed).append(delta)
    branch.extend(followed)
    branch.withheld = tuple(withheld)


def _require_equal(first: EventLog, second: EventLog) -> None:
    """Refuse two differing branches from the same inputs."""
    for position, pair in enumerate(zip_longest(first, second)):
        if pair[0] != pair[1]:
            phrases = [
                f"{delta.op.value} {' '.join(map(str, delta.triple))} at tick {delta.tick}"
                if delta
                else "nothing"
                for delta in pair
            ]
            raise LogError(
                f"the emitter gave {phrases[0]}, then {phrases[1]}",
                where=(f"delta {position}",),
                hint="Seed it in start(): same state and same tick, same deltas",
            )


def _append(branch: EventLog, emitted: Sequence[Delta | Spelled], at: int) -> None:
    if emitted and emitted[0].tick < at:
        raise LogError(
            f"the emitter starts at tick {emitted[0].tick}, before the branch tick {at}",
            hint="Emit from the branch tick on",
        )
    spelled = bool(emitted) and isinstance(emitted[0], Spelled)
    (branch.extend_spelled if spelled else branch.extend)(emitted)  # pyright: ignore[reportArgumentType]


class TwinTick(NamedTuple):
    """A tick of two arms, side by side.

    ``a`` and ``b`` hold the deltas of each arm at this tick, in log order; ``difference`` has the triples
    true after this tick only in ``b`` (inserted) or only in ``a`` (retracted).

    >>> TwinTick(3, (), (), Difference((), ())).tick
    3
    """

    tick: int
    a: tuple[Delta, ...]
    b: tuple[Delta, ...]
    difference: Difference


def arms(
    log: EventLog, at: int, intervention: Intervention, emitter: Emitter | None = None
) -> tuple[EventLog, EventLog]:
    """Build the arms of a twin experiment (paper, figure "Twin-EventLog"): without and with the intervention.

    Both are forks at the same tick under the same emitter, so that they differ only by the intervention.
    Raises the errors of :func:`fork`.

    >>> import pyoxigraph as ox
    >>> from substrate import Assert
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:knows"), ox.NamedNode("urn:secret"))
    >>> a, b = arms(EventLog(), 0, Assert(fact))
    >>> len(a), len(b)
    (0, 1)
    """
    return fork(log, at, None, emitter), fork(log, at, intervention, emitter)


def twin(a: EventLog, b: EventLog, start: int | None = None, stop: int | None = None) -> Iterator[TwinTick]:
    """Replay two arms together, tick by tick.

    Args:
        a: the arm without the intervention; often the parent.
        b: the arm with it.
        start: first tick to show; by default the first at which the two logs differ.
        stop: last tick to show; by default the last tick of the later arm.

    Yields:
        Every tick from ``start`` on at which either arm has a delta. A tick's cost grows with its deltas and
        with the triples that differ.

    >>> import pyoxigraph as ox
    >>> from substrate import Assert
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:knows"), ox.NamedNode("urn:secret"))
    >>> a, b = arms(EventLog(), 0, Assert(fact))
    >>> [(t.tick, len(t.a), len(t.b), len(t.difference.inserted)) for t in twin(a, b)]
    [(0, 0, 1, 1)]
    """
    start = _first_difference(a, b) if start is None else start
    stop = max(a.last_tick, b.last_tick) if stop is None else stop
    left, right = Replay(a), Replay(b)
    here, there = left.seek(start - 1).texts(), right.seek(start - 1).texts()
    only_a, only_b = here - there, there - here
    for tick in sorted(t for t in {*a.ticks, *b.ticks} if start <= t <= stop):
        left.seek(tick)
        right.seek(tick)
        of_a, of_b = (log.between(tick, tick) for log in (a, b))
        for text, triple in {text_of(delta.triple): delta.triple for delta in (*of_a, *of_b)}.items():
            in_a, in_b = triple in left.state, triple in right.state
            (only_a.add if in_a and not in_b else only_a.discard)(text)
            (only_b.add if in_b and not in_a else only_b.discard)(text)
        inserted, retracted = (tuple(map(triple_of, quads_of(sorted(only)))) for only in (only_b, only_a))
        yield TwinTick(tick, of_a, of_b, Difference(inserted, retracted))


def _first_difference(a: EventLog, b: EventLog) -> int:
    base = merge_base(a, b)
    return min((log[base].tick for log in (a, b) if len(log) > base), default=a.last_tick + 1)
