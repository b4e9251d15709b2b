"""Causal ancestry on an event log (paper, section 3): Definition 1, and two variants to measure it against.

An event has a tick and a set of participants. ``Anc(e)`` holds the events that reach ``e`` through a
chain of shared participants with strictly growing ticks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple


class Event(NamedTuple):
    """An event of a log: its name, its tick, and who takes part."""

    id: Hashable
    tick: int
    objects: frozenset[Hashable]


class Ancestry(NamedTuple):
    """Where an event comes from.

    ``events`` is Anc(e). ``objects`` holds everyone on whom the event depends: the participants of
    Anc(e) and those of ``e`` itself, as Algorithm 1 returns it; the paper's AncObj(e) leaves the latter
    out, but an event without its own participants does not happen either.
    """

    events: frozenset[Hashable]
    objects: frozenset[Hashable]


def ancestors(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry of every event by Definition 1, in one pass forward over the log.

    Each object carries the set of events that its next event will have as ancestors, so the pass costs
    O(events x participants) set unions; sets are bit masks.

    >>> a = Event("a", 1, frozenset({1, 2}))
    >>> b = Event("b", 2, frozenset({2, 3}))
    >>> c = Event("c", 3, frozenset({3, 4}))
    >>> sorted(ancestors([c, a, b])["c"].events), sorted(ancestors([c, a, b])["c"].objects)
    (['a', 'b'], [1, 2, 3, 4])
    """
    ordered = sorted(events, key=lambda event: event.tick)
    reach: dict[Hashable, int] = {}
    masks: list[int] = []
    for _, simultaneous in groupby(enumerate(ordered), key=lambda numbered: numbered[1].tick):
        group = list(simultaneous)
        for _, event in group:
            mask = 0
            for object_ in event.objects:
                mask |= reach.get(object_, 0)
            masks.append(mask)
        for index, event in group:
            for object_ in event.objects:
                reach[object_] = reach.get(object_, 0) | masks[index] | 1 << index
    return {event.id: _ancestry(event, [o for i, o in enumerate(ordered) if mask >> i & 1]) for event, mask in zip(ordered, masks, strict=True)}


def ancestors_as_printed(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry of every event by the paper's Algorithm 1, as printed.

    Its ``Visited`` admits an object once, with the first reference tick found; a later and larger tick
    of the same object is dropped, so that ancestors can be missed.

    >>> e = Event("e", 9, frozenset({1, 2}))
    >>> log = [Event("early", 3, frozenset({1, 3})), Event("missed", 5, frozenset({3, 4})), Event("late", 7, frozenset({2, 3})), e]
    >>> sorted(ancestors_as_printed(log)["e"].events), sorted(ancestors(log)["e"].events)
    (['early', 'late'], ['early', 'late', 'missed'])
    """
    ordered = sorted(events, key=lambda event: event.tick)
    return {event.id: _breadth_first(event, ordered, lambda _, tick: tick) for event in ordered}


def ancestors_global_frame(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry with the target's tick as every step's reference: admits chains that run backward in time."""
    ordered = sorted(events, key=lambda event: event.tick)
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


def _ancestry(event: Event, found: Iterable[Event]) -> Ancestry:
    found = list(found)
    return Ancestry(frozenset(e.id for e in found), event.objects.union(*(e.objects for e in found)))


VARIANTS: Mapping[str, Callable[[Iterable[Event]], dict[Hashable, Ancestry]]] = {
    "event": ancestors,
    "printed": ancestors_as_printed,
    "global": ancestors_global_frame,
}
"""Ancestry by reference frame: each event's own (Definition 1), Algorithm 1 as printed, or the target's."""
