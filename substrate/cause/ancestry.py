"""Causal ancestry on an event log (paper, section 3): Definition 1, and two variants to measure it against.

An event has a tick and a set of participants. ``Anc(e)`` holds the events that reach ``e`` through a
chain of shared participants with strictly growing ticks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, groupby
from operator import eq
from typing import NamedTuple

from substrate.base.errors import ParameterError

FEW = 4096
"""Up to so many events the masks of all are made at once: at most 2 MiB, and quicker than one walk."""
_MOST = 1 << 28
"""Bytes that the masks of all may take; where they would take more, every event asked for is walked to."""
_OFTEN = 32
"""Walks that cost what the masks of all cost, at any size: who asks for more gets the masks."""
_BITS = bytes.maketrans(b"01", bytes((0, 1)))


class Event(NamedTuple):
    """An event of a log: its name, its tick, and who takes part (paper, section 3.1).

    >>> Event("collision", 12, frozenset({"red cube", "blue sphere"})).tick
    12
    """

    id: Hashable
    tick: int
    objects: frozenset[Hashable]


class Ancestry(NamedTuple):
    """The ancestors of an event (paper, definition 1).

    ``events`` is Anc(e). ``objects`` holds everyone on whom the event depends: the participants of
    Anc(e) and those of ``e`` itself, as Algorithm 1 returns it; the paper's AncObj(e) leaves the latter
    out, but an event without its own participants does not happen either.

    >>> ancestors([Event("a", 1, frozenset({"x"}))])["a"] == Ancestry(frozenset(), frozenset({"x"}))
    True
    """

    events: frozenset[Hashable]
    objects: frozenset[Hashable]


def ancestors(events: Iterable[Event]) -> Mapping[Hashable, Ancestry]:
    """Ancestry of every event by Definition 1; that of an event is worked out when it is asked for.

    The first few of a large log are walked to, in time and room that grow with the events; who asks for
    many gets a bit mask for each, a bit for each event before it, up to 256 MiB in all.
    Events of one tick are no ancestors of each other.

    Raises:
        ParameterError: two events have one name.

    >>> a = Event("a", 1, frozenset({1, 2}))
    >>> b = Event("b", 2, frozenset({2, 3}))
    >>> c = Event("c", 3, frozenset({3, 4}))
    >>> sorted(ancestors([c, a, b])["c"].events), sorted(ancestors([c, a, b])["c"].objects)
    (['a', 'b'], [1, 2, 3, 4])
    """
    return _Ancestors(in_order(events))


class _Ancestors(Mapping[Hashable, Ancestry]):
    """Ancestry by a walk back from an event, or for all events by one pass forward.

    In the pass each object carries what its next event will come from. Sets are bit masks there, of
    events and of objects; a mask is unpacked when its event is asked for.
    """

    def __init__(self, ordered: Sequence[Event]) -> None:
        self._events = ordered
        self._places = {event.id: place for place, event in enumerate(ordered)}
        self._masks: list[tuple[int, int]] | None = None
        self._names = [event.id for event in ordered]
        self._objects: list[Hashable] = []
        self._walks: _Walks | None = None
        self._asked = 0

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: Hashable) -> Ancestry:
        place = self._places[name]
        if self._masks is None:
            self._asked += 1
            size = len(self._events)
            if size > FEW and (self._asked <= _OFTEN or size * size // 16 > _MOST):
                return self._walked(place)
            self._masks = self._passed()
        events, objects = self._masks[place]
        return Ancestry(
            frozenset(_unpacked(events, self._names)), frozenset(_unpacked(objects, self._objects))
        )

    def _walked(self, place: int) -> Ancestry:
        """The same for one event: back in time, and everybody met on the way makes an event an ancestor."""
        events, names = self._events, self._names
        if self._walks is None:
            self._walks = _Walks.of(events)
        objects, ties, everyone = self._walks
        stop = bisect_left(events, events[place].tick, key=lambda event: event.tick)
        met, meeting = set(events[place].objects), set[Hashable]()
        found: list[Hashable] = []
        for earlier in range(stop - 1, -1, -1):
            them = objects[earlier]
            if not met.isdisjoint(them):
                found.append(names[earlier])
                meeting |= them
            # Who is met at a tick counts before it only: events of one tick are no ancestors of each other
            if meeting and not ties[earlier]:
                met |= meeting
                meeting.clear()
                if len(met) == everyone:
                    found += names[:earlier]
                    break
        return Ancestry(frozenset(reversed(found)), frozenset(met))

    def _passed(self) -> list[tuple[int, int]]:
        numbers: dict[Hashable, int] = {}
        for event in self._events:
            for object_ in event.objects:
                numbers.setdefault(object_, len(numbers))
        self._objects = list(numbers)
        reach = [(0, 0)] * len(numbers)
        masks: list[tuple[int, int]] = []
        for _, simultaneous in groupby(self._events, key=lambda event: event.tick):
            group = [[numbers[object_] for object_ in event.objects] for event in simultaneous]
            first = len(masks)
            for parts in group:
                events = objects = 0
                for part in parts:
                    came, took_part = reach[part]
                    events |= came
                    objects |= took_part | 1 << part
                masks.append((events, objects))
            for place, parts in enumerate(group, start=first):
                events, objects = masks[place]
                for part in parts:
                    came, took_part = reach[part]
                    reach[part] = (came | events | 1 << place, took_part | objects)
        return masks


class _Walks(NamedTuple):
    """All events for walks: who takes part, if the one before is of the same tick, and how many take part.

    The number is -1 where an event is nobody's: it is no ancestor, though everybody be met.
    """

    objects: list[frozenset[Hashable]]
    ties: list[bool]
    everyone: int

    @classmethod
    def of(cls, events: Sequence[Event]) -> _Walks:
        objects = [event.objects for event in events]
        ticks = [event.tick for event in events]
        everyone = len(frozenset[Hashable]().union(*objects)) if all(objects) else -1
        return cls(objects, [False, *map(eq, ticks, ticks[1:])], everyone)


def _unpacked(mask: int, names: Sequence[Hashable]) -> Iterator[Hashable]:
    """The names whose bits are set, that of the lowest first: a set is made fastest in ascending order."""
    return compress(names, f"{mask:b}"[::-1].encode().translate(_BITS))


def ancestors_as_printed(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry of every event by the paper's Algorithm 1, as printed.

    Its ``Visited`` admits an object once, with the first reference tick found; a later and larger tick
    of the same object is dropped, so that ancestors can be missed.

    >>> e = Event("e", 9, frozenset({1, 2}))
    >>> early, missed = Event("early", 3, frozenset({1, 3})), Event("missed", 5, frozenset({3, 4}))
    >>> log = [early, missed, Event("late", 7, frozenset({2, 3})), e]
    >>> sorted(ancestors_as_printed(log)["e"].events), sorted(ancestors(log)["e"].events)
    (['early', 'late'], ['early', 'late', 'missed'])
    """
    ordered = in_order(events)
    return {event.id: _breadth_first(event, ordered, lambda _, tick: tick) for event in ordered}


def ancestors_global_frame(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry with the target's tick as every step's reference: admits chains that run backward in time.

    The paper's ablation of the per-event reference frame (section 6). The event itself is left out.

    >>> late, later = Event("late", 5, frozenset({2, 3})), Event("later", 7, frozenset({3, 4}))
    >>> log = [late, later, Event("e", 9, frozenset({1, 2}))]
    >>> sorted(ancestors_global_frame(log)["e"].events), sorted(ancestors(log)["e"].events)
    (['late', 'later'], ['late'])
    """
    ordered = in_order(events)
    return {event.id: _breadth_first(event, ordered, lambda target, _: target) for event in ordered}


def _breadth_first(event: Event, ordered: Sequence[Event], reference: Callable[[int, int], int]) -> Ancestry:
    """Algorithm 1; ``reference`` picks the tick that the next step is compared with."""
    found: dict[Hashable, Event] = {}
    queue = deque((object_, event.tick) for object_ in sorted(event.objects, key=repr))
    visited = set(event.objects)
    while queue:
        object_, tick = queue.popleft()
        for earlier in ordered:
            if earlier.tick >= tick:
                break
            if object_ not in earlier.objects:
                continue
            found[earlier.id] = earlier
            for participant in sorted(earlier.objects - visited, key=repr):
                visited.add(participant)
                queue.append((participant, reference(event.tick, earlier.tick)))
    return _ancestry(event, found.values())


def causal_chain(events: Iterable[Event], event: Hashable, ancestor: Hashable) -> list[Event]:
    """Why an event is an ancestor: the shortest chain from it to ``event``, neighbours sharing a participant.

    Args:
        events: the log's events.
        event: name of the event to explain.
        ancestor: name of an event of Anc(event), or the event itself.

    Returns:
        Events with strictly growing ticks, ``ancestor`` first; of equally short chains the one whose
        events come last.

    Raises:
        ParameterError: a name is unknown, or ``ancestor`` is none.

    >>> log = [Event(name, tick, frozenset({tick, tick + 1})) for tick, name in enumerate("abc")]
    >>> [step.id for step in causal_chain(log, "c", "a")]
    ['a', 'b', 'c']
    """
    named = {e.id: e for e in in_order(events)}
    for name in (event, ancestor):
        if name not in named:
            raise ParameterError(f"no event {name!r}", hint="Name an event of the log")
    after: dict[Hashable, Event] = {}
    queue = deque([named[event]])
    while queue and ancestor != event and ancestor not in after:
        later = queue.popleft()
        for earlier in reversed(named.values()):
            if earlier.tick < later.tick and earlier.objects & later.objects and earlier.id not in after:
                after[earlier.id] = later
                queue.append(earlier)
    if ancestor != event and ancestor not in after:
        raise ParameterError(f"{ancestor!r} is no ancestor of {event!r}", hint="Ask for one of its ancestors")
    steps = [named[ancestor]]
    while steps[-1].id != event:
        steps.append(after[steps[-1].id])
    return steps


def in_order(events: Iterable[Event]) -> list[Event]:
    """Events by tick; those of one tick stay in the order given.

    >>> [event.id for event in in_order([Event("b", 2, frozenset()), Event("a", 1, frozenset())])]
    ['a', 'b']

    Raises:
        ParameterError: two events have one name.
    """
    ordered = sorted(events, key=lambda event: event.tick)
    if len({event.id for event in ordered}) < len(ordered):
        names = [event.id for event in ordered]
        double = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"two events are named {double!r}", hint="Give every event a name of its own")
    return ordered


def _ancestry(event: Event, found: Iterable[Event]) -> Ancestry:
    found = list(found)
    return Ancestry(frozenset(e.id for e in found), event.objects.union(*(e.objects for e in found)))


VARIANTS: Mapping[str, Callable[[Iterable[Event]], Mapping[Hashable, Ancestry]]] = {
    "event": ancestors,
    "printed": ancestors_as_printed,
    "global": ancestors_global_frame,
}
"""Ancestry by reference frame: each event's own (Definition 1), Algorithm 1 as printed, or the target's."""
