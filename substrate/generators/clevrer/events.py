"""The content of a video, read from its annotation: events, causes, visibility and motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import msgspec

from substrate.domains.clevrer.format import MOVING_SPEED, Annotation, Frame

EventType = Literal["in", "out", "collision"]

_DOUBT = 0.001
"""Distance (units/s) from the threshold of moving within which a speed is left out of questions."""
_END = 3
"""Number of last frames that must agree before a question asks about the end.

Tools differ by up to two frames in their definition of the end.
"""


class WorldEvent(msgspec.Struct, frozen=True):
    """An event: its type, its one or two objects (ascending) and its frame."""

    type: EventType
    objects: tuple[int, ...]
    frame: int


def observed_events(annotation: Annotation) -> list[WorldEvent]:
    """Entries, exits and collisions of the video, by frame.

    An entry or exit is a change of visibility after frame 0.
    """
    collisions = [WorldEvent("collision", _sorted(c.object_ids), c.frame_id) for c in annotation.collision]
    flips = [
        WorldEvent("in" if now.inside_camera_view else "out", (now.object_id,), frame.frame_id)
        for before, frame in pairwise(annotation.motion_trajectory)
        for then, now in zip(before.objects, frame.objects, strict=True)
        if then.inside_camera_view != now.inside_camera_view
    ]
    return sorted([*collisions, *flips], key=lambda event: (event.frame, event.type, event.objects))


def _sorted(objects: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(objects))


def causes(events: Sequence[WorldEvent]) -> list[frozenset[int]]:
    """For each event, the places of its causes in ``events``, which are in time order.

    A chain of events with strictly increasing frames links a cause to its effect; neighbours in it share an
    object.

    >>> first, last = WorldEvent("collision", (0, 1), 9), WorldEvent("collision", (1, 2), 20)
    >>> chain = [WorldEvent("in", (0,), 3), first, WorldEvent("out", (2,), 9), last]
    >>> [sorted(places) for places in causes(chain)]
    [[], [0], [], [0, 1, 2]]
    """
    by_effect: list[frozenset[int]] = []
    for effect in events:
        direct = [
            place
            for place, cause in enumerate(events)
            if cause.frame < effect.frame and set(cause.objects) & set(effect.objects)
        ]
        by_effect.append(frozenset(direct).union(*(by_effect[place] for place in direct)))
    return by_effect


@dataclass(eq=False)
class Film:
    """A video's annotation, with everything that questions ask about."""

    annotation: Annotation

    @cached_property
    def events(self) -> list[WorldEvent]:
        """The observed events in time order."""
        return observed_events(self.annotation)

    @cached_property
    def causes(self) -> dict[WorldEvent, list[WorldEvent]]:
        """The causes of each event."""
        return {
            event: [self.events[place] for place in sorted(places)]
            for event, places in zip(self.events, causes(self.events), strict=True)
        }

    def of_type(self, kind: EventType) -> list[WorldEvent]:
        """The events of one type, in time order."""
        return [event for event in self.events if event.type == kind]

    def in_state(self, state: str, frame: int) -> frozenset[int] | None:
        """Objects in view at ``frame`` in a state; ``None`` if a speed is too near the limit of moving."""
        return _split(self.annotation.motion_trajectory[frame])[state]

    def in_state_throughout(self, state: str) -> frozenset[int] | None:
        """Objects that are "moving" in some frame in view, or "stationary" otherwise, even if never in view.

        ``None`` if an object's highest speed is too near the limit of moving.
        """
        return self._throughout[state]

    @cached_property
    def _throughout(self) -> dict[str, frozenset[int] | None]:
        fastest = dict.fromkeys((o.object_id for o in self.annotation.object_property), 0.0)
        for frame in self.annotation.motion_trajectory:
            for name, speed in _speeds(frame).items():
                fastest[name] = max(fastest[name], speed)
        return _by_speed(fastest)

    @cached_property
    def end_is_clear(self) -> bool:
        """Tell whether the last frames agree on which objects are in view and which move."""
        return len({tuple(_split(frame).items()) for frame in self.annotation.motion_trajectory[-_END:]}) == 1


def _speeds(frame: Frame) -> dict[int, float]:
    """Ground speed of the objects in view, from the rounded velocities that a reader sees."""
    return {
        o.object_id: (o.velocity[0] ** 2 + o.velocity[1] ** 2) ** 0.5
        for o in frame.objects
        if o.inside_camera_view
    }


def _by_speed(speeds: dict[int, float]) -> dict[str, frozenset[int] | None]:
    if any(abs(speed - MOVING_SPEED) < _DOUBT for speed in speeds.values()):
        return {"moving": None, "stationary": None}
    moving = frozenset(name for name, speed in speeds.items() if speed > MOVING_SPEED)
    return {"moving": moving, "stationary": frozenset(speeds) - moving}


def _split(frame: Frame) -> dict[str, frozenset[int] | None]:
    return _by_speed(_speeds(frame))
