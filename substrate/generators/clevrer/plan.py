"""The plan of a scene: its actors, the objects set in motion, and the frame of each first hit.

The official scenes show how they were made: the first three or four objects are actors, numbered in the order
of their design, and up to two more are bystanders that nothing touches. All shares are in :mod:`.measured`.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TypeVar

import msgspec

from substrate.domains.clevrer.format import FRAMES
from substrate.generators.clevrer.measured import MEASURED
from substrate.generators.clevrer.physics import LENGTH

T = TypeVar("T")

BIN = 10
"""Width of the bins of measured frames."""
_LAST = LENGTH - 5
"""The last frame of a planned collision."""


class Actor(msgspec.Struct, frozen=True):
    """An object that takes part in collisions.

    Attributes:
        object_id: its number.
        launched: whether it moves at frame 0; else it rests until it is hit.
        frame: the frame of its first collision; 0 for the first actor, which the second hits.
    """

    object_id: int
    launched: bool
    frame: int

    @property
    def hidden(self) -> bool:
        """Tell whether its first hit is after the video."""
        return self.frame >= FRAMES


class Plan(msgspec.Struct, frozen=True):
    """The actors in the order of their numbers, and the number of bystanders."""

    actors: tuple[Actor, ...]
    bystanders: int

    @property
    def has_hidden_hit(self) -> bool:
        """Tell whether any actor's first hit is after the video."""
        return any(actor.hidden for actor in self.actors)


def draw_plan(rng: Random) -> Plan:
    """Draw a plan with the probabilities of the official scenes.

    >>> plan = draw_plan(Random(0))
    >>> plan.actors[0].launched, len(plan.actors) + plan.bystanders in MEASURED.objects
    (True, True)
    """
    size = draw(rng, MEASURED.objects)
    cast = draw(rng, {cast: share for cast, share in MEASURED.casts.items() if len(cast) == min(size, 4)})
    first = _frame(rng, MEASURED.first)
    frames = [0, first, *(_late(rng, role, number, first) for number, role in enumerate(cast[2:], start=2))]
    return Plan(
        tuple(
            Actor(number, role in "Ll", frame)
            for number, (role, frame) in enumerate(zip(cast, frames, strict=True))
        ),
        size - len(cast),
    )


def draw(rng: Random, shares: Mapping[T, float]) -> T:
    """Draw a key with a probability proportional to its share."""
    return rng.choices(list(shares), list(shares.values()))[0]


def _late(rng: Random, role: str, number: int, first: int) -> int:
    """The frame of the third or fourth actor's first hit: a small letter means after the video."""
    if role.islower():
        return rng.randint(FRAMES, _LAST)
    # Draw again until the hit is within the video.
    gaps = MEASURED.gaps[f"{role}{number}"]
    return next(frame for frame in iter(lambda: first + _frame(rng, gaps), None) if frame < FRAMES)


def _frame(rng: Random, shares: Mapping[int, float]) -> int:
    return draw(rng, shares) + rng.randrange(BIN)
