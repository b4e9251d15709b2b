"""Counterfactual logs (paper, section 2): prefix, intervention, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from substrate.base.arguments import require, require_methods, require_tick
from substrate.base.delta import Delta, Spelled, Triple, quads_of, text_of, triple_of
from substrate.base.errors import LogError
from substrate.branch._steadiness import require_steady
from substrate.branch.interventions import Intervention
from substrate.log.event_log import EventLog
from substrate.log.history import Difference
from substrate.log.patch import Descent
from substrate.log.replay import Replay
from substrate.log.simulator import Simulator
from substrate.log.state import State


class Emitter(Protocol):
    """The source of what happens after an intervention: a simulator, or the rules of a TBox.

    Two ship: :class:`Simulation` and :class:`substrate.rules.fixpoint.RuleEmitter`.

    >>> class Nothing:
    ...     def emit(self, branch, parent, at):
    ...         return []
    >>> len(fork(EventLog(), at=0, emitter=Nothing()))
    0
    """

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterable[Delta]:
        """The deltas from tick ``at`` on.

        Args:
            branch: the prefix and the intervention; its state at ``at`` is the intervened one.
            parent: the observed log, for what does not depend on the intervention.
            at: the branch tick.
        """
        ...


@runtime_checkable
class SpellingEmitter(Protocol):
    """An emitter that has its triples' spellings at hand: a fork takes them as they are."""

    def spell(self, branch: EventLog, parent: EventLog, at: int) -> Iterable[Spelled]:
        """The deltas that :meth:`Emitter.emit` gives, each triple by its spelling."""
        ...


@dataclass(frozen=True)
class Simulation:
    """The emitter that drives a :class:`Simulator` from the branch tick on.

    Args:
        simulator: takes up the state after the intervention.
        until: last tick to simulate; the parent's last one unless given.

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
    check: bool = False,
) -> EventLog:
    """The log that would be, had ``intervention`` happened at tick ``at``; the parent is unchanged.

    Keeps the deltas with tick < ``at``, applies the intervention at ``at``, then the emitter's deltas.
    Without an emitter the observed deltas from ``at`` on are applied again, as set operations; a fork
    with neither is the log itself. The branch names its parent's digest and the branch tick, in its
    file too; a fork may be forked again. With ``check`` the emitter is run twice and has to give the
    same deltas.

    Raises:
        LogError: ``at`` is negative or lies behind the log's last tick by more than one, or the
            emitter goes back in time; with ``check``, the first delta that differs between two runs.
        InterventionError: the intervention's pre-condition does not hold before ``at``.
        ParameterError: an argument is not what it has to be.

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
    if intervention is not None:
        require_methods(intervention, ("deltas",), "an intervention", "intervention")
    if emitter is not None:
        require_methods(emitter, ("emit",), "an emitter", "emitter")
    if check and emitter:
        branch = fork(log, at, intervention, emitter)
        require_steady(branch, fork(log, at, intervention, emitter))
        return branch
    end = log.last_tick + 1
    if not 0 <= at <= end:
        raise LogError(f"branch tick {at} lies outside the log", hint=f"Name a tick from 0 to {end}")
    start, stop = log.position(at - 1), len(log)
    first = intervention.deltas(log.state(at - 1), at) if intervention else ()
    branch = log.branch(start, Descent(log.digest, at))
    branch.extend(first)
    # Whether something follows a protocol takes as long to tell as the rest of a fork
    if not emitter:
        branch.follow(log, start, stop)
    elif isinstance(emitter, SpellingEmitter):
        branch.extend_spelled(_from_branch(emitter.spell(branch, log, at), at))
    else:
        branch.extend(_from_branch(emitter.emit(branch, log, at), at))
    return branch


_Emitted = TypeVar("_Emitted", Delta, Spelled)


def _from_branch(deltas: Iterable[_Emitted], at: int) -> list[_Emitted]:
    emitted = list(deltas)
    if emitted and emitted[0].tick < at:
        raise LogError(
            f"the emitter starts at tick {emitted[0].tick}, before the branch tick {at}",
            hint="Emit from the branch tick on",
        )
    return emitted


class TwinTick(NamedTuple):
    """A tick of two arms, side by side.

    ``a`` and ``b`` hold the deltas of each arm at this tick, in log order; ``difference`` holds what
    stands in ``b`` only (inserted) and in ``a`` only (retracted) after it.

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
    """Both arms of a twin experiment (paper, figure "Twin-EventLog"): without and with the intervention.

    Both are forks at the same tick under the same emitter, so that nothing but the intervention
    tells them apart. Errors as :func:`fork`.

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
        start: first tick to show; the first at which the two logs differ unless given.
        stop: last tick to show; the later arm's last unless given.

    Yields:
        Every tick from ``start`` on at which either arm has a delta. Its cost is the deltas of that
        tick, and the triples that differ.

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
        for triple in {text_of(delta.triple): delta.triple for delta in (*of_a, *of_b)}.items():
            _place(*triple, left.state, right.state, only_a, only_b)
        yield TwinTick(tick, of_a, of_b, Difference(_triples(only_b), _triples(only_a)))


def _place(text: str, triple: Triple, a: State, b: State, only_a: set[str], only_b: set[str]) -> None:
    """Sort a triple that may have changed into what stands on one side only."""
    in_a, in_b = triple in a, triple in b
    (only_a.add if in_a and not in_b else only_a.discard)(text)
    (only_b.add if in_b and not in_a else only_b.discard)(text)


def _triples(texts: set[str]) -> tuple[Triple, ...]:
    return tuple(map(triple_of, quads_of(sorted(texts))))


def _first_difference(a: EventLog, b: EventLog) -> int:
    for left, right in zip(a, b, strict=False):
        if left != right:
            return min(left.tick, right.tick)
    shorter, longer = sorted((a, b), key=len)
    return longer[len(shorter)].tick if len(longer) > len(shorter) else longer.last_tick + 1
