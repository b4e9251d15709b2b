"""Ancestor duality (paper, section 3.2): the events that do not occur without an object, and how sure.

Proposition 1 says that an observed event ``e`` does not occur without ``X`` exactly if ``X`` is in the
ancestry of ``e``. ``docs/ancestor-duality.md`` proves it, and shows that the printed conditions need two
repairs: AncObj must contain the event's own participants, and the direction from ancestry to prevention
requires that every event depends on a chain of true dependences (C4 here).
Algorithm 2, which adds the partner rule, is in the domain of its benchmark:
``substrate/domains/clevrer/counterfactual.py`` computes the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Literal, NamedTuple

from substrate.cause.ancestry import Event, ancestors, in_order

Status = Literal["proven", "heuristic"]


class Condition(NamedTuple):
    """A condition of Proposition 1 on one log.

    ``holds`` is ``None`` if the given data cannot decide it. ``witnesses`` names the events (for C1: the
    objects) that break the condition, in time order.

    >>> Condition("C1", True, ()).holds
    True
    """

    name: str
    holds: bool | None
    witnesses: tuple[Hashable, ...]


class Conditions(NamedTuple):
    """The conditions of Proposition 1, checked for a log and a removed object.

    C1, closed events: every participant is a declared object. C2, exogeneity: an event that does not descend
    from the object occurs without it at the same tick. C3, no emergence: without the object, only observed
    events happen. C4, dependence: an event that descends from the object, but in which the object takes no
    part, depends on an ancestor that also descends from the object. Without the object, that ancestor does
    not occur, and then the event does not occur either.

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
        """``proven`` if all four conditions were found to hold, else ``heuristic``."""
        return "proven" if all(condition.holds for condition in self) else "heuristic"

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the conditions that were found not to hold."""
        return tuple(condition.name for condition in self if condition.holds is False)


class Verdict(NamedTuple):
    """A verdict by ancestry: whether an observed event occurs without an object, and how sure that is.

    >>> Verdict(occurs=False, status="heuristic").occurs
    False
    """

    occurs: bool
    status: Status


def name_of(event: Event) -> Hashable:
    """An event's own name; the default identity of an event across two worlds.

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
    """Check the conditions of Proposition 1 as far as the arguments allow.

    Args:
        events: the observed log's events.
        removed: the removed object, X.
        declared: the objects that the log declares; without them C1 is undecided. A log cannot show that no
            events exist outside it; if some do, C2 shows their effects.
        without: the events of a second, simulated world without ``removed``; without them C2, C3 and C4 are
            undecided.
        same: gives an event's identity across the two worlds, such as its kind and participants.

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
        """Tell whether an event still occurs although it loses the object or every link to the object."""
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
    """A condition that the witnesses break; ``None`` leaves it undecided."""
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
    """Tell for every observed event whether it occurs without ``removed``.

    Membership in AncObj decides. The verdict is ``proven`` if all conditions of Proposition 1 were found to
    hold, or if the object itself takes part in the event. Otherwise it is ``heuristic``. Arguments as
    :func:`conditions`.

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
