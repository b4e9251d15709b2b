"""NS-DR's executor as its paper tells it (Yi et al., CLEVRER, ICLR 2020, section 4): a peer for the benches.

A scene is lists of dictionaries, a program is run on a stack, a token a step, and an event's causes are found
by going back through the events that share an object. What NS-DR has from its networks is given here: the
annotation in place of its perception, and nothing in place of its dynamics, so that no unseen event is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import msgspec

Thing = dict[str, Any]
_MOVING = 0.02
_ORDER = {"first": 0, "second": 1, "last": -1}
_FIELDS = ("color", "material", "shape")


class Executor:
    """A scene set up for programs.

    Args:
        annotation: an official annotation's JSON.
    """

    def __init__(self, annotation: bytes) -> None:
        record = msgspec.json.decode(annotation)
        frames = [
            {state["object_id"]: state for state in frame["objects"]} for frame in record["motion_trajectory"]
        ]
        self.objects: list[Thing] = record["object_property"]
        self.moving: list[dict[int, bool]] = [
            {name: _speed(state) > _MOVING for name, state in frame.items() if state["inside_camera_view"]}
            for frame in frames
        ]
        self.events: list[Thing] = [_event("start", 0, ())]
        for thing in self.objects:
            name = thing["object_id"]
            seen = [frame[name]["inside_camera_view"] for frame in frames]
            for frame in range(1, len(seen)):
                if seen[frame] != seen[frame - 1]:
                    self.events.append(_event("in" if seen[frame] else "out", frame, (name,)))
        self.events += [_event("collision", c["frame_id"], c["object_ids"]) for c in record["collision"]]
        self.events.append(_event("end", len(frames) - 1, ()))
        self.events.sort(key=lambda event: event["frame"])
        self.program: dict[str, Callable[[list[Any]], Any]] = {
            "objects": lambda stack: list(self.objects),
            "events": lambda stack: list(self.events),
            "unseen_events": lambda stack: [],
            "all_events": lambda stack: [
                _event("collision", None, (a["object_id"], b["object_id"]))
                for a, b in combinations(self.objects, 2)
            ],
            "start": lambda stack: self.events[0],
            "end": lambda stack: self.events[-1],
            "filter_moving": lambda stack: self._moves(stack, moving=True),
            "filter_stationary": lambda stack: self._moves(stack, moving=False),
            "get_col_partner": lambda stack: self._thing(_partner(stack)),
            "get_object": lambda stack: self._thing(*stack.pop()["objects"]),
            "filter_ancestor": self._ancestors,
            "get_counterfact": self._without,
            **_STEPS,
        }

    def run(self, program: Sequence[str]) -> str:
        """The answer of a program; ``error`` where it cannot run."""
        stack: list[Any] = []
        try:
            for token in program:
                step = self.program.get(token)
                stack.append(token if step is None else step(stack))
        except (IndexError, KeyError, TypeError, ValueError):
            return "error"
        return str(stack[-1])

    def _moves(self, stack: list[Any], *, moving: bool) -> list[Thing]:
        frame, things = stack.pop(), stack.pop()
        if frame == "null":
            ever = {name for seen in self.moving for name, moves in seen.items() if moves}
            return [thing for thing in things if (thing["object_id"] in ever) is moving]
        return [thing for thing in things if self.moving[frame].get(thing["object_id"]) is moving]

    def _thing(self, name: int) -> Thing:
        return next(thing for thing in self.objects if thing["object_id"] == name)

    def _causes(self, event: Thing) -> list[Thing]:
        """The events before one that share an object with it, and those before each of them."""
        causes: list[Thing] = []
        queue = [event]
        while queue:
            later = queue.pop()
            for earlier in self.events:
                shares = earlier["frame"] < later["frame"] and earlier["objects"] & later["objects"]
                if shares and earlier not in causes:
                    causes.append(earlier)
                    queue.append(earlier)
        return causes

    def _ancestors(self, stack: list[Any]) -> list[Thing]:
        event, events = stack.pop(), stack.pop()
        causes = self._causes(event)
        return [candidate for candidate in events if candidate in causes]

    def _without(self, stack: list[Any]) -> list[Thing]:
        removed, events = stack.pop()["object_id"], stack.pop()
        remaining: list[Thing] = []
        for candidate in events:
            for event in self.events:
                if event["type"] == candidate["type"] and event["objects"] == candidate["objects"]:
                    if all(removed not in cause["objects"] for cause in (event, *self._causes(event))):
                        remaining.append(candidate)
                    break
        return remaining


def _speed(state: Thing) -> float:
    x, y, _ = state["velocity"]
    return (x * x + y * y) ** 0.5


def _event(type_: str, frame: int | None, objects: Sequence[int]) -> Thing:
    return {"type": type_, "frame": frame, "objects": frozenset(objects)}


def _field(name: str) -> Callable[[list[Any]], list[Thing]]:
    def keep(stack: list[Any]) -> list[Thing]:
        value, things = stack.pop(), stack.pop()
        return [thing for thing in things if thing[name] == value]

    return keep


def _asked(name: str) -> Callable[[list[Any]], str]:
    return lambda stack: stack.pop()[name]


def _of_type(type_: str) -> Callable[[list[Any]], list[Thing]]:
    def keep(stack: list[Any]) -> list[Thing]:
        things, events = stack.pop(), stack.pop()
        names = {thing["object_id"] for thing in (things if isinstance(things, list) else [things])}
        return [event for event in events if event["type"] == type_ and names & event["objects"]]

    return keep


def _unique(stack: list[Any]) -> Any:
    (only,) = stack.pop()
    return only


def _before(stack: list[Any]) -> list[Thing]:
    event, events = stack.pop(), stack.pop()
    return [other for other in events if other["frame"] < event["frame"]]


def _after(stack: list[Any]) -> list[Thing]:
    event, events = stack.pop(), stack.pop()
    return [other for other in events if other["frame"] > event["frame"]]


def _ordered(stack: list[Any]) -> Thing:
    order, events = stack.pop(), stack.pop()
    return events[_ORDER[order]]


def _partner(stack: list[Any]) -> Any:
    thing, event = stack.pop(), stack.pop()
    (other,) = event["objects"] - {thing["object_id"]}
    return other


def _belongs(stack: list[Any]) -> str:
    events, sought = stack.pop(), stack.pop()
    if "object_id" in sought:
        return _yes(any(sought["object_id"] in event["objects"] for event in events))
    return _yes(
        any(event["type"] == sought["type"] and event["objects"] == sought["objects"] for event in events)
    )


def _yes(truth: bool) -> str:
    return "yes" if truth else "no"


_STEPS: dict[str, Callable[[list[Any]], Any]] = {
    **{f"filter_{name}": _field(name) for name in _FIELDS},
    **{f"query_{name}": _asked(name) for name in _FIELDS},
    **{f"filter_{type_}": _of_type(type_) for type_ in ("in", "out", "collision")},
    "filter_before": _before,
    "filter_after": _after,
    "filter_order": _ordered,
    "get_frame": lambda stack: stack.pop()["frame"],
    "unique": _unique,
    "count": lambda stack: len(stack.pop()),
    "exist": lambda stack: _yes(bool(stack.pop())),
    "negate": lambda stack: _yes(stack.pop() == "no"),
    "belong_to": _belongs,
}
