"""Ancestor duality (paper, section 3.2): what would not have happened without an object, and how sure that
is.

Proposition 1 says that an observed event ``e`` does not occur without ``X`` exactly where ``X`` is in
``e``'s ancestry. ``docs/ancestor-duality.md`` proves it, and shows that the printed conditions need two
repairs: AncObj has to hold the event's own participants, and the direction from ancestry to
prevention needs every event to hang on a chain of true dependences (C4 here).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Literal, NamedTuple

from substrate.cause.ancestry import Event, ancestors, in_order

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
    strangers = None
    if declared is not None:
        known = frozenset(declared)
        strangers = [object_ for event in observed for object_ in sorted(event.objects - known, key=repr)]
    if without is None:
        return Conditions(
            _condition("C1", strangers), *(_condition(name, None) for name in ("C2", "C3", "C4"))
        )
    ancestry, other = ancestors(observed), in_order(without)
    at, occurring = {(same(event), event.tick) for event in other}, {same(event) for event in other}
    known = {same(event) for event in observed}
    descends = [event for event in observed if removed in ancestry[event.id].objects]
    stays = [event for event in observed if removed not in ancestry[event.id].objects]

    def blamed(event: Event) -> bool:
        """Tell whether an event still occurs although it loses the object, or every link to it."""
        links = (e for e in descends if e.tick < event.tick and e.objects & event.objects)
        return same(event) in occurring and (
            removed in event.objects or not any(same(earlier) in occurring for earlier in links)
        )

    return Conditions(
        _condition("C1", strangers),
        _condition("C2", [event.id for event in stays if (same(event), event.tick) not in at]),
        _condition("C3", [event.id for event in other if same(event) not in known]),
        _condition("C4", [event.id for event in descends if blamed(event)]),
    )


def _condition(name: str, witnesses: Iterable[Hashable] | None) -> Condition:
    """A condition that the witnesses break; undecided where they are ``None``."""
    broken = tuple(dict.fromkeys(witnesses or ()))
    return Condition(name, None if witnesses is None else not broken, broken)


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
