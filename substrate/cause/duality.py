"""Ancestor duality (paper, section 3.2): what would not have happened without an object, and how sure that
is.

Proposition 1 says that an observed event ``e`` does not occur without ``X`` exactly where ``X`` is in
``e``'s ancestry. ``docs/ancestor-duality.md`` proves it, and shows that the printed conditions need two
repairs: AncObj has to hold the event's own participants, and the direction from ancestry to
prevention needs every event to hang on a chain of true dependences (C4 here).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Literal, NamedTuple

from substrate.cause.ancestry import Ancestry, Event, ancestors, in_order

Status = Literal["proven", "heuristic"]


class Condition(NamedTuple):
    """A condition of Proposition 1 on one log.

    ``holds`` is ``None`` where nothing at hand can decide it; ``witnesses`` names the events (for C1:
    the objects) that break it, in time order.

    >>> Condition("C1", True, ()).holds
    True
    """

    name: str
    holds: bool | None
    witnesses: tuple[Hashable, ...]


class Conditions(NamedTuple):
    """Check the conditions of Proposition 1 for a log and a removed object.

    C1, closed events: every participant is a declared object. C2, exogeneity: what does not descend
    from the object occurs without it at the same tick. C3, no emergence: without it nothing happens
    that was not observed. C4, dependence: what descends from it without taking part hangs on an
    ancestor that descends from it too and does not occur without it, and then does not occur either.

    >>> unknown = [Condition(name, None, ()) for name in ("C2", "C3", "C4")]
    >>> Conditions(Condition("C1", False, ("stranger",)), *unknown).status
    'heuristic'
    """

    c1: Condition
    c2: Condition
    c3: Condition
    c4: Condition

    @property
    def status(self) -> Status:
        """``proven`` where all four were found to hold, else ``heuristic``."""
        return "proven" if all(condition.holds for condition in self) else "heuristic"

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the conditions that were found not to hold."""
        return tuple(condition.name for condition in self if condition.holds is False)


class Verdict(NamedTuple):
    """The verdict on an observed event without an object, by its ancestry, and how sure it is.

    >>> Verdict(occurs=False, status="heuristic").occurs
    False
    """

    occurs: bool
    status: Status


def name_of(event: Event) -> Hashable:
    """An event's own name, as what tells it in both worlds.

    >>> name_of(Event("e", 1, frozenset()))
    'e'
    """
    return event.id


def conditions(
    events: Iterable[Event],
    removed: Hashable,
    *,
    declared: Iterable[Hashable] | None = None,
    without: Iterable[Event] | None = None,
    same: Callable[[Event], Hashable] = name_of,
) -> Conditions:
    """Check the conditions of Proposition 1 as far as they can be checked.

    Args:
        events: the observed log's events.
        removed: the object that is taken away, X.
        declared: the objects the log declares; C1 is undecided where they are not given. That events
            outside the log do not exist can never be seen from the log: what C1 hides shows in C2.
        without: the events of a second, simulated world without ``removed``; C2, C3 and C4 are
            undecided where it is not given.
        same: what identifies an event in both worlds, such as its kind and participants.

    >>> touch, out = Event("touch", 1, frozenset({"x", "a"})), Event("out", 2, frozenset({"a"}))
    >>> conditions([touch, out], "x", declared="xa", without=[]).status
    'proven'
    >>> conditions([touch, out], "x", declared="xa", without=[out]).failed
    ('C4',)
    """
    observed = in_order(events)
    ancestry = ancestors(observed)
    c1 = _closed(observed, declared)
    if without is None:
        return Conditions(c1, *(Condition(name, None, ()) for name in ("C2", "C3", "C4")))
    other = in_order(without)
    return Conditions(
        c1,
        _exogenous(observed, ancestry, removed, other, same),
        _nothing_emerges(observed, other, same),
        _dependent(observed, ancestry, removed, other, same),
    )


def verdicts(
    events: Iterable[Event],
    removed: Hashable,
    *,
    declared: Iterable[Hashable] | None = None,
    without: Iterable[Event] | None = None,
    same: Callable[[Event], Hashable] = name_of,
) -> dict[Hashable, Verdict]:
    """For every observed event: does it occur without ``removed``?

    The answer is the ancestry's, membership in AncObj. It is ``proven`` where the conditions of
    Proposition 1 were all found to hold, and, whatever the conditions, for an event in which the
    object itself takes part; ``heuristic`` everywhere else. Arguments as :func:`conditions`.

    >>> touch, out = Event("touch", 1, frozenset({"x", "a"})), Event("out", 2, frozenset({"a"}))
    >>> verdicts([touch, out], "x")
    {'touch': Verdict(occurs=False, status='proven'), 'out': Verdict(occurs=False, status='heuristic')}
    """
    observed = in_order(events)
    status = conditions(observed, removed, declared=declared, without=without, same=same).status
    ancestry = ancestors(observed)
    return {
        e.id: Verdict(removed not in ancestry[e.id].objects, "proven" if removed in e.objects else status)
        for e in observed
    }


def _closed(observed: list[Event], declared: Iterable[Hashable] | None) -> Condition:
    if declared is None:
        return Condition("C1", None, ())
    known = frozenset(declared)
    strangers = dict.fromkeys(o for event in observed for o in sorted(event.objects - known, key=repr))
    return Condition("C1", not strangers, tuple(strangers))


def _exogenous(
    observed: list[Event],
    ancestry: Mapping[Hashable, Ancestry],
    removed: Hashable,
    other: list[Event],
    same: Callable[[Event], Hashable],
) -> Condition:
    there = {(same(event), event.tick) for event in other}
    broken = tuple(
        e.id for e in observed if removed not in ancestry[e.id].objects and (same(e), e.tick) not in there
    )
    return Condition("C2", not broken, broken)


def _nothing_emerges(
    observed: list[Event], other: list[Event], same: Callable[[Event], Hashable]
) -> Condition:
    known = {same(event) for event in observed}
    emergent = tuple(event.id for event in other if same(event) not in known)
    return Condition("C3", not emergent, emergent)


def _dependent(
    observed: list[Event],
    ancestry: Mapping[Hashable, Ancestry],
    removed: Hashable,
    other: list[Event],
    same: Callable[[Event], Hashable],
) -> Condition:
    there = {same(event) for event in other}
    descends = [event for event in observed if removed in ancestry[event.id].objects]
    broken: list[Hashable] = []
    for event in descends:
        # Where it occurs all the same, blame lies here if no link to the object is left to blame instead.
        links = (
            earlier for earlier in descends if earlier.tick < event.tick and earlier.objects & event.objects
        )
        if same(event) in there and (
            removed in event.objects or not any(same(earlier) in there for earlier in links)
        ):
            broken.append(event.id)
    return Condition("C4", not broken, tuple(broken))
