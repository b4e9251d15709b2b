"""Simulate a changed course of events: some bodies leave their observed paths, the others keep to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from substrate.domains.clevrer.motion.engine import Body, Contact, Motion, simulate

Recorded = Mapping[int, Mapping[int, Body]]
"""Observed bodies, by frame, then by id; between these frames they move freely."""


class Course(Struct, frozen=True):
    """The events after the start.

    ``contacts`` are simulated collisions of pairs that had not met; ``standing`` are observed collisions that
    still happen. Both are in time order. ``departed`` gives the frame from which a body leaves its observed
    path. ``states`` has the simulated bodies at every recorded frame and at the last frame.
    """

    contacts: list[Contact]
    standing: list[Contact]
    departed: dict[int, int]
    states: dict[int, list[Body]]


def course(
    recorded: Recorded,
    seen: Sequence[Contact],
    start: int,
    end: int,
    departing: Iterable[int],
    *,
    last: int | None = None,
    without: Iterable[int] = (),
    advance: Callable[[Sequence[Body], int], Motion] = simulate,
) -> Course:
    """From frame ``start`` on, simulate the bodies that leave their observed paths, and all that they reach.

    A body departs when a departed body touches it, or was observed to touch it: that contact is now missing
    or different. A body that has not departed returns to its observed state at every recorded frame. Its
    collisions with other such bodies are the observed ones. Only a pair's first contact counts, as in an
    annotation.

    Args:
        recorded: the observed bodies; a body first recorded after ``start`` joins there.
        seen: observed collisions.
        start: first frame; a body that was recorded only before it has left the view and is assumed to have
            moved on.
        end: last frame, which is simulated too.
        last: last observed frame, if ``end`` is later; after it every body is simulated.
        departing: the bodies that leave their observed paths at the start.
        without: the bodies that are removed; the bodies that they were observed to touch depart too.
        advance: moves bodies over some frames.

    A ball whose obstacle is gone rolls on and hits a body that it was not seen to hit:

    >>> ball, wall = Body(0, "sphere", 0.0, 0.0, 2.0), Body(1, "cube", 1.0, 0.0)
    >>> post = Body(2, "cylinder", 2.0, 0.0)
    >>> stopped = course({0: {0: ball, 1: wall, 2: post}}, [(11, 0, 1)], 0, 60, [], without=[1])
    >>> stopped.contacts, stopped.departed
    ([(30, 0, 2)], {1: 0, 0: 11, 2: 30})
    """
    gone = set(without)
    departed = dict.fromkeys([*gone, *departing], start)
    met = {(a, b) for frame, a, b in seen if frame <= start}
    outcome = Course([], [], departed, {})
    bodies = {name: body for name, body in _known(recorded, start, advance).items() if name not in gone}
    now = start
    stops = {*recorded, end} if last is None else {*recorded, last, end}
    for stop in sorted(frame for frame in stops if start < frame <= end):
        motion = advance(list(bodies.values()), stop - now)
        happening = [(frame, a, b, False) for frame, a, b in seen if now < frame <= stop]
        happening += [(now + frame, a, b, True) for frame, a, b in motion.contacts]
        for frame, a, b, simulated in sorted(happening):
            reached = a in departed or b in departed
            if reached:
                departed.setdefault(a, frame)
                departed.setdefault(b, frame)
            # A simulated collision counts if a departed body takes part, an observed one if none does.
            if simulated is reached and (a, b) not in met:
                met.add((a, b))
                (outcome.contacts if simulated else outcome.standing).append((frame, a, b))
        bodies = {body.id: body for body in motion.final}
        bodies |= {
            name: body
            for name, body in recorded.get(stop, {}).items()
            if name not in gone and (name not in departed or name not in bodies)
        }
        outcome.states[stop] = [body for name, body in sorted(bodies.items()) if name in departed]
        if stop == last:
            for name in bodies:
                departed.setdefault(name, stop + 1)
        now = stop
    return outcome


def _known(
    recorded: Recorded, frame: int, advance: Callable[[Sequence[Body], int], Motion]
) -> dict[int, Body]:
    """All bodies recorded by a frame, advanced to it from their last records."""
    last = {name: at for at in sorted(recorded) if at <= frame for name in recorded[at]}
    bodies: dict[int, Body] = {}
    now = 0
    for at in sorted({*last.values(), frame}):
        bodies = {body.id: body for body in advance(list(bodies.values()), at - now).final}
        bodies |= {name: recorded[at][name] for name in last if last[name] == at}
        now = at
    return bodies
