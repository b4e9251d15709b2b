"""CLEVRER's physics with mass and charge: charged solids push or pull each other at a distance.

The force between two charges is ``STRENGTH * q1 * q2 / r**2`` along the ground, applied in every substep.
Below ``NEAREST`` it is constant, or a touching pair would fly apart. Released masses are 1 and 5, charges -1,
0 and 1. The release's strength is not known; this one moves a light solid visibly at two or three units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from substrate.generators.clevrer import physics
from substrate.generators.clevrer.physics import Body, Run

STRENGTH = 2.0
"""Units³/s² for two unit charges and a light solid."""
NEAREST = 0.6


@dataclass(frozen=True)
class Solid:
    """A body with its hidden properties."""

    body: Body
    mass: int
    charge: int


def pulls(solids: Sequence[Solid]) -> tuple[tuple[int, int, float], ...]:
    """Each pair of charged solids by number, with its force (units³/s²): a positive one pushes apart.

    Motion depends on charges only through these strengths.

    >>> one, other = (Solid(Body(n, "cube", (n, 0.0), 0.0, (0.0, 0.0)), 1, 1 - 2 * n) for n in (0, 1))
    >>> pulls([one, other]), pulls([one])
    (((0, 1, -2.0),), ())
    """
    return tuple(
        (a.body.object_id, b.body.object_id, STRENGTH * a.charge * b.charge)
        for a, b in combinations(solids, 2)
        if a.charge and b.charge
    )


def simulate(solids: Sequence[Solid], frames: int, **options: Any) -> Run:
    """Run CLEVRER's simulation of ``solids``, with its options, under their masses and charges.

    >>> one = Solid(Body(0, "sphere", (0.0, 0.0), 0.0, (0.0, 0.0)), mass=1, charge=1)
    >>> other = Solid(Body(1, "sphere", (-1.0, 0.0), 0.0, (0.0, 0.0)), mass=1, charge=-1)
    >>> [contact.object_ids for contact in simulate([one, other], 60).contacts]
    [(0, 1)]
    """
    import pybullet as bullet

    ordered = sorted(solids, key=lambda solid: solid.body.object_id)

    def forces(client: int, handles: dict[int, int]) -> Callable[[], None] | None:
        for solid in ordered:
            if solid.mass != 1:
                bullet.changeDynamics(
                    handles[solid.body.object_id], -1, mass=solid.mass, physicsClientId=client
                )
        charged = [(handles[a], handles[b], strength) for a, b, strength in pulls(ordered)]

        def push() -> None:
            for a, b, strength in charged:
                _push(client, a, b, strength)

        return push if charged else None

    return physics.simulate([solid.body for solid in ordered], frames, forces=forces, **options)


def _push(client: int, a: int, b: int, strength: float) -> None:
    import pybullet as bullet

    (ax, ay, az), _ = bullet.getBasePositionAndOrientation(a, physicsClientId=client)
    (bx, by, bz), _ = bullet.getBasePositionAndOrientation(b, physicsClientId=client)
    distance = math.hypot(ax - bx, ay - by) or 1.0
    share = strength / (max(distance, NEAREST) ** 2 * distance)
    force = (share * (ax - bx), share * (ay - by), 0.0)
    bullet.applyExternalForce(a, -1, force, (ax, ay, az), bullet.WORLD_FRAME, physicsClientId=client)
    bullet.applyExternalForce(
        b, -1, (-force[0], -force[1], 0.0), (bx, by, bz), bullet.WORLD_FRAME, physicsClientId=client
    )
