"""A typed executor of CLEVRER's programs, a peer for benches: the strongest simple one for the same answers.

It decodes no more than it reads, into structs. A set of objects or events is a whole number with a bit for
each, so that a filter is one operation; an object or event is such a set of one. It checks no operand's kind,
keeps no log and gives no reason.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import combinations, pairwise
from operator import or_
from typing import Any

import msgspec

from substrate.domains.clevrer.format import MOVING_SPEED, Collision, ObjectProperty
from substrate.domains.clevrer.kinematics import predict_collisions
from substrate.domains.clevrer.parameters import CONFIGURATIONS
from substrate.domains.clevrer.scene import Pose

_AVERAGED = CONFIGURATIONS["C"].frames
_ORDER = {"first": 0, "second": 1, "last": -1}
_FIRST = 16
"""The bit of the first event; objects have the bits below."""


class _State(msgspec.Struct, gc=False):
    location: msgspec.Raw
    velocity: tuple[float, float, float]
    inside_camera_view: bool


class _Frame(msgspec.Struct, gc=False):
    objects: list[_State]


class _Film(msgspec.Struct, gc=False):
    object_property: list[ObjectProperty]
    motion_trajectory: list[_Frame]
    collision: list[Collision]


_films = msgspec.json.Decoder(_Film)
_place = msgspec.json.Decoder(tuple[float, float, float])


class Executor:
    """A scene set up for programs; frames list the objects by number, as official files do.

    Args:
        annotation: an official annotation's JSON.
    """

    def __init__(self, annotation: bytes) -> None:
        film = _films.decode(annotation)
        self.frames = [frame.objects for frame in film.motion_trajectory]
        self.things = film.object_property
        self.has: dict[str, int] = {}
        for number, thing in enumerate(self.things):
            for word in (thing.color, thing.material, thing.shape):
                self.has[word] = self.has.get(word, 0) | 1 << number
        events = [("start", 0, 0), ("end", len(self.frames) - 1, 0)]
        for number, track in enumerate(zip(*self.frames, strict=True)):
            seen = [state.inside_camera_view for state in track]
            if any(seen) and not all(seen):
                events += [
                    ("in" if now else "out", frame, 1 << number)
                    for frame, (before, now) in enumerate(pairwise(seen), start=1)
                    if before is not now
                ]
        events += [("collision", c.frame_id, _bits(c.object_ids)) for c in film.collision]
        events.sort(key=lambda event: event[1])
        self.observed, self.when = len(events), [frame for _, frame, _ in events]
        events += [("collision", -1, _bits(pair)) for pair in combinations(range(len(self.things)), 2)]
        self.events = events
        self.kinds: dict[str, int] = {}
        self.alike: dict[tuple[str, int], int] = {}
        self.taking = [0] * len(self.things)
        for bit, (kind, _, who) in enumerate(events, start=_FIRST):
            self.kinds[kind] = self.kinds.get(kind, 0) | 1 << bit
            self.alike[kind, who] = self.alike.get((kind, who), 0) | 1 << bit
            for number in _numbers(who):
                self.taking[number] |= 1 << bit
        # The observed events come first, then a possible collision of every pair.
        self.all = ((1 << self.observed) - 1) << _FIRST
        self.pairs = ((1 << len(events)) - (1 << self.observed)) << _FIRST
        self.steps: dict[str, Callable[[list[Any]], Any]] = {
            "objects": lambda stack: (1 << len(self.things)) - 1,
            "events": lambda stack: self.all,
            "unseen_events": lambda stack: self.unseen,
            "all_events": lambda stack: self.pairs,
            "start": lambda stack: self.kinds["start"],
            "end": lambda stack: self.kinds["end"],
            **dict.fromkeys(
                ("filter_color", "filter_material", "filter_shape"),
                lambda stack: self.has.get(stack.pop(), 0) & stack.pop(),
            ),
            "filter_moving": lambda stack: self._moving(stack.pop(), 0) & stack.pop(),
            "filter_stationary": lambda stack: self._moving(stack.pop(), 1) & stack.pop(),
            "filter_in": lambda stack: self._with(stack, "in"),
            "filter_out": lambda stack: self._with(stack, "out"),
            "filter_collision": lambda stack: self._with(stack, "collision"),
            "filter_before": lambda stack: self._until(self._event(stack.pop())[1] - 1) & stack.pop(),
            "filter_after": lambda stack: ~self._until(self._event(stack.pop())[1]) & stack.pop(),
            "filter_order": self._ordered,
            "get_frame": lambda stack: self._event(stack.pop())[1],
            "get_col_partner": lambda stack: _one(stack.pop() ^ self._event(stack.pop())[2]),
            "get_object": lambda stack: _one(self._event(stack.pop())[2]),
            "query_color": lambda stack: self.things[stack.pop().bit_length() - 1].color,
            "query_material": lambda stack: self.things[stack.pop().bit_length() - 1].material,
            "query_shape": lambda stack: self.things[stack.pop().bit_length() - 1].shape,
            "unique": lambda stack: _one(stack.pop()),
            "count": lambda stack: stack.pop().bit_count(),
            "exist": lambda stack: "yes" if stack.pop() else "no",
            "negate": lambda stack: "yes" if stack.pop() == "no" else "no",
            "belong_to": self._belongs,
            "filter_ancestor": lambda stack: self._causes(stack.pop()) & stack.pop(),
            "get_counterfact": self._without,
        }

    def run(self, program: Sequence[str]) -> str:
        """The answer of a program; ``error`` if it cannot run."""
        stack: list[Any] = []
        steps = self.steps
        try:
            for token in program:
                step = steps.get(token)
                stack.append(token if step is None else step(stack))
        except (IndexError, KeyError, TypeError, ValueError):
            return "error"
        return str(stack[-1])

    def _event(self, bit: int) -> tuple[str, int, int]:
        return self.events[bit.bit_length() - 1 - _FIRST]

    def _with(self, stack: list[Any], kind: str) -> int:
        who, events, taking = stack.pop(), stack.pop(), 0
        while who:
            taking |= self.taking[who.bit_length() - 1]
            who ^= 1 << (who.bit_length() - 1)
        return events & self.kinds.get(kind, 0) & taking

    def _until(self, frame: int) -> int:
        return ((1 << bisect_right(self.when, frame)) - 1) << _FIRST

    def _ordered(self, stack: list[Any]) -> int:
        order, events = stack.pop(), stack.pop()
        return 1 << list(_numbers(events))[_ORDER[order]]

    @cached_property
    def _ever(self) -> int:
        return reduce(or_, (self._moving(frame, 0) for frame in range(len(self.frames))))

    def _moving(self, frame: Any, rests: int) -> int:
        """The objects in view that move at a frame; with ``rests`` 1, those that do not."""
        if frame == "null":
            return self._ever ^ -rests  # -1 has every bit, so it turns the set into its complement
        moving = 0
        for number, state in enumerate(self.frames[frame]):
            x, y, _ = state.velocity
            if state.inside_camera_view and (x * x + y * y > MOVING_SPEED**2) ^ rests:
                moving |= 1 << number
        return moving

    def _causes(self, event: int) -> int:
        """The events before one that share an object with it, and those before each of them."""
        causes, wanted = 0, event
        while wanted:
            later = 1 << (wanted.bit_length() - 1)
            _, frame, who = self._event(later)
            wanted ^= later
            shared = reduce(or_, map(self.taking.__getitem__, _numbers(who)), 0)
            more = shared & self._until(frame - 1) & ~causes
            causes |= more
            wanted |= more
        return causes

    def _rests_on(self, event: int) -> int:
        """The objects of an event and of its causes."""
        return reduce(or_, (self.events[bit - _FIRST][2] for bit in _numbers(self._causes(event) | event)))

    def _without(self, stack: list[Any]) -> int:
        """The paper's rule: filmed events that do not depend on the removed object, and partners' collisions.

        Its partners are the objects that it hits.
        """
        removed, events, occurring = stack.pop(), stack.pop(), 0
        hits = self.kinds.get("collision", 0) & self.all & self.taking[removed.bit_length() - 1]
        met = reduce(or_, (self.events[bit - _FIRST][2] for bit in _numbers(hits)), 0)
        for bit in _numbers(events):
            kind, _, who = self.events[bit - _FIRST]
            observed = self.alike[kind, who] & self.all
            if who & removed:
                continue
            if observed:
                occurs = any(not self._rests_on(1 << other) & removed for other in _numbers(observed))
            else:
                occurs = kind == "collision" and not who & ~met
            occurring |= occurs << bit
        return occurring

    def _belongs(self, stack: list[Any]) -> str:
        events, sought = stack.pop(), stack.pop()
        if sought < 1 << _FIRST:
            return "yes" if self.taking[sought.bit_length() - 1] & events else "no"
        kind, _, who = self._event(sought)
        return "yes" if self.alike[kind, who] & events else "no"

    @cached_property
    def unseen(self) -> int:
        """The pairs that meet on straight lines after the video."""
        end = len(self.frames) - 1
        samples = {
            number: [
                (frame, Pose(x, y, 0.0, vx, vy, 0.0))
                for frame, state in enumerate(track, start=end + 1 - _AVERAGED)
                if state.inside_camera_view
                for (x, y, _), (vx, vy, _) in [(_place.decode(state.location), state.velocity)]
            ]
            for number, track in enumerate(zip(*self.frames[-_AVERAGED:], strict=True))
        }
        pairs = predict_collisions({n: s for n, s in samples.items() if s}, end, CONFIGURATIONS["C"])
        return reduce(or_, (self.alike["collision", 1 << a | 1 << b] & self.pairs for a, b, _ in pairs), 0)


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


def _numbers(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def _one(bits: int) -> int:
    if bits.bit_count() != 1:
        raise ValueError(bits)
    return bits
