"""Collisions of a world that was not filmed: after the video, or with a different mass or charge.

An emitter sees only the scene. The package ``research`` has one that simulates.
"""

from __future__ import annotations

from collections.abc import Iterable

from substrate.domains.clevrer.kinematics import predict_collisions
from substrate.domains.clevrer.scene import SceneEvent
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.scene import Pair, PropertyChange, TargetScene


class Kinematic:
    """Straight lines into the future, and the duality for a changed object."""

    def future(self, scene: TargetScene, parameters: Parameters) -> list[Pair]:
        """Algorithm 3 on the last frames."""
        kinematics = parameters.predictive.kinematics
        assert kinematics, "ComPhy's parameters refuse S"
        return [frozenset((a, b)) for a, b, _ in predict_collisions(scene.samples, scene.end, kinematics)]

    def changed(self, scene: TargetScene, change: PropertyChange) -> list[Pair]:
        """Keep each observed collision that has no collision of the object among its ancestors."""
        ancestry = scene.ancestry("event")
        own = {
            event.iri
            for event in scene.events
            if event.kind == "Collision" and change.object in event.objects
        }
        return [
            event.objects
            for event in scene.events
            if event.kind == "Collision" and own.isdisjoint(ancestry[event.iri].events)
        ]


def collisions(pairs: Iterable[Pair]) -> list[SceneEvent]:
    """Pairs as possible collisions, sorted, without repeats."""
    return [SceneEvent("Collision", None, pair) for pair in sorted(set(pairs), key=sorted)]
