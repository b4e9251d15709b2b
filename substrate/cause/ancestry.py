"""Causal ancestry on an event log (paper, section 3): Definition 1, and two variants for comparison.

An event has a tick and a set of participants. ``Anc(e)`` holds the events that reach ``e`` through a
chain of shared participants with strictly growing ticks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress, takewhile
from operator import eq
from typing import NamedTuple

from substrate.base.errors import ParameterError

_WIDTH = 64
"""Bytes of a mask; a single pass answers eight times as many neighbouring events."""
_MOST = 1 << 28
"""Bytes of masks that a mapping keeps, from its most recent passes."""
_BIT = [bytes(byte >> bit & 1 for byte in range(256)) for bit in range(8)]


class Event(NamedTuple):
    """An event of a log: its name, its tick and its participants (paper, section 3.1).

    >>> Event("collision", 12, frozenset({"red cube", "blue sphere"})).tick
    12
    """

    id: Hashable
    tick: int
    objects: frozenset[Hashable]


class Ancestry(NamedTuple):
    """The ancestors of an event (paper, definition 1).

    ``events`` is Anc(e). ``objects`` holds all objects on which the event depends: the participants of
    Anc(e) and of ``e`` itself, as Algorithm 1 returns them. The paper's AncObj(e) omits the participants of
    ``e``, but without its own participants an event does not happen either.

    >>> ancestors([Event("a", 1, frozenset({"x"}))])["a"] == Ancestry(frozenset(), frozenset({"x"}))
    True
    """

    events: frozenset[Hashable]
    objects: frozenset[Hashable]


def ancestors(events: Iterable[Event]) -> Mapping[Hashable, Ancestry]:
    """The ancestry of every event by Definition 1, each computed on first access.

    A single pass back in time answers 512 neighbouring events; its time and memory grow with the number of
    earlier events. Up to 256 MiB of results are kept. Events of the same tick are no ancestors of each other.

    Raises:
        ParameterError: two events have the same name.

    >>> a = Event("a", 1, frozenset({1, 2}))
    >>> b = Event("b", 2, frozenset({2, 3}))
    >>> c = Event("c", 3, frozenset({3, 4}))
    >>> sorted(ancestors([c, a, b])["c"].events), sorted(ancestors([c, a, b])["c"].objects)
    (['a', 'b'], [1, 2, 3, 4])
    """
    return _Ancestors(in_order(events))


class _Ancestors(Mapping[Hashable, Ancestry]):
    """Ancestry by passes back in time, each for a block of events.

    Each object carries a mask of the block's events that depend on it. An earlier event is an ancestor of all
    events in its objects' masks, and its objects then all get the union of these masks.
    """

    def __init__(self, ordered: Sequence[Event]) -> None:
        self._events = ordered
        self._names = [event.id for event in ordered]
        self._places = {name: place for place, name in enumerate(self._names)}
        self._blocks: dict[int, tuple[_Sets, _Sets]] = {}

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: Hashable) -> Ancestry:
        place = self._places[name]
        block, place = divmod(place, 8 * _WIDTH)
        events, objects = self._block(block)
        return Ancestry(events.of(place), objects.of(place))

    def _block(self, block: int) -> tuple[_Sets, _Sets]:
        """The ancestors and the objects of a block's events; the most recent blocks are kept."""
        block_sets = self._blocks.pop(block, None) or self._passed(block)
        while len(self._blocks) * _WIDTH * len(self._events) > _MOST:
            del self._blocks[next(iter(self._blocks))]
        self._blocks[block] = block_sets
        return block_sets

    def _passed(self, block: int) -> tuple[_Sets, _Sets]:
        """Go back in time from a block's last event to the log's first, with a mask per object (``met``)."""
        first, stop = block * _WIDTH * 8, min((block + 1) * _WIDTH * 8, len(self._events))
        met = [0] * len(self._objects)
        masks: list[int] = []
        waiting: list[tuple[Sequence[int], int]] = []
        for place in range(stop - 1, -1, -1):
            parts = self._parts[place]
            mask = 0
            for part in parts:
                mask |= met[part]
            masks.append(mask)
            if place >= first:
                mask |= 1 << place - first
            # Events of the same tick are not ancestors of each other, so update the masks after the tick
            if self._ties[place]:
                waiting.append((parts, mask))
                continue
            for part in parts:
                met[part] = mask
            while waiting:
                parts, mask = waiting.pop()
                for part in parts:
                    met[part] |= mask
        masks.reverse()
        every = (1 << stop - first) - 1
        return _Sets(self._names, masks, every), _Sets(self._objects, met, every)

    @cached_property
    def _objects(self) -> list[Hashable]:
        return list(dict.fromkeys(chain.from_iterable(event.objects for event in self._events)))

    @cached_property
    def _parts(self) -> list[tuple[int, ...]]:
        """The participants of each event, by their places in ``_objects``."""
        number = {name: place for place, name in enumerate(self._objects)}.__getitem__
        return [tuple(map(number, event.objects)) for event in self._events]

    @cached_property
    def _ties(self) -> list[bool]:
        """For each event, whether the event before it has the same tick."""
        ticks = [event.tick for event in self._events]
        return [False, *map(eq, ticks, ticks[1:])]


class _Sets:
    """A set of names for each event of a block.

    Names that all events have are stored once. The other names have columns of bits, with a byte per eight
    events.

    Args:
        names: the names that the sets may contain.
        masks: for each name, the events that have it; a name without a mask is in no set.
        every: the mask of all events.
    """

    __slots__ = ("_columns", "_common", "_names")

    def __init__(self, names: Iterable[Hashable], masks: Sequence[int], every: int) -> None:
        named = list(zip(names, masks, strict=False))
        # A frozenset made from a set is copied faster than a frozenset filled name by name
        self._common = frozenset({name for name, mask in named if mask == every})
        self._names = [name for name, mask in named if mask and mask != every]
        width = (every.bit_length() + 7) // 8
        bits = b"".join([mask.to_bytes(width, "little") for mask in masks if mask and mask != every])
        self._columns = [bits[column::width] for column in range(width)]

    def of(self, place: int) -> frozenset[Hashable]:
        """The set of the event at a place in the block."""
        column, bit = divmod(place, 8)
        return self._common.union(compress(self._names, self._columns[column].translate(_BIT[bit])))


def ancestors_as_printed(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """The ancestry of every event by the paper's Algorithm 1, as printed.

    Its ``Visited`` admits an object only once, with the first reference tick. If the same object is reached
    again with a larger tick, that tick is dropped, so the algorithm can miss ancestors.

    >>> e = Event("e", 9, frozenset({1, 2}))
    >>> early, missed = Event("early", 3, frozenset({1, 3})), Event("missed", 5, frozenset({3, 4}))
    >>> log = [early, missed, Event("late", 7, frozenset({2, 3})), e]
    >>> sorted(ancestors_as_printed(log)["e"].events), sorted(ancestors(log)["e"].events)
    (['early', 'late'], ['early', 'late', 'missed'])
    """
    return _breadth_first(in_order(events), lambda _, tick: tick)


def ancestors_global_frame(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """The ancestry with the target's tick as every step's reference, which admits chains back in time.

    This is the paper's ablation of the per-event reference frame (section 6). The result omits the event
    itself.

    >>> late, later = Event("late", 5, frozenset({2, 3})), Event("later", 7, frozenset({3, 4}))
    >>> log = [late, later, Event("e", 9, frozenset({1, 2}))]
    >>> sorted(ancestors_global_frame(log)["e"].events), sorted(ancestors(log)["e"].events)
    (['late', 'later'], ['late'])
    """
    return _breadth_first(in_order(events), lambda target, _: target)


def _breadth_first(
    ordered: Sequence[Event], reference: Callable[[int, int], int]
) -> dict[Hashable, Ancestry]:
    """Algorithm 1; ``reference`` picks the tick to compare the next step with."""
    ancestry: dict[Hashable, Ancestry] = {}
    for event in ordered:
        reached: dict[Hashable, Event] = {}
        queue = deque((object_, event.tick) for object_ in sorted(event.objects, key=repr))
        visited = set(event.objects)
        while queue:
            object_, tick = queue.popleft()
            for earlier in takewhile(lambda candidate, tick=tick: candidate.tick < tick, ordered):
                if object_ in earlier.objects:
                    reached[earlier.id] = earlier
                    new = sorted(earlier.objects - visited, key=repr)
                    visited.update(new)
                    queue += ((participant, reference(event.tick, earlier.tick)) for participant in new)
        objects = event.objects.union(*(earlier.objects for earlier in reached.values()))
        ancestry[event.id] = Ancestry(frozenset(reached), objects)
    return ancestry


def causal_chain(events: Iterable[Event], event: Hashable, ancestor: Hashable) -> list[Event]:
    """The shortest chain from an ancestor to an event, in which neighbours share a participant.

    Args:
        events: the log's events.
        event: the name of the event to explain.
        ancestor: the name of an event of Anc(event), or of the event itself.

    Returns:
        Events with strictly growing ticks, ``ancestor`` first. Among equally short chains, the chain with the
        latest events is chosen.

    Raises:
        ParameterError: a name is unknown, or ``ancestor`` is not an ancestor.

    >>> log = [Event(name, tick, frozenset({tick, tick + 1})) for tick, name in enumerate("abc")]
    >>> [step.id for step in causal_chain(log, "c", "a")]
    ['a', 'b', 'c']
    """
    named = {e.id: e for e in in_order(events)}
    for name in (event, ancestor):
        if name not in named:
            raise ParameterError(f"unknown event {name!r}", hint="Name an event of the log")
    after: dict[Hashable, Event] = {}
    queue = deque([named[event]])
    while queue and ancestor != event and ancestor not in after:
        later = queue.popleft()
        for earlier in reversed(named.values()):
            if earlier.tick < later.tick and earlier.objects & later.objects and earlier.id not in after:
                after[earlier.id] = later
                queue.append(earlier)
    if ancestor != event and ancestor not in after:
        raise ParameterError(f"{ancestor!r} is not an ancestor of {event!r}", hint="Name an ancestor of it")
    steps = [named[ancestor]]
    while steps[-1].id != event:
        steps.append(after[steps[-1].id])
    return steps


def in_order(events: Iterable[Event]) -> list[Event]:
    """Events sorted by tick; events of the same tick keep their given order.

    >>> [event.id for event in in_order([Event("b", 2, frozenset()), Event("a", 1, frozenset())])]
    ['a', 'b']

    Raises:
        ParameterError: two events have the same name.
    """
    ordered = sorted(events, key=lambda event: event.tick)
    if len({event.id for event in ordered}) < len(ordered):
        names = [event.id for event in ordered]
        double = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two events are named {double!r}", hint="Give every event its own name")
    return ordered


VARIANTS: Mapping[str, Callable[[Iterable[Event]], Mapping[Hashable, Ancestry]]] = {
    "event": ancestors,
    "printed": ancestors_as_printed,
    "global": ancestors_global_frame,
}
"""Ancestry by reference frame: each event's own (Definition 1), Algorithm 1 as printed, or the target's."""
