"""Replay: checkpoints along a log, the state at any tick, and moves between ticks.

Replay is the deterministic function rho of the paper (section 2): a delta applied to a set of triples,
insertion as union, retraction as difference.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from substrate.base.arguments import require_tick
from substrate.log._columns import DeltaSequence
from substrate.log._locking import MEMORY
from substrate.log._stores import Stores
from substrate.log.state import Head, State

SPACING = 1024
"""The fewest deltas from a checkpoint to the next one that is made after it; a large state needs more."""


class Checkpoints:
    """States kept along a log, so that every state is near a kept state.

    A checkpoint follows the previous checkpoint after at least :data:`SPACING` deltas, and at least twice as
    many deltas as the state has triples, so all checkpoints take less room than the log. A requested past
    state becomes a checkpoint too, if the deltas since the previous checkpoint number more than
    :data:`SPACING` and more than an eighth of its triples. So random ticks soon have a checkpoint nearby, for
    at most 32 bytes per delta.

    Args:
        log: the log.
        parent: the checkpoints of the log's parent, if the log is a fork.
        shared: the number of deltas that log and parent share.

    >>> import pyoxigraph as ox
    >>> from substrate import Delta, EventLog, Op
    >>> s, p = ox.NamedNode("urn:s"), ox.NamedNode("urn:p")
    >>> log = EventLog(Delta(t, Op.INSERT, (s, p, ox.Literal(t % 10))) for t in range(5000))
    >>> len(log.state(4999)), log.checkpoints.nearest(3000)
    (10, 2048)
    """

    def __init__(self, log: DeltaSequence, parent: Checkpoints | None = None, shared: int = 0) -> None:
        self._log = log
        self._parent = parent
        self._shared = shared
        self._positions: list[int] = [] if parent else [0]
        self._saved: list[array[int]] = [] if parent else [array("I")]

    def nearest(self, position: int) -> int:
        """The position of the last checkpoint at or before a position in the log."""
        place = bisect_right(self._positions, position) - 1
        if place < 0 and self._parent:
            return self._parent.nearest(min(position, self._shared))
        return self._positions[place]

    def reach(self, position: int) -> dict[int, None]:
        """The numbers of the triples that hold after ``position`` deltas; the caller owns the mapping."""
        if self._parent and position <= self._shared:
            return self._parent.reach(position)
        with MEMORY:
            place = bisect_right(self._positions, position) - 1
            if place >= 0 or not self._parent:
                start, standing = self._positions[place], dict.fromkeys(self._saved[place])
            else:
                start, standing = self._shared, self._parent.reach(self._shared)
            checkpoint = start
            while start < position:
                stop = min(position, start + max(SPACING, 2 * len(standing)))
                fold(standing, self._log.steps(start, stop))
                start = stop
                if start < position and start > (self._positions[-1] if self._positions else self._shared):
                    self._keep(start, standing)
                    checkpoint = start
            if position < len(self._log) and position - checkpoint > max(SPACING, len(standing) // 8):
                # A request for a past state is often followed by requests for its neighbours
                self._keep(position, standing)
            return standing

    def _keep(self, position: int, standing: dict[int, None]) -> None:
        place = bisect_right(self._positions, position)
        self._positions.insert(place, position)
        # An array copies a list at once, but any other iterable number by number
        self._saved.insert(place, array("I", list(standing)))


class Timeline(DeltaSequence):
    """Deltas with the states along them; the base of :class:`substrate.log.event_log.EventLog`."""

    def __init__(self) -> None:
        super().__init__()
        self.checkpoints = Checkpoints(self)
        """States kept along the log, from which the other states are computed."""
        self.stores = Stores()
        """Stores that the queries of this log's states and its branches' states share."""
        self._head: Head | None = None

    def state(self, tick: int | None = None) -> State:
        """The ABox after every delta with tick <= ``tick``; by default after all deltas.

        The cost is O(triples + deltas since the nearest checkpoint), whatever the tick.
        """
        if tick is not None:
            require_tick(tick, "tick")
        at = self.last_tick if tick is None else tick
        return State(self, self.position(at), at, self.checkpoints.reach, self.stores)

    @property
    def head(self) -> Head:
        """The state after the last delta, which every append updates; you cannot change it yourself.

        An append costs only its own deltas, in the state and in the store behind its queries.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> head = log.head
        >>> log.extend_lines([(4, "A <urn:ann> <urn:in> <urn:cafe> .")])
        >>> bool(head.query("ASK { <urn:ann> <urn:in> <urn:cafe> }")), head.tick
        (True, 4)
        """
        with MEMORY:
            if self._head is None:
                self._head = Head(self, self.last_tick, self.checkpoints.reach, self.stores)
            return self._head

    def states(self, start: int = 0, stop: int | None = None) -> Iterator[State]:
        """A replay's state, moved along the ticks that have a delta, from ``start`` to ``stop`` inclusive.

        >>> from substrate import EventLog
        >>> log = EventLog()
        >>> fact = "<urn:ann> <urn:in> <urn:cafe> ."
        >>> log.extend_lines([(0, f"A {fact}"), (4, f"D {fact}")])
        >>> [(state.tick, len(state)) for state in log.states()]
        [(0, 1), (4, 0)]
        """
        replay = Replay(self)
        return (replay.seek(tick) for tick in self.ticks if start <= tick and (stop is None or tick <= stop))


class Replay:
    """A state that moves along a log: forward by applying deltas, backward by undoing effective deltas.

    A move costs the deltas in between; a checkpoint shortens a long move.

    Args:
        log: the log.

    >>> import pyoxigraph as ox
    >>> from substrate import Delta, EventLog, Op
    >>> fact = (ox.NamedNode("urn:ann"), ox.NamedNode("urn:at"), ox.NamedNode("urn:cafe"))
    >>> replay = Replay(EventLog([Delta(2, Op.INSERT, fact), Delta(5, Op.RETRACT, fact)]))
    >>> [len(replay.seek(tick)) for tick in (0, 2, 5, 4)]
    [0, 1, 0, 1]
    """

    def __init__(self, log: Timeline) -> None:
        self.log = log
        self._position = 0
        self.state = State(log, 0, -1, log.checkpoints.reach)

    def seek(self, tick: int) -> State:
        """Move this replay's only state to ``tick`` and return it, at the cost of the deltas in between."""
        require_tick(tick, "tick")
        target = self.log.position(tick)
        state, position = self.state, self._position
        nearest = self.log.checkpoints.nearest(target)
        if nearest - position > SPACING or position - target > SPACING + len(state):
            state.move(target, tick)
        elif target < position:
            # To go back, retract (0) the inserted triples, then insert (1) the retracted ones
            for insert, numbers in enumerate(self.log.net(target, position)):
                for number in numbers:
                    state.apply_numbered(insert, number)
        else:
            for insert, number in self.log.steps(position, target):
                state.apply_numbered(insert, number)
        self._position = target
        state.tick = tick
        return state


def fold(standing: dict[int, None], steps: Iterable[tuple[int, int]]) -> None:
    """Rho: apply deltas in order to a set of triples, given as numbers.

    >>> standing: dict[int, None] = {}
    >>> fold(standing, [(1, 7), (1, 8), (0, 7), (0, 9)])
    >>> list(standing)
    [8]
    """
    for insert, number in steps:
        if insert:
            standing[number] = None
        else:
            standing.pop(number, None)
