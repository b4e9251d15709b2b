"""Causal ancestry on an event log (paper, section 3): Definition 1, and two variants to measure it against.

An event has a tick and a set of participants. ``Anc(e)`` holds the events that reach ``e`` through a
chain of shared participants with strictly growing ticks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from substrate.errors import ParameterError


class Event(NamedTuple):
    """An event of a log: its name, its tick, and who takes part (paper, section 3.1).

    >>> Event("collision", 12, frozenset({"red cube", "blue sphere"})).tick
    12
    """

    id: Hashable
    tick: int
    objects: frozenset[Hashable]


class Ancestry(NamedTuple):
    """Where an event comes from (paper, definition 1).

    ``events`` is Anc(e). ``objects`` holds everyone on whom the event depends: the participants of
    Anc(e) and those of ``e`` itself, as Algorithm 1 returns it; the paper's AncObj(e) leaves the latter
    out, but an event without its own participants does not happen either.

    >>> ancestors([Event("a", 1, frozenset({"x"}))])["a"] == Ancestry(frozenset(), frozenset({"x"}))
    True
    """

    events: frozenset[Hashable]
    objects: frozenset[Hashable]


def ancestors(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry of every event by Definition 1, in one pass forward over the log.

    Each object carries the set of events that its next event will have as ancestors, so the pass costs
    O(events x participants) set unions; sets are bit masks. Events of one tick are no ancestors of each
    other.

    Raises:
        ParameterError: two events have one name.

    >>> a = Event("a", 1, frozenset({1, 2}))
    >>> b = Event("b", 2, frozenset({2, 3}))
    >>> c = Event("c", 3, frozenset({3, 4}))
    >>> sorted(ancestors([c, a, b])["c"].events), sorted(ancestors([c, a, b])["c"].objects)
    (['a', 'b'], [1, 2, 3, 4])
    """
    ordered = in_order(events)
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
    return {
        event.id: _ancestry(event, [o for i, o in enumerate(ordered) if mask >> i & 1])
        for event, mask in zip(ordered, masks, strict=True)
    }


def ancestors_as_printed(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry of every event by the paper's Algorithm 1, as printed.

    Its ``Visited`` admits an object once, with the first reference tick found; a later and larger tick
    of the same object is dropped, so that ancestors can be missed.

    >>> e = Event("e", 9, frozenset({1, 2}))
    >>> log = [Event("early", 3, frozenset({1, 3})), Event("missed", 5, frozenset({3, 4})), Event("late", 7, frozenset({2, 3})), e]
    >>> sorted(ancestors_as_printed(log)["e"].events), sorted(ancestors(log)["e"].events)
    (['early', 'late'], ['early', 'late', 'missed'])
    """
    ordered = in_order(events)
    return {event.id: _breadth_first(event, ordered, lambda _, tick: tick) for event in ordered}


def ancestors_global_frame(events: Iterable[Event]) -> dict[Hashable, Ancestry]:
    """Ancestry with the target's tick as every step's reference: admits chains that run backward in time.

    The paper's ablation of the per-event reference frame (section 6). The event itself is left out.

    >>> log = [Event("late", 5, frozenset({2, 3})), Event("later", 7, frozenset({3, 4})), Event("e", 9, frozenset({1, 2}))]
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

    >>> log = [Event("a", 1, frozenset({1, 2})), Event("b", 2, frozenset({2, 3})), Event("c", 3, frozenset({3, 4}))]
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


VARIANTS: Mapping[str, Callable[[Iterable[Event]], dict[Hashable, Ancestry]]] = {
    "event": ancestors,
    "printed": ancestors_as_printed,
    "global": ancestors_global_frame,
}
"""Ancestry by reference frame: each event's own (Definition 1), Algorithm 1 as printed, or the target's."""
