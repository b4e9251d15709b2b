"""Counterfactual logs (paper, section 2): prefix, intervention, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from substrate.errors import LogError
from substrate.interventions import Intervention
from substrate.log import Delta, EventLog


class Emitter(Protocol):
    """What happens after an intervention: a simulator, or the rules of a TBox."""

    def emit(self, branch: EventLog, parent: EventLog, at: int) -> Iterable[Delta]:
        """The deltas from tick ``at`` on.

        Args:
            branch: the prefix and the intervention; its state at ``at`` is the intervened one.
            parent: the observed log, for what does not depend on the intervention.
            at: the branch tick.
        """
        ...


def fork(log: EventLog, at: int, intervention: Intervention | None = None, emitter: Emitter | None = None) -> EventLog:
    """The log that would be, had ``intervention`` happened at tick ``at``; the parent is unchanged.

    Keeps the deltas with tick < ``at``, applies the intervention at ``at``, then the emitter's deltas.
    Without an emitter the observed deltas from ``at`` on are applied again, as set operations; a fork
    with neither is the log itself. The branch names its parent's digest and the branch tick.

    Raises:
        LogError: ``at`` is negative or lies behind the log's last tick by more than one.
        InterventionError: the intervention's pre-condition does not hold before ``at``.

    >>> from pyoxigraph import NamedNode
    >>> from substrate import Op, Retract
    >>> fact = (NamedNode("urn:ann"), NamedNode("urn:knows"), NamedNode("urn:secret"))
    >>> log = EventLog([Delta(0, Op.INSERT, fact), Delta(5, Op.INSERT, (fact[0], NamedNode("urn:at"), NamedNode("urn:cafe")))])
    >>> branch = fork(log, at=3, intervention=Retract(fact))
    >>> len(log.state()), len(branch.state()), branch.parent_digest == log.digest, branch.branch_tick
    (2, 1, True, 3)
    """
    if not 0 <= at <= log.last_tick + 1:
        raise LogError(f"branch tick {at} lies outside the log", hint=f"Name a tick from 0 to {log.last_tick + 1}")
    start = log.position(at - 1)
    branch = EventLog()
    branch.extend_from(log, 0, start)
    if intervention:
        branch.extend(intervention.deltas(branch.state(at - 1), at))
    if emitter:
        branch.extend(emitter.emit(branch, log, at))
    else:
        branch.extend_from(log, start)
    branch.parent_digest, branch.branch_tick = log.digest, at
    return branch
